"""Running a scenario: who ends a run, what it raises, and that the transport is clean afterwards."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.scripted.running import virtually
from voiceharness.clock import LoopClock
from voiceharness.scripted.calls import SendMessageCall
from voiceharness.scripted.errors import (
    ForbiddenCallError,
    IncompleteRealtimeScenarioError,
    PendingExpectation,
    RealtimeCallMatcherError,
    ScriptedTestingError,
    ScriptTypeError,
    UnexpectedRealtimeCallError,
)
from voiceharness.scripted.expectation import Expectation
from voiceharness.scripted.inbound import OutputTextDeltaEvent
from voiceharness.scripted.transport import ScriptedRealtimeTransport

if TYPE_CHECKING:
    from collections.abc import Callable

    from voiceharness.scripted.run import ScenarioContext

__all__: list[str] = []


def nothing() -> None:
    """An exercise that does nothing."""


async def forever() -> None:
    await asyncio.get_running_loop().create_future()


async def passing(seconds: float) -> None:
    await LoopClock().sleep(seconds)


@virtually
async def test_both_sides_run_together_and_the_exercise_gives_the_result() -> None:
    transport, heard = ScriptedRealtimeTransport(), list[str]()
    transport.on("output_text_delta", lambda event: heard.append(event.delta))

    async def scenario(script: ScenarioContext) -> None:
        connected = await script.expect_call("connect")
        assert connected.model == "voice-1"
        message = await script.expect_call(SendMessageCall, lambda call: call.message == "hello")
        assert await script.emit(OutputTextDeltaEvent(delta=f"got {message.message}"))
        await script.expect_call("close")

    async def exercise() -> str:
        await transport.connect(model="voice-1", api_key="k")
        transport.send_message("hello")
        transport.close()
        return "done"

    assert await transport.run_scenario(scenario=scenario, exercise=exercise) == "done"
    assert heard == ["got hello"]
    transport.assert_complete()
    transport.assert_closed()


@virtually
async def test_synchronous_sides_are_fine() -> None:
    transport = ScriptedRealtimeTransport()

    def exercise() -> int:
        transport.interrupt()
        return 7

    result = await transport.run_scenario(scenario=lambda script: script.expect_call("interrupt"), exercise=exercise)
    assert result == 7


@virtually
async def test_another_method_fails_the_caller_and_the_run_without_waiting() -> None:
    """Item 3."""
    transport, seen = ScriptedRealtimeTransport(), list[BaseException]()

    async def scenario(script: ScenarioContext) -> None:
        await script.expect_call("send_message")

    async def exercise() -> None:
        with pytest.raises(UnexpectedRealtimeCallError) as caught:
            transport.interrupt()
        seen.append(caught.value)
        await forever()

    with pytest.raises(UnexpectedRealtimeCallError) as caught:
        await transport.run_scenario(scenario=scenario, exercise=exercise)
    error = caught.value
    assert seen == [error]
    assert (error.call_index, error.expected_method, error.actual_method) == (0, "send_message", "interrupt")
    transport.assert_complete()


@virtually
async def test_a_false_matcher_fails_the_caller_and_the_run() -> None:
    """Item 4."""
    transport = ScriptedRealtimeTransport()
    with pytest.raises(RealtimeCallMatcherError) as caught:
        await transport.run_scenario(
            scenario=lambda script: script.expect_call("mute", lambda call: not call.muted),
            exercise=lambda: transport.mute(True),
        )
    assert (caught.value.call_index, caught.value.actual_method) == (0, "mute")


@virtually
async def test_an_exercise_that_returns_too_early_is_incomplete() -> None:
    """Item 5."""
    transport = ScriptedRealtimeTransport()

    async def scenario(script: ScenarioContext) -> None:
        await script.expect_call("interrupt")

    with pytest.raises(IncompleteRealtimeScenarioError, match="never met: 1 interrupt") as caught:
        await transport.run_scenario(scenario=scenario, exercise=nothing)
    assert caught.value.pending_expectations == (PendingExpectation(1, "interrupt"),)
    transport.assert_complete()


@virtually
async def test_an_unawaited_expectation_is_failed_with_what_the_run_raises() -> None:
    """Item 6."""
    transport, expectations = ScriptedRealtimeTransport(), list[Expectation[Any]]()
    with pytest.raises(IncompleteRealtimeScenarioError) as caught:
        await transport.run_scenario(
            scenario=lambda script: expectations.append(script.expect_call("interrupt")), exercise=nothing
        )
    assert expectations[0].exception() is caught.value
    transport.assert_complete()


@pytest.mark.parametrize("awaited", [True, False])
@virtually
async def test_an_expectation_after_the_exercise_returned_is_incomplete(awaited: bool) -> None:
    """Item 7."""
    transport = ScriptedRealtimeTransport()

    async def scenario(script: ScenarioContext) -> None:
        await passing(1)
        late = script.expect_call("interrupt")
        if awaited:
            await late

    with pytest.raises(IncompleteRealtimeScenarioError):
        await transport.run_scenario(scenario=scenario, exercise=nothing)
    transport.assert_complete()


@virtually
async def test_catching_that_failure_does_not_save_the_run() -> None:
    """Item 8."""
    transport, seen = ScriptedRealtimeTransport(), list[BaseException]()

    async def scenario(script: ScenarioContext) -> None:
        await passing(1)
        with pytest.raises(IncompleteRealtimeScenarioError) as caught:
            await script.expect_call("interrupt")
        seen.append(caught.value)
        await forever()

    with pytest.raises(IncompleteRealtimeScenarioError) as caught:
        await transport.run_scenario(scenario=scenario, exercise=nothing)
    assert seen[0] is caught.value
    transport.assert_complete()


@virtually
async def test_a_late_expectation_may_be_met_by_an_earlier_call() -> None:
    """Item 9."""
    transport = ScriptedRealtimeTransport()

    async def scenario(script: ScenarioContext) -> None:
        await passing(1)
        await script.expect_call("interrupt")

    await transport.run_scenario(scenario=scenario, exercise=transport.interrupt)
    transport.assert_complete()


@pytest.mark.parametrize(
    ("method", "matcher", "kind"),
    [("close", None, UnexpectedRealtimeCallError), ("interrupt", lambda _: False, RealtimeCallMatcherError)],
)
@virtually
async def test_a_late_expectation_that_does_not_fit_fails_the_run(
    method: Any, matcher: Callable[[Any], bool] | None, kind: type[Exception]
) -> None:
    """Item 10."""
    transport = ScriptedRealtimeTransport()

    async def scenario(script: ScenarioContext) -> None:
        await passing(1)
        script.expect_call(method, matcher)

    with pytest.raises(kind):
        await transport.run_scenario(scenario=scenario, exercise=transport.interrupt)
    transport.assert_complete()


@virtually
async def test_what_the_exercise_raises_is_what_the_run_raises() -> None:
    """Item 11."""
    transport, error = ScriptedRealtimeTransport(), OSError("mine")
    seen = list[BaseException]()

    async def scenario(script: ScenarioContext) -> None:
        try:
            await script.expect_call("interrupt")
        except OSError as failure:
            seen.append(failure)

    def exercise() -> None:
        raise error

    with pytest.raises(OSError, match="mine") as caught:
        await transport.run_scenario(scenario=scenario, exercise=exercise)
    assert caught.value is error
    assert seen == [error]
    transport.assert_complete()


@virtually
async def test_what_the_scenario_raises_is_what_the_run_raises() -> None:
    """Item 12."""
    transport, error = ScriptedRealtimeTransport(), OSError("mine")
    expectations = list[Expectation[Any]]()

    async def scenario(script: ScenarioContext) -> None:
        expectations.append(script.expect_call("interrupt"))
        raise error

    with pytest.raises(OSError, match="mine") as caught:
        await transport.run_scenario(scenario=scenario, exercise=forever)
    assert caught.value is error
    assert expectations[0].exception() is error
    transport.assert_complete()


@virtually
async def test_what_a_matcher_raises_reaches_the_caller_and_the_run() -> None:
    """Item 15."""
    transport, error, seen = ScriptedRealtimeTransport(), AssertionError("not like this"), list[BaseException]()

    def refuse(_: object) -> None:
        raise error

    def exercise() -> None:
        try:
            transport.interrupt()
        except AssertionError as failure:
            seen.append(failure)

    with pytest.raises(AssertionError, match="not like this") as caught:
        await transport.run_scenario(scenario=lambda script: script.expect_call("interrupt", refuse), exercise=exercise)
    assert caught.value is error
    assert seen == [error]


@virtually
async def test_pytest_fail_in_a_matcher_fails_the_run() -> None:
    """Item 97."""
    transport = ScriptedRealtimeTransport()
    with pytest.raises(pytest.fail.Exception, match="no good"):
        await transport.run_scenario(
            scenario=lambda script: script.expect_call("interrupt", lambda _: pytest.fail("no good")),
            exercise=transport.interrupt,
        )


@pytest.mark.parametrize("answer", [False, np.False_, 0, ""])
@virtually
async def test_a_false_answer_of_any_kind_rejects(answer: object) -> None:
    """Item 97."""
    transport = ScriptedRealtimeTransport()
    with pytest.raises(RealtimeCallMatcherError):
        await transport.run_scenario(
            scenario=lambda script: script.expect_call("interrupt", lambda _: answer), exercise=transport.interrupt
        )


@virtually
async def test_an_async_matcher_is_refused() -> None:
    """Item 97."""
    transport = ScriptedRealtimeTransport()

    async def matcher(_: object) -> bool:
        return True

    with pytest.raises(ScriptTypeError, match="matcher of interrupt is async") as caught:
        await transport.run_scenario(
            scenario=lambda script: script.expect_call("interrupt", matcher), exercise=transport.interrupt
        )
    assert isinstance(caught.value, TypeError)


@virtually
async def test_a_mismatch_swallowed_in_a_background_task_fails_the_run() -> None:
    """Item 100."""
    transport = ScriptedRealtimeTransport()

    async def tool() -> None:
        try:
            transport.send_function_call_output({"call_id": "1"}, "42", True)
        except ScriptedTestingError:
            return

    async def exercise() -> None:
        await asyncio.create_task(tool())
        await forever()

    with pytest.raises(UnexpectedRealtimeCallError):
        await transport.run_scenario(scenario=lambda script: script.expect_call("interrupt"), exercise=exercise)


@virtually
async def test_an_unawaited_expectation_may_be_met_after_the_scenario_returned() -> None:
    transport = ScriptedRealtimeTransport()

    async def exercise() -> None:
        await passing(1)
        transport.interrupt()

    await transport.run_scenario(scenario=lambda script: script.expect_call("interrupt"), exercise=exercise)


@virtually
async def test_an_optional_expectation_nobody_met_is_skipped_when_the_exercise_returns() -> None:
    transport, results = ScriptedRealtimeTransport(), list[object]()

    async def scenario(script: ScenarioContext) -> None:
        results.append(await script.expect_optional("interrupt"))
        results.append(await script.expect_optional("mute"))

    await transport.run_scenario(scenario=scenario, exercise=nothing)
    assert results == [None, None]


@virtually
async def test_a_broken_ban_fails_the_run_even_if_the_caller_swallows_it() -> None:
    transport = ScriptedRealtimeTransport()

    async def exercise() -> None:
        with pytest.raises(ForbiddenCallError):
            transport.interrupt()
        await forever()

    with pytest.raises(ForbiddenCallError):
        await transport.run_scenario(scenario=lambda script: script.expect_no_call("interrupt"), exercise=exercise)


@virtually
async def test_a_rule_whose_matcher_raises_fails_the_run() -> None:
    transport = ScriptedRealtimeTransport()
    transport.when("interrupt", lambda _: pytest.fail("bad rule")).emit()

    async def exercise() -> None:
        with pytest.raises(pytest.fail.Exception):
            transport.interrupt()
        await forever()

    with pytest.raises(pytest.fail.Exception, match="bad rule"):
        await transport.run_scenario(scenario=lambda _: None, exercise=exercise)
