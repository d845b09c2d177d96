"""The processes of a run that goes side by side, as their parent sees them.

Theory of operation. Each worker makes one call at a time, and gets the next job when it has told of the last. The
parent only waits, for words on the pipes and for the ends of processes, and hands results on in the order of the jobs,
whatever the order in which they come. A worker that dies or falls silent takes only its own call along: that becomes a
harness fault, and a new worker goes on with the rest.

Workers come cheap, from a server process that has loaded the harness once, and nothing of the user's.
"""

from __future__ import annotations

import multiprocessing
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, Final

from voiceharness.clock import stopwatch
from voiceharness.errors import RunInterruptedError, WorkerError
from voiceharness.suite.job import STOPPED, save_result
from voiceharness.suite.ledger import Ledger
from voiceharness.suite.worker import LAST_WORDS, STOP, work

if TYPE_CHECKING:
    from collections import deque
    from collections.abc import Callable
    from multiprocessing.connection import Connection
    from multiprocessing.context import BaseContext
    from multiprocessing.process import BaseProcess

    from voiceharness.report.suite import SuiteCall
    from voiceharness.suite.job import Job

__all__ = ["Crew", "Hand", "Listener", "Task"]

_LEAVE: Final = 1.0
"""Seconds in which a process ends by itself when it is not needed any more."""


@dataclass(frozen=True, slots=True)
class Listener:
    """Who wants to know of a run."""

    on_start: Callable[[Job], None]
    on_step: Callable[[Job, str], None]
    on_call: Callable[[SuiteCall], None]
    on_begin: Callable[[], None] = lambda: None


@dataclass(frozen=True, slots=True)
class Task:
    """A job by its number, and as it is sent to a worker."""

    number: int
    job: Job
    pickled: bytes

    @property
    def limit(self) -> float:
        """Seconds in which the call ends by the scenario's own limits."""
        return self.job.scenario.connect_timeout + self.job.scenario.max_duration


class Hand:
    """A worker's process, with the task that it has. ``quiet`` tells how long it has said nothing, in seconds."""

    def __init__(self, context: BaseContext) -> None:
        self.leash, theirs = context.Pipe()
        self.process: BaseProcess = context.Process(target=work, args=(theirs,), name="calls")  # type: ignore[attr-defined] # every context has it
        self.process.start()
        theirs.close()  # the worker's end is its alone, so the pipe closes when it ends
        self.task: Task | None = None
        self.quiet = stopwatch()

    @property
    def sources(self) -> tuple[Connection | int, ...]:
        """What becomes ready when it says something, or ends."""
        return self.leash, self.process.sentinel

    def begin(self, task: Task) -> None:
        """Give it something to do."""
        self.task, self.quiet = task, stopwatch()
        with suppress(OSError):  # it has died; its sentinel tells
            self.leash.send_bytes(task.pickled)

    def stop(self) -> None:
        """Let it interrupt its call, save what there is, and end."""
        with suppress(OSError):
            self.leash.send_bytes(STOP)

    def read(self, on_step: Callable[[Job, str], None]) -> SuiteCall | None:
        """Take what it has said: steps that were done, and in the end the call; None if that is still to come.

        The leash is closed once it can say no more.
        """
        try:
            while self.task is not None and self.leash.poll():
                self.quiet = stopwatch()
                said: Any = self.leash.recv()  # Any: a step's label, or the description of the call
                if not isinstance(said, str):
                    call: SuiteCall = said
                    return call
                on_step(self.task.job, said)
        except (EOFError, OSError):
            self.leash.close()
        return None

    def end(self, *, patient: bool = False) -> int | None:
        """See the process off, and return its exit code; if ``patient``, it may end by itself."""
        self.stop()
        self.process.join(_LEAVE if patient else 0)
        code = self.process.exitcode
        self.process.kill()  # what the agent under test has left running must not keep it
        self.process.join()
        self.leash.close()
        return code


@dataclass(slots=True)
class Crew:
    """The workers of a run, at most ``size``; with ``fresh``, each makes one call only.

    A crew may be given ``workers`` that are there already. When ``stop`` has something to read, or its other end is
    closed, that interrupts the run as a KeyboardInterrupt does.
    """

    size: int
    fresh: bool
    patience: float
    listener: Listener
    waiting: deque[Task]
    workers: list[Hand] = field(default_factory=list)
    stop: Connection | None = None
    stopping: bool = field(default=False, init=False)
    ledger: Ledger = field(init=False)
    context: BaseContext = field(init=False)

    def __post_init__(self) -> None:
        self.ledger = Ledger(self.listener.on_call)
        methods = multiprocessing.get_all_start_methods()
        self.context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
        self.context.set_forkserver_preload([work.__module__])

    def run(self) -> None:
        """Make all calls, and see the workers off."""
        try:
            self.make_calls()
        finally:
            for worker in self.workers:
                worker.end(patient=worker.task is None)

    def make_calls(self) -> None:
        """Make all calls; if this ends early, interrupt those that go on, and tell of what they had come to."""
        try:
            while self.waiting or self._busy:
                self._employ()
                self._listen(min(self._patience_left(worker) for worker in self._busy))
                self._end_silent()
                self.ledger.tell()
        except BaseException:
            self._hear_last_words()
            self.ledger.tell_rest()
            raise

    @property
    def _busy(self) -> list[Hand]:
        return [worker for worker in self.workers if worker.task is not None]

    def _employ(self) -> None:
        """Give every worker something to do, and hire as many as there may be."""
        idle = [worker for worker in self.workers if worker.task is None]
        while self.waiting and (idle or len(self.workers) < self.size):
            worker = idle.pop() if idle else Hand(self.context)
            if worker not in self.workers:
                self.workers.append(worker)
            task = self.waiting.popleft()
            self.listener.on_start(task.job)
            worker.begin(task)

    def _listen(self, timeout: float) -> None:
        """Wait until a worker says something or ends, and take it."""
        stop = [] if self.stop is None else [self.stop]
        ready = wait([*stop, *(source for worker in self._busy for source in worker.sources)], max(0.0, timeout))
        for worker in self._busy:
            if any(source in ready for source in worker.sources):
                self._take(worker)
        if self.stop in ready:
            self.stop = None  # once is enough: what comes now are last words
            raise KeyboardInterrupt

    def _take(self, worker: Hand) -> None:
        died = worker.process.exitcode is not None  # asked first: what it said before is still to be read
        call = worker.read(self.listener.on_step)
        if call is not None:
            self._finish(worker, call, gone=died or self.fresh)
        elif died or worker.leash.closed:
            code = worker.end(patient=True)
            how = f"ended by signal {-code}" if code is not None and code < 0 else f"ended with code {code}"
            why = f"{how} before the call was over; see what it wrote to the console"
            stopped = RunInterruptedError(f"{STOPPED}; its process {how}")
            self._give_up(worker, stopped if self.stopping else WorkerError(f"the process of this call {why}"))

    def _end_silent(self) -> None:
        for worker in self._busy:
            if self._patience_left(worker) < 0:
                why = f"said nothing for {worker.quiet():.1f} s; it was ended"
                self._give_up(worker, WorkerError(f"the process of this call {why}"))

    def _patience_left(self, worker: Hand) -> float:
        limit = 0.0 if worker.task is None else worker.task.limit
        return limit + self.patience - worker.quiet()

    def _give_up(self, worker: Hand, error: WorkerError | RunInterruptedError) -> None:
        assert worker.task is not None  # only who has something to do can fail at it
        job = worker.task.job
        worker.end()  # first: what it saves at the last moment must not mix with what is saved here
        self._finish(worker, save_result(job, job.broken(error)), gone=True)

    def _finish(self, worker: Hand, call: SuiteCall, *, gone: bool) -> None:
        assert worker.task is not None
        self.ledger.enter(worker.task.number, call)
        worker.task = None
        if gone:
            self.workers.remove(worker)
            worker.end(patient=self.fresh)

    def _hear_last_words(self) -> None:
        self.stopping = True
        for worker in self._busy:
            worker.stop()
        since = stopwatch()
        while self._busy and since() < LAST_WORDS:
            self._listen(LAST_WORDS - since())
        for worker in self._busy:
            late = f"its process did not stop within {LAST_WORDS:g} s and was ended"
            self._give_up(worker, RunInterruptedError(f"{STOPPED}; {late}"))
