"""Calls as they are made on a worker of a dask cluster.

Theory of operation. A call is a task, and a task has a thread of the worker. The call itself needs a process of its
own: it brings an event loop and signals along, and an agent that kills its process shall not take the worker with it.
So the thread leads a crew of one. Its process stays for the next call of the same run, and leaves when the worker has
no more tasks of that run: because all were made, or because whoever wanted them is gone.

Evidence is written into a folder of the worker's scratch space, packed, returned, and deleted. The sound files of a
scenario come with the call, and are never written here.

``executing``, key released
    The driver has cancelled the call, or has died: the call is interrupted.
``forgotten``, the last of its run
    The processes of the run leave.
"""

from __future__ import annotations

import multiprocessing
import pickle
import threading
from collections import defaultdict, deque
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from voiceharness.errors import WorkerError
from voiceharness.suite.crew import Crew, Hand, Listener, Task
from voiceharness.suite.job import Job, pickled
from voiceharness.suite.parcel import packed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from multiprocessing.connection import Connection

    from distributed import Worker, WorkerPlugin

    from voiceharness.report.suite import SuiteCall

__all__ = [
    "TOPIC",
    "Content",
    "Desk",
    "Order",
    "Returned",
    "content_key",
    "hold",
    "interrupt_calls",
    "make_ordered_call",
]

TOPIC: Final = "voiceharness"
"""What a worker tells while it makes a call goes to the driver as events of this topic."""

_SPEECH: Final = "voiceharness-speech"


@dataclass(frozen=True, slots=True)
class Order:
    """A call that a worker is to make: the job as bytes, so that no log of the cluster can show what is in it.

    ``run`` is the same for all calls of a run, ``number`` that of the job; ``attempt`` counts how often it was ordered.
    ``release``: the voiceharness that orders. ``sounds``: for the names of the job's sound files, the digests by which
    their contents go.
    """

    run: str
    number: int
    attempt: int
    release: str
    fresh: bool
    patience: float
    job: bytes = field(repr=False)
    sounds: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def key(self) -> str:
        """The name of the task."""
        return f"{_prefix(self.run)}{self.number}-{self.attempt}"


@dataclass(frozen=True, slots=True)
class Returned:
    """A call that was made on ``worker``, and its evidence as a parcel."""

    worker: str
    call: SuiteCall = field(repr=False)
    evidence: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Content:
    """What is in a sound file."""

    data: bytes = field(repr=False)


def content_key(run: str, digest: str) -> str:
    """Return a new name for the task that holds a content for a run."""
    return f"{_prefix(run)}sound-{digest}-{uuid4().hex}"


def hold(content: Content) -> Content:
    """Give what was given. As the result of a task, it is on the cluster once, and calls can depend on it."""
    return content


def make_ordered_call(order: Order, contents: Mapping[str, Content]) -> Returned:
    """Make a call in a process of its own, whatever becomes of it. This is the task; it needs the worker's thread.

    ``contents`` are those of the job's sound files, by their digests.

    Raises:
        WorkerError: if this worker has another voiceharness, or the evidence cannot be kept, or is too large to travel.
    """
    from distributed import get_worker

    worker = get_worker()
    if (here := version("voiceharness")) != order.release:
        raise WorkerError(f"worker {worker.address} has voiceharness {here}, and was asked by {order.release}")
    try:
        return _made(order, contents, worker)
    except OSError as error:
        raise WorkerError(f"worker {worker.address} cannot keep the evidence of a call: {error}") from error


def _made(order: Order, contents: Mapping[str, Content], worker: Worker) -> Returned:
    job: Job = pickle.loads(order.job)
    with TemporaryDirectory(prefix="voiceharness-", dir=worker.local_directory) as room:
        cache = None if job.cache is None else Path(worker.local_directory).parent / _SPEECH
        sounds = {name: contents[digest].data for name, digest in order.sounds.items()}
        job = replace(job, folder=Path(room) / "call", cache=cache, sounds=sounds)
        made: list[SuiteCall] = []
        key = str(worker.get_current_task())
        _desk(worker).make_call(key, order, job, _listener(worker, order, made.append))
        return Returned(worker.address, made[0], packed(job.folder))


def interrupt_calls(run: str, dask_worker: Worker) -> None:
    """Interrupt the calls of a run that a worker makes; each returns what it has come to. Runs in the worker's loop."""
    clerk: Any = dask_worker.plugins.get(TOPIC)  # Any: its class is made at run time
    if clerk is not None:
        clerk.desk.interrupt(_prefix(run))


def _listener(worker: Worker, order: Order, keep: Callable[[SuiteCall], None]) -> Listener:
    """Make what tells the driver of a call while it goes on."""
    about = {"run": order.run, "number": order.number}
    return Listener(
        lambda _job: worker.log_event(TOPIC, {**about, "begun_on": worker.address}),
        lambda _job, label: worker.log_event(TOPIC, {**about, "step": label}),
        keep,
    )


@dataclass(slots=True)
class Desk:
    """The calls that a worker makes, by the keys of their tasks, and the idle processes of each run.

    Threads make calls; the worker's event loop interrupts them and lets processes go.
    """

    calls: dict[str, Connection] = field(default_factory=dict)
    idle: defaultdict[str, list[Hand]] = field(default_factory=lambda: defaultdict(list))
    lock: threading.Lock = field(default_factory=threading.Lock)

    def make_call(self, key: str, order: Order, job: Job, listener: Listener) -> None:
        """Make a call in an idle process of its run, or a new one; the listener gets it even if it is interrupted."""
        stop, ours = multiprocessing.Pipe(duplex=False)
        crew = Crew(1, order.fresh, order.patience, listener, deque([Task(0, job, pickled(job))]), stop=stop)
        with self.lock:
            self.calls[key] = ours
            crew.workers = [self.idle[order.run].pop()] if self.idle[order.run] else []
        try:
            with suppress(KeyboardInterrupt):
                crew.make_calls()
        finally:
            self._go_on(key, order.run, crew)
            stop.close()

    def _go_on(self, key: str, run: str, crew: Crew) -> None:
        """Keep the process of a call that has ended, unless it was interrupted: then it will make no other."""
        with self.lock:
            interrupted = self.calls[key].closed
            self.calls.pop(key).close()
            if not interrupted:
                self.idle[run] += crew.workers
        if interrupted:
            _see_off(crew.workers)

    def interrupt(self, prefix: str) -> None:
        """Interrupt calls, by what the keys of their tasks begin with."""
        with self.lock:
            for key, stop in self.calls.items():
                if key.startswith(prefix):
                    stop.close()

    def dismiss(self, run: str | None = None) -> None:
        """Let the idle processes of a run, or of all runs, go; does not wait for them."""
        with self.lock:
            runs = list(self.idle) if run is None else [run]
            hands = [hand for each in runs for hand in self.idle.pop(each, ())]
        if hands:
            threading.Thread(target=_see_off, args=(hands,), name="seeing processes off").start()


def _see_off(hands: Iterable[Hand]) -> None:
    for hand in hands:
        hand.end(patient=True)


def _prefix(run: str) -> str:
    return f"{TOPIC}-{run}-"


def _desk(worker: Worker) -> Desk:
    """Return the worker's desk, from the thread of a task."""
    from distributed.utils import sync

    desk: Desk = sync(worker.loop, _furnished, worker)
    return desk


async def _furnished(worker: Worker) -> Desk:
    if TOPIC not in worker.plugins:
        # A worker that has a nanny is a daemon, and those may have no children, lest they be orphaned. Ours notice.
        multiprocessing.current_process().daemon = False
        await worker.plugin_add(_clerk(), name=TOPIC)
    clerk: Any = worker.plugins[TOPIC]  # Any: its class is made at run time
    desk: Desk = clerk.desk
    return desk


def _clerk() -> WorkerPlugin:
    """Make what tells a desk of the fate of tasks."""
    from distributed import WorkerPlugin

    class Clerk(WorkerPlugin):
        def __init__(self) -> None:
            self.desk = Desk()

        def setup(self, worker: Worker) -> None:
            self.worker = worker

        def transition(self, key: object, start: str, finish: str, **_kwargs: object) -> None:
            name = str(key)
            if not name.startswith(f"{TOPIC}-"):
                return
            run = name.split("-")[1]
            if (start, finish) == ("executing", "released"):
                self.desk.interrupt(name)
            elif finish == "forgotten" and not _others(self.worker, name, _prefix(run)):
                self.desk.dismiss(run)

        def teardown(self, worker: Worker) -> None:
            self.desk.interrupt(f"{TOPIC}-")
            self.desk.dismiss()

    return Clerk()


def _others(worker: Worker, name: str, prefix: str) -> bool:
    return any(str(key).startswith(prefix) and str(key) != name for key in worker.state.tasks)
