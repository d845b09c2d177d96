"""The event loop whose clock jumps: what :mod:`voiceharness.clock` runs a call on in virtual time.

See there for the theory of operation. This module waits for real time in one place only: before time jumps, threads
that were started during the run get a moment to say that they work for it.
"""

from __future__ import annotations

import asyncio
import heapq
import math
import threading
import traceback
from _thread import _count as thread_count  # thread_count() without its lock: it is asked for every frame
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar, TypeVarTuple

from voiceharness.errors import StallError, VirtualTimeError

if TYPE_CHECKING:
    from collections import deque
    from collections.abc import Callable, Iterator
    from contextvars import Context
    from types import FrameType

__all__ = ["NS", "VirtualLoop"]

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

NS: Final = 1_000_000_000
"""Nanoseconds in a second."""

FOREIGN_THREAD_GRACE: Final = 0.25
STACK_FRAMES_SHOWN: Final = 6

_ASYNCIO: Final = str(Path(asyncio.__file__).parent)

MOST_ROUNDS_AT_ONCE: Final = 1_000_000
"""Rounds of the loop at one time, some seconds of work, after which somebody is taken to poll."""


def _refusing(what: str) -> Any:  # Any: it stands in for methods of many signatures
    async def refuse(self: VirtualLoop, *_args: object, **_options: object) -> NoReturn:
        self.refuse(what)

    refuse.__doc__ = f"Refuse: {what}."
    return refuse


class VirtualLoop(asyncio.BaseEventLoop):
    """An event loop whose clock jumps to the next timer when nothing can run.

    Timers that are due at the same nanosecond run in the order in which they were set. ``now_ns`` is the time.
    """

    def __init__(self) -> None:
        super().__init__()
        self.now_ns = 0
        self._timers: list[tuple[int, int, asyncio.TimerHandle]] = []
        self._timer_count = 0
        self._ready: deque[asyncio.Handle]  # BaseEventLoop's own, untyped upstream, as these are
        self._debug: bool
        self._closed: bool
        self._home_thread = threading.get_ident()
        self._known_threads = thread_count()
        self._round_ns = 0
        self._rounds = 0
        self._violation: VirtualTimeError | None = None
        self._violated = threading.Event()
        self._explanations: list[str] = []

    # Time

    def time(self) -> float:
        """Return the virtual time in seconds."""
        return self.now_ns / NS

    def call_soon(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        """Schedule a callback, with less work than the base has for loops that are also used from outside."""
        if self._debug or self._closed:  # the base has checks for the one, and the error for the other
            return super().call_soon(callback, *args, context=context)
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append(handle)
        return handle

    def call_at(
        self, when: float, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Set a timer at an absolute virtual time in seconds; an infinite one never comes."""
        if self.is_closed():
            raise RuntimeError("Event loop is closed")
        timer = asyncio.TimerHandle(when, callback, args, self, context)
        if when == math.inf:
            return timer
        self._timer_count += 1
        heapq.heappush(self._timers, (round(when * NS), self._timer_count, timer))
        return timer

    def call_later(
        self, delay: float, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Set a timer after a delay in virtual seconds."""
        return self.call_at(self.now_ns / NS + delay, callback, *args, context=context)

    def try_advance(self, deadline_ns: int) -> bool:
        """Move the clock to a time without leaving the running task, if nobody else could run before it.

        This is what makes a lone pacer cheap: no timer, no future, no task switch.
        """
        if self._ready or deadline_ns < self.now_ns or self._violation is not None:
            return False
        next_timer = self._next_timer()
        if next_timer is not None and next_timer <= deadline_ns:
            return False
        if thread_count() > self._known_threads:
            return False
        self.now_ns = deadline_ns
        return True

    def waits_for_others(self, deadline_ns: int) -> bool:
        """Say whether only those who can run now stand between the present and a time: once they have, try again."""
        if not self._ready or deadline_ns <= self.now_ns:
            return False
        next_timer = self._next_timer()
        return next_timer is None or next_timer > deadline_ns

    def _next_timer(self) -> int | None:
        timers = self._timers
        while timers and timers[0][2].cancelled():
            heapq.heappop(timers)
        return timers[0][0] if timers else None

    def _run_once(self) -> None:
        """Run everything that is ready; if nothing is, jump to the next timer."""
        if not self._ready:
            self._jump()
        self._count_round()
        if self._violation is not None:
            violation, self._violation = self._violation, None
            raise violation
        ready, timers = self._ready, self._timers
        while timers and timers[0][0] <= self.now_ns:
            timer = heapq.heappop(timers)[2]
            if not timer.cancelled():
                ready.append(timer)
        for _ in range(len(ready)):
            handle = ready.popleft()
            if not handle._cancelled:
                handle._run()

    def _count_round(self) -> None:
        """Stop a run in which somebody can always go on at once, such as who polls with ``sleep(0)``: time stands."""
        if self.now_ns != self._round_ns:
            self._round_ns, self._rounds = self.now_ns, 0
        self._rounds += 1
        if self._rounds > MOST_ROUNDS_AT_ONCE and self._violation is None:
            self._rounds = 0
            self._violation = StallError(_standstill_report(self))

    def _jump(self) -> None:
        self._let_foreign_threads_speak()
        next_timer = self._next_timer()
        if next_timer is not None:
            self.now_ns = max(self.now_ns, next_timer)
        elif self._violation is None:
            self._violation = StallError(_stall_report(self))

    # Work that leaves the loop

    def call_soon_threadsafe(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        """Schedule a callback from this thread; from another thread, refuse and stop the run."""
        if threading.get_ident() == self._home_thread:
            return self.call_soon(callback, *args, context=context)
        done = f"thread {threading.current_thread().name!r} called back into the event loop during virtual time"
        refusal = f"{done}: make that work async, or run in real time\n{_stack_text(skip=2)}"
        self._violation = VirtualTimeError(refusal)
        if self._explanations:
            self._violation = VirtualTimeError(self._explanations[-1])
            self._violation.__cause__ = VirtualTimeError(done)
        self._violated.set()
        raise VirtualTimeError(refusal)

    @contextmanager
    def explaining(self, explanation: str) -> Iterator[None]:
        """Let the error of a thread that calls back meanwhile say this instead of the thread's stack."""
        self._explanations.append(explanation)
        try:
            yield
        finally:
            self._explanations.remove(explanation)

    def _let_foreign_threads_speak(self) -> None:
        """Before time jumps, give threads that were started during the run a moment to report to the loop."""
        alive = thread_count()
        if alive > self._known_threads:
            self._violated.wait(FOREIGN_THREAD_GRACE)
            self._violated.clear()
        self._known_threads = alive

    def run_in_executor(  # type: ignore[override] # a future, where the base declares its own kind
        self, executor: object, func: Callable[..., T], *args: Any
    ) -> asyncio.Future[T]:
        """Run the function at once, in zero virtual time, whatever the executor."""
        future: asyncio.Future[T] = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:  # relayed to whoever awaits it, as an executor does
            future.set_exception(error)
        return future

    def refuse(self, what: str) -> NoReturn:
        """Raise the error that says what was tried, by whom, and what to do instead."""
        raise VirtualTimeError(
            f"{what} cannot be followed by virtual time: make it async and in-process, or run in real time\n"
            f"{_stack_text(skip=3)}"
        )

    def _write_to_self(self) -> None:
        """Wake nothing: there is no selector."""

    def add_signal_handler(self, sig: int, callback: Callable[..., object], *args: object) -> None:
        """Say that there is none, as every loop without one does, so that callers fall back."""
        raise NotImplementedError("a virtual loop handles no signals")

    def add_reader(self, fd: object, callback: Callable[[*Ts], object], *args: *Ts) -> NoReturn:
        """Refuse: waiting for a file descriptor."""
        self.refuse("waiting for a file descriptor")

    def add_writer(self, fd: object, callback: Callable[[*Ts], object], *args: *Ts) -> NoReturn:
        """Refuse: waiting for a file descriptor."""
        self.refuse("waiting for a file descriptor")

    getaddrinfo = getnameinfo = _refusing("a name look-up")
    create_connection = create_server = create_datagram_endpoint = _refusing("a socket")
    create_unix_connection = create_unix_server = connect_accepted_socket = start_tls = sendfile = _refusing("a socket")
    sock_accept = sock_connect = sock_recv = sock_recv_into = sock_recvfrom = _refusing("a socket")
    sock_recvfrom_into = sock_sendall = sock_sendto = sock_sendfile = _refusing("a socket")
    subprocess_exec = subprocess_shell = _refusing("a subprocess")
    connect_read_pipe = connect_write_pipe = _refusing("a pipe")


def _stack_text(skip: int) -> str:
    stack = traceback.extract_stack()[:-skip]
    return "".join(traceback.format_list(stack[-STACK_FRAMES_SHOWN:])).rstrip()


def _stall_report(loop: VirtualLoop) -> str:
    head = f"every task waits and no timer is set, at {loop.time():.3f} s of virtual time; nothing can happen again:"
    tasks = sorted(asyncio.all_tasks(loop), key=lambda task: task.get_name())
    return "\n".join([head, *(f"{_place(task)}, waits for {_waits_for(task)!r}" for task in tasks)])


def _standstill_report(loop: VirtualLoop) -> str:
    head = (
        f"virtual time stands still at {loop.time():.3f} s, because somebody can always go on at once: "
        "who polls must wait for an event, or sleep for longer than 0 s; or run in real time. It is among these:"
    )
    tasks = sorted(asyncio.all_tasks(loop), key=lambda task: task.get_name())
    ready = [task for task in tasks if _waits_for(task) is None]
    return "\n".join([head, *map(_place, ready or tasks)])


def _place(task: asyncio.Task[Any]) -> str:  # Any: whatever it returns
    frames = [frame for frame in _frames(task.get_coro()) if not frame.f_code.co_filename.startswith(_ASYNCIO)]
    place = f"{frames[-1].f_code.co_filename}:{frames[-1].f_lineno}" if frames else "an unknown place"
    return f"- {task.get_name()}, {getattr(task.get_coro(), '__qualname__', 'a coroutine')}, at {place}"


def _frames(coroutine: object) -> Iterator[FrameType]:
    """Go from a coroutine to the one that it awaits, and so on."""
    while (frame := getattr(coroutine, "cr_frame", None)) is not None:
        yield frame
        coroutine = getattr(coroutine, "cr_await", None)


def _waits_for(task: asyncio.Task[Any]) -> object:  # Any: whatever it returns
    return getattr(task, "_fut_waiter", None)
