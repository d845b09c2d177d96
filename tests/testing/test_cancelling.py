"""A coroutine is cancelled at exactly the await that is asked for."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from voiceharness.clock import LoopClock, run_virtual
from voiceharness.testing.cancelling import cancelled_at

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from typing import Any

__all__: list[str] = []


async def cancel(suspension: int, work: Callable[[list[str]], Coroutine[Any, Any, object]]) -> tuple[bool, list[str]]:
    steps: list[str] = []
    reached = await cancelled_at(suspension, work(steps), patience=1.0)
    return reached, steps


async def three_awaits(steps: list[str]) -> None:
    clock = LoopClock()
    steps.append("start")
    await clock.sleep(0)
    steps.append("a turn later")
    try:
        await clock.sleep(0)
        steps.append("another")
        await asyncio.shield(clock_sleep())
        steps.append("end")
    finally:
        steps.append("clean-up")


async def clock_sleep() -> None:
    waiter = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_later(0.5, waiter.set_result, None)
    await waiter


@pytest.mark.parametrize(
    ("suspension", "reached", "steps"),
    [
        (0, True, ["start"]),
        (1, True, ["start", "a turn later", "clean-up"]),
        (2, True, ["start", "a turn later", "another", "clean-up"]),
        (3, False, ["start", "a turn later", "another", "end", "clean-up"]),
    ],
)
def test_each_await_can_be_chosen(suspension: int, reached: bool, steps: list[str]) -> None:
    assert run_virtual(cancel(suspension, three_awaits)) == (reached, steps)


def test_awaits_in_the_clean_up_are_awaited() -> None:
    async def work(steps: list[str]) -> None:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            await LoopClock().sleep(0.1)
            steps.append("cleaned")

    assert run_virtual(cancel(0, work)) == (True, ["cleaned"])


def test_a_coroutine_that_swallows_its_cancellation_is_found_out() -> None:
    async def work(_steps: list[str]) -> None:
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            return

    with pytest.raises(RuntimeError, match="the cancellation at await 1 was swallowed"):
        run_virtual(cancel(0, work))


def test_a_coroutine_that_does_not_end_is_given_up() -> None:
    async def work(_steps: list[str]) -> None:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            await asyncio.get_running_loop().create_future()

    with pytest.raises(TimeoutError):
        run_virtual(cancel(0, work))


def test_what_it_raises_is_raised() -> None:
    async def work(_steps: list[str]) -> None:
        raise KeyError("no")

    with pytest.raises(KeyError):
        run_virtual(cancel(0, work))
