"""The virtual loop follows what it can see, refuses what it cannot; the pacer keeps its schedule."""

from __future__ import annotations

import asyncio
import gc
import heapq
import math
import threading
from datetime import UTC
from typing import TYPE_CHECKING, Any

import anyio.to_thread
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from voiceharness.clock import NS, LoopClock, Pacer, VirtualLoop, run_real, run_virtual, stopwatch, wall_time
from voiceharness.errors import StallError, VirtualTimeError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from starlette.requests import Request

    from voiceharness.clock import Clock

__all__: list[str] = []

HOUR = 3600.0


async def elapsed(work: Awaitable[object]) -> float:
    """How much time of the loop passes while something is awaited."""
    loop = asyncio.get_running_loop()
    start = loop.time()
    await work
    return loop.time() - start


def refusal(work: Callable[[], Coroutine[Any, Any, object]]) -> str:
    """What the virtual loop says against something."""
    with pytest.raises(VirtualTimeError) as caught:
        run_virtual(work())
    assert not isinstance(caught.value, StallError)
    for thread in threading.enumerate():
        if thread.name.startswith("AnyIO"):
            thread.join()
    return str(caught.value)


# Time jumps


def test_an_hour_of_sleep_takes_an_hour_of_the_loop_and_no_time() -> None:
    assert run_virtual(elapsed(LoopClock_sleep(HOUR))) == HOUR


async def LoopClock_sleep(seconds: float) -> None:  # noqa: N802  reads as what it is
    await LoopClock().sleep(seconds)


def test_timeouts_of_asyncio_follow_virtual_time() -> None:
    async def main() -> float:
        loop = asyncio.get_running_loop()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1.25):
                await loop.create_future()
        return loop.time()

    assert run_virtual(main()) == 1.25


def test_time_stands_still_while_anything_can_run() -> None:
    async def main() -> float:
        clock = LoopClock()
        asyncio.get_running_loop().call_later(5, int)
        for _ in range(100):
            await clock.sleep(0)
        return clock.now_ns()

    assert run_virtual(main()) == 0


def test_timers_due_at_the_same_time_run_in_the_order_they_were_set() -> None:
    order: list[str] = []

    async def sleeper(name: str) -> None:
        await LoopClock().sleep(1.0)
        order.append(name)

    async def main() -> None:
        clock = LoopClock()
        clock.call_at_ns(NS, lambda: order.append("first timer"))
        tasks = [asyncio.create_task(sleeper(name)) for name in ("first task", "second task")]
        clock.call_at_ns(NS, lambda: order.append("second timer"))
        await asyncio.wait(tasks)

    run_virtual(main())
    assert order == ["first timer", "second timer", "first task", "second task"]


def test_who_sleeps_for_ever_waits_and_moves_no_time() -> None:
    """As ``anyio.sleep_forever`` does; when nobody else has a timer, that is a stall."""

    async def main() -> float:
        sleeper = asyncio.create_task(asyncio.sleep(math.inf))  # noqa: TID251 (the point: an agent's sleep)
        await LoopClock().sleep(1.0)
        assert not sleeper.done()
        sleeper.cancel()
        return asyncio.get_running_loop().time()

    assert run_virtual(main()) == 1.0
    with pytest.raises(StallError):
        run_virtual(asyncio.sleep(math.inf))  # noqa: TID251 (the point: an agent's sleep)


def test_a_cancelled_timer_neither_runs_nor_moves_time() -> None:
    async def main() -> int:
        clock = LoopClock()
        clock.call_at_ns(NS, lambda: pytest.fail("ran")).cancel()
        await clock.sleep(2.0)
        return clock.now_ns()

    assert run_virtual(main()) == 2 * NS


def test_sleeping_until_a_past_time_lets_what_is_due_earlier_run_first() -> None:
    order: list[str] = []

    async def main() -> None:
        clock = LoopClock()
        await clock.sleep(1.0)
        clock.call_at_ns(NS // 2, lambda: order.append("due at 0.5 s"))
        await clock.sleep_until_ns(NS * 3 // 4)
        order.append("late task, due at 0.75 s")

    run_virtual(main())
    assert order == ["due at 0.5 s", "late task, due at 0.75 s"]


def test_a_lone_sleeper_is_not_switched_away_from() -> None:
    async def main() -> tuple[bool, bool]:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        alone = loop.try_advance(NS)
        loop.call_later(1.0, int)
        return alone, loop.try_advance(3 * NS)

    assert run_virtual(main()) == (True, False)


def test_a_sleep_that_is_cancelled_leaves_no_timer() -> None:
    async def main() -> float:
        clock = LoopClock()
        sleeper = asyncio.create_task(clock.sleep(HOUR))
        await clock.sleep(1.0)
        sleeper.cancel()
        await asyncio.wait([sleeper])
        assert sleeper.cancelled()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.get_running_loop().create_future(), 1.0)
        return asyncio.get_running_loop().time()

    assert run_virtual(main()) == 2.0


def test_the_real_loop_has_the_same_clock_interface() -> None:
    async def main() -> tuple[bool, int]:
        clock = LoopClock()
        start = clock.now_ns()
        await clock.sleep(0.001)
        await clock.sleep_until_ns(start)
        return clock.virtual, clock.now_ns() - start

    virtual, passed_ns = run_real(main())
    assert not virtual
    assert passed_ns >= 1_000_000


# Work that leaves the loop


def test_work_in_threads_runs_at_once_in_zero_virtual_time() -> None:
    async def main() -> list[object]:
        here = threading.get_ident()
        loop = asyncio.get_running_loop()
        threads = [await asyncio.to_thread(threading.get_ident), await loop.run_in_executor(None, threading.get_ident)]
        return [*(thread == here for thread in threads), loop.time()]

    assert run_virtual(main()) == [True, True, 0.0]


def test_an_error_of_work_in_a_thread_reaches_who_awaits_it() -> None:
    async def main() -> None:
        await asyncio.to_thread(int, "seven")

    with pytest.raises(ValueError, match="seven"):
        run_virtual(main())


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")  # the worker is told as well
def test_a_blocking_endpoint_of_a_web_framework_is_refused() -> None:
    """A ``def`` endpoint runs in the framework's own threads, which virtual time cannot follow."""

    def endpoint(_request: Request) -> PlainTextResponse:
        return PlainTextResponse("hello")

    app = Starlette(routes=[Route("/", endpoint)])
    text = refusal(lambda: asgi_get(app))
    assert "AnyIO worker thread" in text
    assert "make that work async, or run in real time" in text


def test_an_async_endpoint_of_a_web_framework_is_followed() -> None:
    async def endpoint(_request: Request) -> PlainTextResponse:
        await LoopClock().sleep(5.0)
        return PlainTextResponse("hello")

    app = Starlette(routes=[Route("/", endpoint)])
    assert run_virtual(asgi_get(app)) == b"hello"


async def asgi_get(app: Starlette) -> bytes:
    """The body of a GET, through the application's own door."""
    body = b""

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:  # Any: an ASGI message
        nonlocal body
        body += message.get("body", b"")

    scope = {"type": "http", "method": "GET", "path": "/", "headers": [], "query_string": b"", "root_path": ""}
    await app(scope, receive, send)
    return body


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")  # the worker is told as well
def test_a_worker_thread_that_calls_back_is_refused() -> None:
    text = refusal(lambda: anyio.to_thread.run_sync(int))
    assert "called back into the event loop during virtual time" in text


def test_a_thread_that_the_agent_started_is_refused_even_though_a_timer_is_near() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        gate = threading.Event()

        def work() -> None:
            gate.wait()
            with pytest.raises(VirtualTimeError):
                loop.call_soon_threadsafe(future.set_result, None)

        thread = threading.Thread(target=work, name="agent's own thread")
        thread.start()
        loop.call_soon(gate.set)
        try:
            async with asyncio.timeout(0.01):
                await future
        finally:
            gate.set()
            thread.join()

    assert "agent's own thread" in refusal(main)


@pytest.mark.parametrize(
    ("what", "work"),
    [
        ("a socket", lambda: asyncio.open_connection("127.0.0.1", 9)),
        ("a socket", lambda: asyncio.start_server(lambda _r, _w: None, "127.0.0.1", 0)),
        ("a subprocess", lambda: asyncio.create_subprocess_exec("true")),
        ("a subprocess", lambda: asyncio.create_subprocess_shell("true")),
        ("a name look-up", lambda: asyncio.get_running_loop().getaddrinfo("localhost", 80)),
    ],
)
def test_what_leaves_the_loop_is_refused_with_the_place_and_the_way_out(
    what: str, work: Callable[[], Coroutine[Any, Any, object]]
) -> None:
    async def main() -> None:
        await work()

    text = refusal(main)
    assert text.startswith(f"{what} cannot be followed by virtual time: make it async and in-process")
    assert "test_clock.py" in text


def test_waiting_for_a_file_descriptor_is_refused() -> None:
    async def main() -> None:
        asyncio.get_running_loop().add_reader(0, int)

    assert refusal(main).startswith("waiting for a file descriptor")


def test_there_are_no_signals_which_callers_know_how_to_live_with() -> None:
    async def main() -> None:
        with pytest.raises(NotImplementedError):
            asyncio.get_running_loop().add_signal_handler(2, int)

    run_virtual(main())


# When nothing can happen any more


def test_a_stall_is_told_at_once_with_who_waits_for_what() -> None:
    """Case B37."""

    async def waits_for_the_agent(future: asyncio.Future[None]) -> None:
        await future

    async def main() -> None:
        future = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(waits_for_the_agent(future), name="reader of the agent")
        await LoopClock().sleep(1.5)
        await task

    with pytest.raises(StallError) as caught:
        run_virtual(main())
    text = str(caught.value)
    assert "at 1.500 s of virtual time" in text
    assert "- reader of the agent, test_a_stall_is_told_at_once" in text
    assert "waits_for_the_agent, at" in text
    assert "waits for <Future pending" in text
    assert "test_clock.py:" in text


def test_tasks_clean_up_after_a_stall() -> None:
    cleaned = []

    async def main() -> None:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            cleaned.append(True)

    with pytest.raises(StallError):
        run_virtual(main())
    assert cleaned == [True]


def test_the_result_and_the_error_of_the_run_come_back() -> None:
    async def answer() -> int:
        return 42

    async def fail() -> None:
        raise KeyError("no")

    assert run_virtual(answer()) == run_real(answer()) == 42
    with pytest.raises(KeyError):
        run_virtual(fail())


# The pacer


def test_a_minute_of_frames_takes_a_minute() -> None:
    """Case B23: the schedule is absolute, so what the loop is late by does not add up."""

    async def main() -> tuple[int, Pacer]:
        clock = LoopClock()
        await clock.sleep(0.1)
        pacer = Pacer(clock, start_ns=clock.now_ns(), rate=8000)
        for frame in range(1, 3001):
            await pacer.wait_for(frame * 160)
            await clock.sleep(0.001)  # what is done between two frames
        return clock.now_ns() - pacer.due_ns(0), pacer

    passed_ns, pacer = run_virtual(main())
    assert passed_ns == 60 * NS + NS // 1000
    assert (pacer.ticks, pacer.max_lateness, pacer.mean_lateness, pacer.stalls) == (3000, 0.0, 0.0, [])


def test_frames_of_an_odd_rate_do_not_drift() -> None:
    async def main() -> int:
        clock = LoopClock()
        pacer = Pacer(clock, start_ns=0, rate=44100)
        for frame in range(1, 3001):
            await pacer.wait_for(frame * 882)
        return clock.now_ns()

    assert run_virtual(main()) == 60 * NS


class LateClock:
    """A clock that wakes sleepers late, by the amounts given, in nanoseconds."""

    virtual = False

    def __init__(self, late_ns: dict[int, int]) -> None:
        self._late_ns = late_ns
        self._now_ns = 0
        self._sleeps = 0

    def now_ns(self) -> int:
        return self._now_ns

    async def sleep(self, seconds: float) -> None:
        await self.sleep_until_ns(self._now_ns + round(seconds * NS))

    async def sleep_until_ns(self, deadline_ns: int) -> None:
        self._sleeps += 1
        self._now_ns = max(self._now_ns, deadline_ns + self._late_ns.get(self._sleeps, 0))

    def call_at_ns(self, deadline_ns: int, callback: Callable[[], object]) -> asyncio.TimerHandle:
        raise NotImplementedError


def paced(clock: Clock, frames: int) -> Pacer:
    async def main() -> Pacer:
        pacer = Pacer(clock, start_ns=0, rate=8000)
        for frame in range(1, frames + 1):
            await pacer.wait_for(frame * 160)
        return pacer

    return run_virtual(main())


def test_lateness_is_measured() -> None:
    pacer = paced(LateClock({2: 3_000_000, 3: 1_000_000}), 4)
    assert pacer.max_lateness == 0.003
    assert pacer.mean_lateness == 0.001
    assert pacer.stalls == []


def test_one_blocked_loop_is_one_stall_though_it_makes_many_frames_late() -> None:
    pacer = paced(LateClock({3: 250_000_000}), 60)
    assert [(stall.due_ns, stall.duration) for stall in pacer.stalls] == [(60_000_000, 0.25)]
    assert pacer.max_lateness == 0.25


def test_two_stalls_are_two() -> None:
    pacer = paced(LateClock({3: 150_000_000, 40: 150_000_000}), 60)
    assert [stall.due_ns for stall in pacer.stalls] == [60_000_000, 800_000_000]


def test_what_is_late_but_no_stall_is_a_delay() -> None:
    pacer = paced(LateClock({3: 45_000_000, 20: 29_000_000}), 60)
    assert [(delay.due_ns, delay.duration) for delay in pacer.delays] == [(60_000_000, 0.045)]
    assert pacer.stalls == []


def test_a_delay_that_runs_into_a_longer_one_is_as_long_as_that() -> None:
    pacer = paced(LateClock({3: 50_000_000, 5: 300_000_000}), 60)
    assert [(stall.due_ns, stall.duration) for stall in pacer.stalls] == [(60_000_000, 0.3)]


def test_what_exists_before_a_run_is_left_out_of_its_garbage_collections() -> None:
    async def main() -> int:
        return gc.get_freeze_count()

    before = gc.get_freeze_count()
    assert run_real(main()) > before + 1000
    assert gc.get_freeze_count() <= before


def test_a_pacer_that_has_not_ticked_is_not_late() -> None:
    assert Pacer(LateClock({}), start_ns=0, rate=8000).mean_lateness == 0.0


# Time of day


def test_the_time_of_day_is_in_utc_and_the_stopwatch_never_runs_back() -> None:
    read = stopwatch()
    assert wall_time().tzinfo is UTC
    readings = [read() for _ in range(100)]
    assert heapq.nsmallest(100, readings) == readings
