"""How a run ends: by its user, its time, or a failure; and what it leaves behind."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tests.scripted.running import virtually
from voiceharness.clock import LoopClock, run_virtual
from voiceharness.errors import StallError
from voiceharness.scripted.errors import (
    IncompleteRealtimeScenarioError,
    PendingExpectation,
    ScenarioTimedOut,
    ScriptedRealtimeScenarioCancelledError,
    ScriptedTestingError,
    UnconsumedCall,
    UnexpectedRealtimeCallError,
)
from voiceharness.scripted.transport import ScriptedRealtimeTransport

if TYPE_CHECKING:
    from voiceharness.scripted.run import ScenarioContext

__all__: list[str] = []


def nothing() -> None:
    """An exercise that does nothing."""


async def forever() -> None:
    await asyncio.get_running_loop().create_future()


async def passing(seconds: float) -> None:
    await LoopClock().sleep(seconds)


@virtually
async def test_a_cancelled_run_lists_what_was_pending() -> None:
    """Item 13."""
    transport, cancel = ScriptedRealtimeTransport(), asyncio.Event()

    async def scenario(script: ScenarioContext) -> None:
        await script.expect_call("interrupt")

    async def exercise() -> None:
        await passing(3600)
        cancel.set()
        await forever()

    with pytest.raises(ScriptedRealtimeScenarioCancelledError, match="1 interrupt") as caught:
        await transport.run_scenario(scenario=scenario, exercise=exercise, cancel=cancel)
    assert caught.value.pending_expectations == (PendingExpectation(1, "interrupt"),)
    assert not isinstance(caught.value, asyncio.CancelledError | TimeoutError)
    transport.assert_complete()


@virtually
async def test_a_run_that_was_cancelled_before_begins_neither_side() -> None:
    """Item 14."""
    transport, cancel = ScriptedRealtimeTransport(), asyncio.Event()
    cancel.set()
    begun = list[str]()
    expectation = transport.expect_call("interrupt")
    with pytest.raises(ScriptedRealtimeScenarioCancelledError):
        await transport.run_scenario(
            scenario=lambda _: begun.append("scenario"), exercise=lambda: begun.append("exercise"), cancel=cancel
        )
    assert begun == []
    assert not expectation.done()


@virtually
async def test_cancelling_outranks_a_mismatch_in_the_same_moment() -> None:
    transport, cancel = ScriptedRealtimeTransport(), asyncio.Event()

    def exercise() -> None:
        cancel.set()
        transport.close()
        transport.interrupt()

    with pytest.raises(ScriptedRealtimeScenarioCancelledError):
        await transport.run_scenario(
            scenario=lambda script: script.expect_call("mute"), exercise=exercise, cancel=cancel
        )


@virtually
async def test_a_timeout_ends_the_run_and_the_clean_up_takes_place() -> None:
    """Item 98."""
    transport, cleaned = ScriptedRealtimeTransport(), list[float]()

    async def exercise() -> None:
        try:
            await forever()
        finally:
            cleaned.append(LoopClock().now_ns() / 1e9)

    with pytest.raises(ScenarioTimedOut, match=r"within 2\.5 s; expectations still pending: 1 interrupt") as caught:
        await transport.run_scenario(
            scenario=lambda script: script.expect_call("interrupt"), exercise=exercise, timeout=2.5
        )
    assert isinstance(caught.value, TimeoutError)
    assert cleaned == [2.5]
    transport.assert_complete()


@virtually
async def test_the_transport_may_hold_a_default_timeout() -> None:
    transport = ScriptedRealtimeTransport(scenario_timeout=1)
    with pytest.raises(ScenarioTimedOut):
        await transport.run_scenario(scenario=lambda _: None, exercise=forever)


@virtually
async def test_an_outer_timeout_stays_what_it_is_with_a_note_of_what_was_pending() -> None:
    """Item 99."""
    transport, cleaned = ScriptedRealtimeTransport(), list[str]()

    async def exercise() -> None:
        try:
            await forever()
        finally:
            cleaned.append("exercise")

    with pytest.raises(TimeoutError) as caught:
        async with asyncio.timeout(1):
            await transport.run_scenario(scenario=lambda script: script.expect_call("interrupt"), exercise=exercise)
    assert type(caught.value) is TimeoutError
    cause = caught.value.__cause__
    assert isinstance(cause, asyncio.CancelledError)
    assert cause.__notes__ == ["the scenario run was cancelled; pending expectations: 1 interrupt"]
    assert cleaned == ["exercise"]
    transport.assert_complete()


@virtually
async def test_a_side_that_awaits_an_expectation_sees_the_error_before_it_is_cancelled() -> None:
    transport, seen = ScriptedRealtimeTransport(), list[BaseException]()

    async def scenario(script: ScenarioContext) -> None:
        try:
            await asyncio.wait_for(script.expect_call("interrupt"), 60)
        except BaseException as error:
            seen.append(error)
            raise

    with pytest.raises(UnexpectedRealtimeCallError) as caught:
        await transport.run_scenario(scenario=scenario, exercise=transport.request_response)
    assert seen == [caught.value]


@virtually
async def test_the_clean_up_of_a_failed_run_is_recorded_and_nobodys_leftover() -> None:
    """Item 102."""
    transport = ScriptedRealtimeTransport()

    async def exercise() -> None:
        await transport.connect()
        try:
            transport.interrupt()
        finally:
            transport.close()

    with pytest.raises(UnexpectedRealtimeCallError):
        await transport.run_scenario(
            scenario=lambda script: [script.expect_call("connect"), script.expect_call("mute")], exercise=exercise
        )
    assert [call.method for call in transport.calls] == ["connect", "interrupt", "close"]
    transport.assert_complete()
    transport.assert_closed()


@virtually
async def test_calls_nobody_consumed_make_a_run_incomplete() -> None:
    transport = ScriptedRealtimeTransport()
    with pytest.raises(IncompleteRealtimeScenarioError, match="nobody expected: 1 interrupt") as caught:
        await transport.run_scenario(scenario=lambda _: None, exercise=transport.interrupt)
    assert caught.value.unconsumed_calls == (UnconsumedCall(0, "interrupt"),)
    transport.assert_complete()


@virtually
async def test_leftovers_from_before_the_run_count() -> None:
    transport = ScriptedRealtimeTransport()
    transport.fail_next_call("mute", OSError())
    with pytest.raises(IncompleteRealtimeScenarioError, match="1 of mute"):
        await transport.run_scenario(scenario=lambda _: None, exercise=nothing)
    transport.assert_complete()


@virtually
async def test_expectations_made_once_the_run_has_failed_fail_with_its_error() -> None:
    transport, seen = ScriptedRealtimeTransport(), list[BaseException | None]()

    async def scenario(script: ScenarioContext) -> None:
        try:
            await forever()
        finally:
            seen.append(script.expect_call("interrupt").exception())

    def exercise() -> None:
        raise OSError("first")

    with pytest.raises(OSError, match="first") as caught:
        await transport.run_scenario(scenario=scenario, exercise=exercise)
    assert seen == [caught.value]
    transport.assert_complete()


@virtually
async def test_a_second_error_becomes_a_note_on_the_first() -> None:
    transport = ScriptedRealtimeTransport()

    async def exercise() -> None:
        try:
            await forever()
        finally:
            raise ValueError("clean-up failed")

    async def scenario(_: ScenarioContext) -> None:
        raise OSError("first")

    with pytest.raises(OSError, match="first") as caught:
        await transport.run_scenario(scenario=scenario, exercise=exercise)
    assert caught.value.__notes__ == ["the exercise also raised ValueError('clean-up failed')"]


@virtually
async def test_one_run_at_a_time() -> None:
    transport = ScriptedRealtimeTransport()

    async def exercise() -> None:
        await transport.run_scenario(scenario=lambda _: None, exercise=nothing)

    with pytest.raises(ScriptedTestingError, match="running on this transport already"):
        await transport.run_scenario(scenario=lambda _: None, exercise=exercise)
    assert await transport.run_scenario(scenario=lambda _: None, exercise=lambda: 1) == 1


def test_a_deadlock_names_the_pending_expectations() -> None:
    transport = ScriptedRealtimeTransport()

    async def stuck() -> None:
        await transport.run_scenario(scenario=lambda script: script.expect_call("interrupt"), exercise=forever)

    with pytest.raises(StallError, match="scenario run, pending expectations: 1 interrupt"):
        run_virtual(stuck())


@virtually
async def test_a_failed_scenario_run_can_be_followed_by_another() -> None:
    transport = ScriptedRealtimeTransport()
    with pytest.raises(IncompleteRealtimeScenarioError):
        await transport.run_scenario(scenario=lambda script: script.expect_call("mute"), exercise=nothing)
    await transport.run_scenario(scenario=lambda script: script.expect_call("interrupt"), exercise=transport.interrupt)
    transport.assert_complete()
