"""Watches over the workers of a run, and takes those out of the cluster that have frozen.

Theory of operation. A process that stands still (stopped, swapped out, its machine asleep) keeps its connections, so
nobody is told of it; what stops is its heartbeat. The scheduler acts on that by itself after its setting
``distributed.scheduler.worker-ttl``, five minutes unless somebody has changed it. A run does the same, only sooner: it
lets the scheduler start the worker again, or, where no nanny can do so, let go of it. The scheduler then gives the
calls to other workers, as with any lost worker, and takes no word of the old one any more; should that go on, it finds
itself put out, interrupts its calls and ends. All that waits for an answer of the worker is told that none will come.

Beats are counted in looks and not in seconds: when the scheduler was busy, or the machine of the run was asleep, one
look finds many late, and the next finds them all again.
"""

from __future__ import annotations

import logging
import threading
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from distributed import Client

__all__ = ["WATCH", "Pulse", "Watch", "heartbeats", "known_workers", "take_out", "watched"]

_RESTART: Final = 10.0
"""Seconds that a nanny has to end its worker; after that the scheduler lets go of both."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Watch:
    """How to watch: every ``period`` seconds a look; a worker whose heart did not beat for ``looks`` has frozen.

    As it stands this is half a minute, after which dask takes a machine for dead that does not answer either
    (``distributed.comm.timeouts.tcp``). Of up to ten workers each beats twice a second, of a thousand each in six.
    """

    period: float = 5.0
    looks: int = 6


WATCH: Final = Watch()
"""How a run watches unless it is told otherwise."""


@dataclass(slots=True)
class Pulse:
    """The last heartbeat of each worker, by address, and how many looks have found no other since."""

    looks: int
    beats: dict[str, float] = field(default_factory=dict)
    missed: dict[str, int] = field(default_factory=dict)

    def look(self, beats: Mapping[str, float]) -> Sequence[str]:
        """Take what the scheduler knows now, and return who has frozen."""
        self.missed = {who: self.missed.get(who, 0) + 1 if self.beats.get(who) == beats[who] else 0 for who in beats}
        self.beats = dict(beats)
        return [who for who, missed in self.missed.items() if missed >= self.looks]


@contextmanager
def watched(client: Client, watch: Watch) -> Iterator[None]:
    """Watch over the workers of a cluster for a while."""
    over = threading.Event()
    threading.Thread(target=_look_after, args=(client, watch, over), name="watch", daemon=True).start()
    try:
        yield
    finally:
        over.set()  # not waited for: what it asks the scheduler at this moment ends with the client


def _look_after(client: Client, watch: Watch, over: threading.Event) -> None:
    pulse = Pulse(watch.looks)
    while not over.wait(watch.period):
        try:
            if frozen := pulse.look(heartbeats(client)):
                take_out(client, frozen, f"for its heart did not beat for {watch.looks * watch.period:g} s")
        except (OSError, TimeoutError, RuntimeError, CancelledError) as error:
            # The scheduler has gone, or the run is over: the one is told by the futures of its calls, the other not.
            _log.debug("cannot look after the workers: %s", error)


def known_workers(client: Client) -> Mapping[str, Mapping[str, Any]]:  # Any: as dask describes a worker
    """Return what the scheduler knows of each worker, by address.

    This is asked of the scheduler itself. ``Client.scheduler_info`` also asks, but may return what the client has asked
    for its own ends at the same moment, which has no workers in it.

    Raises:
        OSError: if the scheduler does not answer.
    """
    if (scheduler := client.scheduler) is None:
        raise ConnectionError("the client is closed")
    workers: Mapping[str, Mapping[str, Any]] = client.sync(scheduler.identity, n_workers=-1)["workers"]
    return workers


def heartbeats(client: Client) -> Mapping[str, float]:
    """Return when each worker, by address, was last heard, on the clock of the scheduler.

    Raises:
        OSError: if the scheduler does not answer.
    """
    return {address: worker["last_seen"] for address, worker in known_workers(client).items()}


def take_out(client: Client, workers: Sequence[str], why: str) -> None:
    """Let the scheduler start workers again, or let go of those that nobody can start again.

    If the scheduler does not answer, nothing is done: what its workers make is lost with it.
    """
    if (scheduler := client.scheduler) is None:
        return  # closed: nothing is to be made any more
    try:
        done = client.sync(
            scheduler.restart_workers,
            workers=list(workers),
            wait_for_workers=False,
            on_error="return",
            timeout=_RESTART,
            stimulus_id=f"voiceharness-{uuid4().hex}",
        )
    except OSError as error:
        _log.warning("cannot take dask workers out of the cluster, %s: %s", why, error)
    else:
        for worker, how in done.items():
            told = "started again" if how == "OK" else "let go of"
            _log.warning("dask worker %s was %s, %s", worker, told, why)
