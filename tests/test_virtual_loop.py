"""The virtual loop by itself; what a call sees of it is in ``test_clock``."""

from __future__ import annotations

import asyncio
import threading

import pytest

from voiceharness.clock import run_virtual
from voiceharness.virtual_loop import VirtualLoop

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
