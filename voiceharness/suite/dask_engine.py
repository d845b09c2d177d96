"""A suite on a dask cluster, as the process sees it that wants the calls made.

Theory of operation. All calls are handed to the scheduler at once; it gives them to workers, as many at a time as these
have threads, and those that take resources only where these are free. The driver waits for what workers tell, as events
on the scheduler, and for tasks to end. A call that was begun and has to be begun again was lost with its worker. The
scheduler does so by itself, until it blames the task (``distributed.scheduler.allowed-failures``); but it also blames
tasks that only waited on a lost worker. The driver knows which calls were begun, so it orders the innocent again.

A worker that has frozen is taken out of the cluster, see :mod:`.dask_watch`, and so is one whose heart beats and which
says nothing of a call for longer than it may take: by then the worker itself should have ended it. Both are lost
workers then, and only what comes from the next one is a result.

Sound files are results of tasks themselves, one for each content: the scheduler has them, workers fetch them from it or
from each other, and a content that is lost with a worker is there again when it is needed.

``told``           is a call begun, is a step done: it is told on
``ended``, well    its evidence is put in place; if it was begun more than once, its result says so
``ended``, killed  ordered again, unless it was begun on more lost workers than the scheduler allows
``ended``, else    a harness fault
``quiet``          for a while, and no call goes on: calls for which there is no worker any more are harness faults
``overdue``        a call is: its worker is taken out of the cluster
"""

from __future__ import annotations

import logging
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.metadata import version
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from voiceharness.clock import stopwatch
from voiceharness.errors import AudioError, OptionError, RunInterruptedError, WorkerError
from voiceharness.report.artefacts import PAGE, add_facts, place_call
from voiceharness.report.html.call_page import write_call_page
from voiceharness.report.html.suite_page import SUITE_PAGE
from voiceharness.report.remarks import LOST_WORKERS, WORKER
from voiceharness.suite.dask_cluster import (
    check_workers,
    connected,
    nobody_for,
    offered,
    scheduler_address,
)
from voiceharness.suite.dask_watch import WATCH, Watch, take_out, watched
from voiceharness.suite.dask_worker import (
    TOPIC,
    Content,
    Order,
    Returned,
    content_key,
    hold,
    interrupt_calls,
    make_ordered_call,
)
from voiceharness.suite.job import STOPPED, pickled, save_result
from voiceharness.suite.ledger import Ledger
from voiceharness.suite.parcel import unpacked
from voiceharness.suite.sounds import LARGEST, Sounds, read_sounds
from voiceharness.suite.worker import LAST_WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from distributed import Client, Future

    from voiceharness.measure.metrics import Json
    from voiceharness.report.suite import SuiteCall
    from voiceharness.suite.crew import Listener
    from voiceharness.suite.job import Job

__all__ = ["ANSWER", "ARRIVAL", "CONNECT", "GRACE", "DaskEngine"]

ARRIVAL: Final = 10.0
"""Seconds in which a worker must come to a cluster that has none, or none for the calls that are left."""

CONNECT: Final = 10.0
"""Seconds in which a scheduler must answer."""

ANSWER: Final = 10.0
"""Seconds in which a worker must answer what it is asked before the first call."""

GRACE: Final = 60.0
"""Seconds that a worker has to end a call that has said nothing for too long, and to pack its evidence."""

_TELL: Final = 2.0
"""Seconds in which workers are told to interrupt their calls; one that has frozen does not take it."""

_LAST_WORDS: Final = LAST_WORDS + 5.0
"""Seconds that a worker has to return what an interrupted call had come to; its process has a little less."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DaskEngine:
    """Makes calls on the workers of the cluster whose scheduler is at ``address``."""

    address: str
    fresh: bool
    patience: float
    arrival: float = ARRIVAL
    connect: float = CONNECT
    answer: float = ANSWER
    grace: float = GRACE
    watch: Watch = WATCH

    @classmethod
    def at(cls, url: str, *, fresh: bool, patience: float) -> DaskEngine:
        """Return the engine that a URL names.

        Raises:
            OptionError: if it is not that of a scheduler.
        """
        return cls(scheduler_address(url), fresh, patience)

    def make_calls(self, jobs: Sequence[Job], listener: Listener) -> None:
        """Make all calls, as :class:`voiceharness.suite.engine.Engine` wants it."""
        sent = [replace(job, agent=_agent_name(job), sounds={}) for job in jobs]  # those travel by themselves
        sounds, run = read_sounds(jobs), uuid4().hex
        orders = [self._order(run, number, job, sounds) for number, job in enumerate(sent)]
        with connected(self.address, timeout=self.connect) as client:
            check_workers(client, sent, arrival=self.arrival, answer=self.answer)
            listener.on_begin()
            with watched(client, self.watch):
                _Run(client, self, jobs, orders, sounds.contents, listener).make_calls()

    def _order(self, run: str, number: int, job: Job, sounds: Sounds) -> Order:
        named = sounds.named[number]
        return Order(run, number, 0, version("voiceharness"), self.fresh, self.patience, pickled(job), named)

    def limit(self, job: Job) -> float:
        """Return for how long, in seconds, a call may say nothing until its worker is given up."""
        return job.scenario.connect_timeout + job.scenario.max_duration + self.patience + self.grace


@dataclass(frozen=True, slots=True)
class _Begun:
    """A worker has begun a call."""

    number: int
    worker: str


@dataclass(frozen=True, slots=True)
class _Stepped:
    """A call has done a step."""

    number: int
    label: str


@dataclass(frozen=True, slots=True)
class _Ended:
    """A call's task has ended, somehow."""

    number: int


class _Run:
    """The calls of a run: ``futures`` of those that go on, and ``begun``, the workers that each was begun on.

    ``contents`` are those of sound files, and ``sounds`` their futures. ``quiet`` tells for how long a call that was
    begun has said nothing, in seconds.
    """

    def __init__(
        self,
        client: Client,
        engine: DaskEngine,
        jobs: Sequence[Job],
        orders: Sequence[Order],
        contents: Mapping[str, bytes],
        listener: Listener,
    ) -> None:
        self._client = client
        self._engine = engine
        self._jobs = jobs
        self._orders = list(orders)
        self._listener = listener
        self._contents = contents
        self._ledger = Ledger(listener.on_call)
        self._begun: list[list[str]] = [[] for _ in jobs]
        self._futures: dict[int, Future[Returned]] = {}
        self._sounds: dict[str, Future[Content]] = {}
        self._quiet: dict[int, Callable[[], float]] = {}
        self._news: SimpleQueue[_Begun | _Stepped | _Ended] = SimpleQueue()

    def make_calls(self) -> None:
        """Make all calls; if this ends early, interrupt those that go on, and tell of what they had come to."""
        self._client.subscribe_topic(TOPIC, self._hear)
        try:
            for order in self._orders:
                self._send(order)
            while self._futures:
                self._listen(self._engine.arrival)
                self._ledger.tell()
                self._take_out_overdue()
        except BaseException:
            self._hear_last_words()
            self._ledger.tell_rest()
            raise

    def _send(self, order: Order) -> None:
        future = self._client.submit(
            make_ordered_call,
            order,
            {digest: self._sound(digest) for digest in order.sounds.values()},
            key=order.key,
            pure=False,
            resources=dict(self._jobs[order.number].resources) or None,
        )
        self._futures[order.number] = future
        future.add_done_callback(lambda _future: self._news.put(_Ended(order.number)))

    def _sound(self, digest: str) -> Future[Content]:
        """Return the content of a sound file as the cluster has it; it is sent there once."""
        import dask

        if (there := self._sounds.get(digest)) is not None and there.status != "error":
            return there
        # Dask blames it for workers that were lost while it waited there, and keeps that in mind by its name.
        key = content_key(self._orders[0].run, digest)
        # What dask warns of, a large task, is one in which data come again and again; here they come once.
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": 2 * LARGEST}):
            self._sounds[digest] = self._client.submit(hold, Content(self._contents[digest]), key=key, pure=False)
        return self._sounds[digest]

    def _hear(self, event: tuple[object, Mapping[str, Any]]) -> None:  # Any: what a worker tells
        """Take an event of the topic, in the client's thread."""
        _, told = event
        if told["run"] != self._orders[0].run:
            return
        if "begun_on" in told:
            self._begun[told["number"]].append(told["begun_on"])  # at once: a call's end is judged by it
            self._news.put(_Begun(told["number"], told["begun_on"]))
        else:
            self._news.put(_Stepped(told["number"], told["step"]))

    def _listen(self, timeout: float) -> None:
        """Wait for news and take it; if there is none, see whether there can be any."""
        try:
            news = self._news.get(timeout=max(0.0, timeout))
        except Empty:
            self._give_up_hopeless()
            return
        match news:
            case _Begun(number, worker):
                self._note(number)
                if self._begun[number][0] == worker:
                    self._listener.on_start(self._jobs[number])
            case _Stepped(number, label):
                self._note(number)
                self._listener.on_step(self._jobs[number], label)
            case _Ended(number):
                self._end(number)

    def _note(self, number: int) -> None:
        if number in self._futures:  # what is told of a call may come after its end
            self._quiet[number] = stopwatch()

    def _end(self, number: int) -> None:
        """Take the end of a task."""
        self._quiet.pop(number, None)
        if (future := self._futures.pop(number, None)) is None:
            return  # cancelled from here
        try:
            self._bring_home(number, future)
        except KeyboardInterrupt:  # on the way: the call is among those whose last words are heard
            self._futures[number] = future
            self._news.put(_Ended(number))
            raise
        finally:
            if self._futures.get(number) is not future:
                future.release()

    def _bring_home(self, number: int, future: Future[Returned]) -> None:
        from distributed import KilledWorker

        try:
            returned = future.result()
            files = unpacked(returned.evidence)
        except KilledWorker as error:
            self._order_again(number, error.allowed_failures)
        except WorkerError as error:
            self._give_up(number, error)
        except CancelledError as error:
            self._give_up(number, WorkerError(f"the dask cluster let go of this call: {error}"))
        except Exception as error:  # supervision point: one broken task must not take the others with it
            _log.exception("the task of scenario %r broke", self._jobs[number].scenario.name)
            broken = WorkerError(f"{self._last_worker(number) or 'a worker'} could not make this call: {error}")
            broken.__cause__ = error
            self._give_up(number, broken)
        else:
            self._keep(number, returned, files)

    def _keep(self, number: int, returned: Returned, files: Mapping[str, bytes]) -> None:
        """Put a call's evidence in place, with what there is to say about where it was made."""
        job = self._jobs[number]
        facts: dict[str, Json] = {}
        if (lost := len(self._begun[number]) - 1) > 0:
            facts[LOST_WORKERS] = lost
        if returned.call["call"]["error"] is not None:
            facts[WORKER] = returned.worker
        call: SuiteCall = {**returned.call, "folder": str(job.folder)}
        try:
            place_call(files, job.folder)
            if facts:
                call["call"] = add_facts(job.folder, facts)
                if (job.folder / PAGE).exists():
                    write_call_page(job.folder, suite_page=f"../{SUITE_PAGE}")
        except (OptionError, AudioError) as error:  # the verdict is not to be lost with the evidence
            call["unsaved"] = str(error)
        self._ledger.enter(number, call)

    def _order_again(self, number: int, allowed: int) -> None:
        """Order a call again that dask gave up, unless it was really begun on more lost workers than it allows."""
        lost = self._begun[number]
        if len(lost) > allowed:
            said = f"the worker that made this call was lost, {len(lost)} times; the last was {lost[-1]}: see its log"
            self._give_up(number, WorkerError(said))
            return
        self._orders[number] = replace(self._orders[number], attempt=self._orders[number].attempt + 1)
        self._send(self._orders[number])

    def _give_up(self, number: int, error: WorkerError | RunInterruptedError) -> None:
        job = self._jobs[number]
        self._ledger.enter(number, save_result(job, job.broken(error)))

    def _give_up_hopeless(self) -> None:
        """Give calls up for which all workers have gone that could make them."""
        try:
            offers = offered(self._client)
        except OSError:
            return  # the scheduler has gone, and the futures of all calls tell
        for number in list(self._futures):
            goes_on = self._last_worker(number) in offers
            if not goes_on and (lacking := nobody_for(self._jobs[number], offers)):
                self._client.cancel([self._futures.pop(number)], force=True)
                self._give_up(number, WorkerError(f"this call needs {lacking}"))

    def _take_out_overdue(self) -> None:
        """Take out of the cluster whoever has said nothing of a call for longer than it may take."""
        if not self._news.empty():
            return  # what was said is heard first
        for number, quiet in list(self._quiet.items()):
            if quiet() > self._engine.limit(self._jobs[number]):
                del self._quiet[number]
                why = f"for it said nothing of the call of {self._jobs[number].scenario.name!r} for {quiet():.0f} s"
                take_out(self._client, self._begun[number][-1:], why)

    def _last_worker(self, number: int) -> str | None:
        return self._begun[number][-1] if self._begun[number] else None

    def _hear_last_words(self) -> None:
        """Let go of the calls that wait, interrupt those that go on, and take what they had come to."""
        waiting = [self._futures.pop(number) for number in list(self._futures) if not self._begun[number]]
        self._client.cancel(waiting, force=True)
        with suppress(TimeoutError):
            self._client.run(interrupt_calls, self._orders[0].run, on_error="ignore", callback_timeout=_TELL)
        since = stopwatch()
        while self._futures and since() < _LAST_WORDS:
            self._listen(_LAST_WORDS - since())
        for number, future in list(self._futures.items()):
            future.cancel(force=True)
            late = f"its worker did not stop it within {_LAST_WORDS:g} s"
            self._give_up(number, RunInterruptedError(f"{STOPPED}; {late}"))
        self._futures.clear()


def _agent_name(job: Job) -> str | None:
    """Return the agent of a job as ``package.module:name``, for a process that has nothing of this one.

    Raises:
        OptionError: if it has no such name.
    """
    agent = job.agent
    if agent is None or isinstance(agent, str):
        return agent
    module, name = str(getattr(agent, "__module__", "")), str(getattr(agent, "__qualname__", ""))
    if module in ("", "__main__") or not name.isidentifier():
        raise OptionError(
            f"scenario {job.scenario.name!r}: other machines cannot find the agent {name or agent!r}; put it at the "
            "top of a module that is installed there, and name it as package.module:name"
        )
    return f"{module}:{name}"
