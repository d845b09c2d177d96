"""The only core module that reads or waits for time.

Theory of operation. Every wait of the harness goes through the clock of the running event loop. On an ordinary loop
that is the monotonic clock. On :class:`VirtualLoop` it is an integer count of nanoseconds that stands still while
anything can run, and jumps to the next timer when nothing can. Nothing is patched: ``asyncio.sleep``,
``asyncio.timeout`` and every timer of the agent under test follow ``loop.time()`` by themselves, so a call runs as
fast as the processor allows and the same way each time.

Time must not jump while work is under way that the loop cannot see. So the virtual loop refuses to be left: a socket,
a subprocess, a name look-up, a signal handler or a callback from another thread raises :class:`VirtualTimeError`,
and ``to_thread`` / ``run_in_executor`` run their function at once, in zero virtual time. When every task waits and no
timer is set, nothing can ever happen again; the loop says so at once, and who waits for what (:class:`StallError`).
"""

from __future__ import annotations

import asyncio
import gc
import selectors
import signal
import time
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from types import coroutine
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from voiceharness.virtual_loop import NS, VirtualLoop

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Generator, Iterator
    from contextlib import AbstractContextManager

__all__ = [
    "NS",
    "Clock",
    "LoopClock",
    "Pacer",
    "Stall",
    "VirtualLoop",
    "run_real",
    "run_virtual",
    "stopwatch",
    "wall_time",
]

T = TypeVar("T")

STALL_AFTER: Final = 0.1
DELAY_AFTER: Final = 0.03


class Clock(Protocol):
    """What the harness knows of time: nanoseconds on the loop's clock."""

    @property
    def virtual(self) -> bool:
        """Whether time jumps instead of passing."""

    def now_ns(self) -> int:
        """Return the time on the loop's clock, in nanoseconds."""

    async def sleep(self, seconds: float) -> None:
        """Wait for a duration in seconds."""

    async def sleep_until_ns(self, deadline_ns: int) -> None:
        """Wait until an absolute time on the loop's clock; return soon if it has passed."""

    def call_at_ns(self, deadline_ns: int, callback: Callable[[], object]) -> asyncio.TimerHandle:
        """Call back at an absolute time on the loop's clock."""


class LoopClock:
    """The clock of the running event loop, virtual or real."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self._loop = loop
        self._virtual_loop = loop if isinstance(loop, VirtualLoop) else None

    @property
    def virtual(self) -> bool:
        """Whether time jumps instead of passing."""
        return self._virtual_loop is not None

    def now_ns(self) -> int:
        """Return the time on the loop's clock, in nanoseconds."""
        if self._virtual_loop is not None:
            return self._virtual_loop.now_ns
        return round(self._loop.time() * NS)

    async def sleep(self, seconds: float) -> None:
        """Wait for a duration in seconds; zero lets the others run once."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        await self.sleep_until_ns(self.now_ns() + round(seconds * NS))

    async def sleep_until_ns(self, deadline_ns: int) -> None:
        """Wait until an absolute time on the loop's clock.

        A time that has passed still lets whatever is due before it run first, so a late task cannot overtake others.
        """
        loop = self._virtual_loop
        if loop is not None:
            if loop.try_advance(deadline_ns):
                return
            if loop.waits_for_others(deadline_ns):
                await _the_others()
                if loop.try_advance(deadline_ns):
                    return
        waiter = self._loop.create_future()
        handle = self._loop.call_at(deadline_ns / NS, _wake, waiter)
        try:
            await waiter
        finally:
            handle.cancel()

    def call_at_ns(self, deadline_ns: int, callback: Callable[[], object]) -> asyncio.TimerHandle:
        """Call back at an absolute time on the loop's clock."""
        return self._loop.call_at(deadline_ns / NS, callback)

    def explaining(self, explanation: str) -> AbstractContextManager[None]:
        """Say what the error of a thread that calls back into virtual time meanwhile tells; real time has none."""
        return nullcontext() if self._virtual_loop is None else self._virtual_loop.explaining(explanation)


def run_virtual(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end in virtual time and return its result.

    Raises:
        StallError: if every task waits and no timer is set.
        VirtualTimeError: if something leaves the loop. In both cases the tasks are cancelled, and clean up, first.
    """
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)


def run_real(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end in real time and return its result.

    The loop waits with ``select``, whose microsecond timeouts halve the lateness of ``epoll``'s milliseconds; a run
    that may hold more than about a thousand sockets needs a loop of its own.
    """
    with _short_collections(), asyncio.Runner(loop_factory=_precise_loop) as runner:
        return runner.run(_terminable(main))


def _precise_loop() -> asyncio.AbstractEventLoop:
    return asyncio.SelectorEventLoop(selectors.SelectSelector())


@contextmanager
def _short_collections() -> Iterator[None]:
    """Leave what exists already out of garbage collections: to walk over it all stops the loop for some frames."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


async def _terminable(main: Coroutine[Any, Any, T]) -> T:
    """Let SIGTERM cancel a run, as an interrupt from the keyboard does, so that calls are ended and evidence is kept.

    Raises:
        SystemExit: with 128 + SIGTERM, after that.
    """
    task, loop, terminated = asyncio.current_task(), asyncio.get_running_loop(), list[int]()
    assert task is not None  # a coroutine runs in one

    def terminate() -> None:
        terminated.append(signal.SIGTERM)
        task.cancel()

    before = signal.getsignal(signal.SIGTERM) or signal.SIG_DFL
    try:
        loop.add_signal_handler(signal.SIGTERM, terminate)
    except (ValueError, RuntimeError, NotImplementedError):  # not the main thread, or a system without signals
        return await main
    try:
        return await main
    except asyncio.CancelledError:
        if terminated:
            raise SystemExit(128 + signal.SIGTERM) from None
        raise
    finally:
        loop.remove_signal_handler(signal.SIGTERM)
        signal.signal(signal.SIGTERM, before)  # removing it has set the default


def wall_time() -> datetime:
    """Return the time of day, in UTC. It goes into artefacts, never into a measurement."""
    return datetime.now(UTC)


def stopwatch() -> Callable[[], float]:
    """Start a stopwatch and return the function that reads it, in seconds of real time."""
    start = time.perf_counter()
    return lambda: time.perf_counter() - start


@dataclass(frozen=True, slots=True)
class Stall:
    """The loop woke ``duration`` seconds after it was asked to at ``due_ns``: timings inside are not trustworthy."""

    due_ns: int
    duration: float


class Pacer:
    """Ticks on an absolute schedule, and measures how late each one came.

    The tick for media position ``p`` is due at ``start + p / rate``, computed in integers, so 60 s of frames take
    60.00 s however late single ticks are.
    """

    def __init__(self, clock: Clock, *, start_ns: int, rate: int) -> None:
        self._clock = clock
        self._start_ns = start_ns
        self._rate = rate
        self._total_ns = 0
        self.ticks = 0
        self.max_lateness = 0.0
        self.delays: list[Stall] = []
        """Whenever ticks were more than 30 ms late."""

    def due_ns(self, position: int) -> int:
        """Return when a position is due, in nanoseconds on the loop's clock."""
        return self._start_ns + position * NS // self._rate

    async def wait_for(self, position: int) -> None:
        """Wait until a position is due. One that is past is still given to the loop in its order."""
        due = self.due_ns(position)
        await self._clock.sleep_until_ns(due)
        self.ticks += 1
        late = self._clock.now_ns() - due
        if late:
            self._came_late(due, late)

    def _came_late(self, due: int, late: int) -> None:
        self._total_ns += late
        seconds = late / NS
        self.max_lateness = max(self.max_lateness, seconds)
        if seconds > DELAY_AFTER:
            self._note_delay(Stall(due, seconds))

    def _note_delay(self, delay: Stall) -> None:
        """One blocked loop makes many ticks late; they are one delay, as long as the worst of them."""
        if not self.delays or delay.due_ns >= self.delays[-1].due_ns + self.delays[-1].duration * NS:
            self.delays.append(delay)
        elif delay.duration > self.delays[-1].duration:
            self.delays[-1] = Stall(self.delays[-1].due_ns, delay.duration)

    @property
    def stalls(self) -> list[Stall]:
        """The delays after which no timing can be believed: those over 0.1 s."""
        return [delay for delay in self.delays if delay.duration > STALL_AFTER]

    @property
    def mean_lateness(self) -> float:
        """Mean lateness of the ticks so far, in seconds."""
        return self._total_ns / self.ticks / NS if self.ticks else 0.0


@coroutine
def _the_others() -> Generator[None]:
    """Let whoever can run do so once, as a sleep of zero seconds does, which would be one more coroutine."""
    yield


def _wake(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)
