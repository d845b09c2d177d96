"""Awaiting an expectation: any number of times, cancelled, stalled."""

from __future__ import annotations

import asyncio

import pytest

from tests.scripted.phone import PhoneCall, call, phone
from voiceharness.clock import run_virtual
from voiceharness.errors import StallError
from voiceharness.scripted.errors import (
    ExpectationNotDoneError,
    ExpectationWithdrawnError,
    PendingExpectation,
)
from voiceharness.scripted.kernel import (
    ExpectationState,
    Pattern,
)

__all__: list[str] = []


def test_an_expectation_can_be_awaited_any_number_of_times() -> None:
    async def scenario() -> None:
        script = phone()
        expectation = script.expect(Pattern("dial"))
        both = asyncio.gather(expectation, expectation)
        asyncio.get_running_loop().call_soon(call, script, "dial")
        first, second = await both
        assert first is second is await expectation

    asyncio.run(scenario())


def test_an_early_result_is_refused() -> None:
    with pytest.raises(ExpectationNotDoneError, match="expectation 1"):
        phone().expect(Pattern("dial")).result()


def test_cancelling_the_only_waiter_withdraws_the_expectation() -> None:
    """Item 103."""

    async def scenario() -> None:
        script = phone()
        expectation = script.expect(Pattern("dial"))
        following = script.expect(Pattern("hang_up"))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(expectation, 1)
        assert expectation.state is ExpectationState.WITHDRAWN
        assert script.pending == (PendingExpectation(2, "hang_up"),)
        call(script, "hang_up")
        assert following.result().index == 0
        with pytest.raises(ExpectationWithdrawnError):
            expectation.result()

    run_virtual(scenario())


def test_cancelling_one_of_two_waiters_keeps_the_expectation() -> None:
    async def scenario() -> None:
        script = phone()
        expectation = script.expect(Pattern("dial"))

        async def wait() -> PhoneCall:
            return await expectation  # type: ignore[no-any-return] # the kernel knows no call type

        patient = asyncio.create_task(wait())
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(wait(), 1)
        call(script, "dial")
        assert (await patient).index == 0

    run_virtual(scenario())


def test_a_stalled_loop_names_the_expectation_it_waits_for() -> None:
    async def scenario() -> None:
        await phone().expect(Pattern("hang_up"))

    with pytest.raises(StallError, match="expectation 1: hang_up, pending"):
        run_virtual(scenario())
