"""The virtual loop by itself; what a call sees of it is in ``test_clock``."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, NoReturn

import pytest

from voiceharness.clock import LoopClock, run_virtual
from voiceharness.errors import StallError
from voiceharness.virtual_loop import VirtualLoop

if TYPE_CHECKING:
    from collections.abc import Generator

__all__: list[str] = []


def test_callbacks_run_in_the_order_in_which_they_were_scheduled_but_for_those_that_were_cancelled() -> None:
    async def main() -> list[int]:
        loop, ran = asyncio.get_running_loop(), list[int]()
        handles = [loop.call_soon(ran.append, number) for number in range(4)]
        handles[1].cancel()
        done = loop.create_future()
        loop.call_soon(done.set_result, None)
        await done
        return ran

    assert run_virtual(main()) == [0, 2, 3]


def test_a_closed_loop_takes_neither_timers_nor_callbacks() -> None:
    loop = VirtualLoop()
    loop.close()
    with pytest.raises(RuntimeError, match="closed"):
        loop.call_later(1, int)
    with pytest.raises(RuntimeError, match="closed"):
        loop.call_soon(int)


def test_in_debug_mode_a_callback_that_another_thread_schedules_unsafely_is_refused() -> None:
    refused: list[RuntimeError] = []

    def schedule(loop: asyncio.AbstractEventLoop) -> None:
        try:
            loop.call_soon(int)
        except RuntimeError as error:
            refused.append(error)

    async def main() -> None:
        loop = asyncio.get_running_loop()
        loop.set_debug(True)
        thread = threading.Thread(target=schedule, args=(loop,))
        thread.start()
        thread.join()

    run_virtual(main())
    assert "thread" in str(refused[0])


class Turn:
    """Let the others run, as ``sleep(0)`` does."""

    def __await__(self) -> Generator[None]:
        yield


async def poll() -> NoReturn:
    while True:
        await Turn()


def test_who_polls_without_letting_time_pass_is_stopped_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("voiceharness.virtual_loop.MOST_ROUNDS_AT_ONCE", 1000)

    async def main() -> None:
        await LoopClock().sleep(2.5)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(poll(), name="the poller")

    with pytest.raises(StallError, match=r"stands still at 2\.500 s") as caught:
        run_virtual(main())
    told = str(caught.value).splitlines()[1:]
    assert [line.split(" at ")[0] for line in told] == ["- the poller, poll,"]


def test_those_who_hand_each_other_futures_are_stopped_and_all_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("voiceharness.virtual_loop.MOST_ROUNDS_AT_ONCE", 1000)

    async def pass_on() -> NoReturn:
        loop = asyncio.get_running_loop()
        while True:
            done = loop.create_future()
            loop.call_soon(done.set_result, None)
            await done

    with pytest.raises(StallError, match=r"stands still at 0\.000 s.*\n- .*pass_on, at .*test_virtual_loop"):
        run_virtual(pass_on())


def test_any_number_of_rounds_is_right_while_time_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("voiceharness.virtual_loop.MOST_ROUNDS_AT_ONCE", 1000)

    async def main() -> float:
        for _ in range(5):
            for _ in range(900):
                await Turn()
            await LoopClock().sleep(0.02)
        return asyncio.get_running_loop().time()

    assert run_virtual(main()) == pytest.approx(0.1)


def test_who_waits_is_told_by_its_innermost_line_of_code() -> None:
    async def never() -> None:
        await asyncio.get_running_loop().create_future()

    async def main() -> None:
        await never()

    with pytest.raises(StallError) as caught:
        run_virtual(main())
    line = never.__code__.co_firstlineno + 1
    assert f"test_virtual_loop.py:{line}, waits for" in str(caught.value)
