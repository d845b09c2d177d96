"""Tools, handoffs, guardrails, approvals and interruption of the SDK's session, run for real."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("agents")

from agents import GuardrailFunctionOutput, OutputGuardrail
from agents.realtime import RealtimeAgent, realtime_handoff

from tests.scripted.openai_agents.sessions import desk, run
from voiceharness.scripted.calls import (
    CloseCall,
    ConnectCall,
    InterruptCall,
    SendFunctionCallOutputCall,
    SendMessageCall,
    UpdateSessionConfigCall,
)
from voiceharness.scripted.errors import (
    RealtimeCallMatcherError,
    UnexpectedRealtimeCallError,
)
from voiceharness.scripted.inbound import (
    AudioEvent,
    AudioTranscriptDeltaEvent,
    FunctionCallEvent,
    TurnDoneEvent,
    TurnStartedEvent,
)
from voiceharness.scripted.openai_agents.realtime import ScriptedAgentsRealtimeModel

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from agents.realtime import RealtimeSession

    from voiceharness.scripted.openai_agents.recorder import SessionRecorder
    from voiceharness.scripted.run import ScenarioContext

    Exercise = Callable[[RealtimeSession, SessionRecorder], Awaitable[Any]]

__all__: list[str] = []


# Tools, handoffs, guardrails, approvals, interruption


def tool_call(call_id: str = "c1", name: str = "look_up") -> FunctionCallEvent:
    return FunctionCallEvent(name=name, call_id=call_id, arguments='{"order": 7}', item_id="i1")


@pytest.mark.parametrize("background", [True, False])
def test_a_tool_runs_for_real_and_its_output_is_sent(background: bool) -> None:
    async def scenario(far: ScenarioContext) -> None:
        await far.expect_call(ConnectCall)
        await far.emit(tool_call())
        output = await far.expect_call(SendFunctionCallOutputCall)
        assert (output.output, output.start_response, output.tool_call.call_id) == ("order 7 is on its way", True, "c1")
        await far.emit(TurnDoneEvent())
        await far.expect_call(CloseCall)

    async def exercise(session: RealtimeSession, recorder: SessionRecorder) -> None:
        await recorder.wait_for("tool_end")
        await recorder.wait_for("agent_end")

    run(scenario, exercise, async_tool_calls=background)


@pytest.mark.parametrize("background", [True, False])
def test_a_mismatch_in_a_background_tool_fails_the_run(background: bool) -> None:
    """Item 100."""

    async def scenario(far: ScenarioContext) -> None:
        await far.expect_call(ConnectCall)
        rejected = far.expect_call(SendFunctionCallOutputCall, lambda call: call.output == "something else")
        await far.emit(tool_call())
        await rejected

    async def exercise(session: RealtimeSession, recorder: SessionRecorder) -> None:
        await asyncio.Event().wait()

    with pytest.raises(RealtimeCallMatcherError) as caught:
        run(scenario, exercise, async_tool_calls=background)
    assert caught.value.call_index == 1


def test_an_injected_failure_of_a_tools_output_becomes_an_error_event() -> None:
    model = ScriptedAgentsRealtimeModel()
    model.transport.fail_next_call("send_function_call_output", ConnectionError("lost"))

    async def scenario(far: ScenarioContext) -> None:
        await far.expect_call(ConnectCall)
        await far.emit(tool_call())
        await far.expect_call(SendFunctionCallOutputCall)
        await far.expect_call(CloseCall)

    async def exercise(session: RealtimeSession, recorder: SessionRecorder) -> None:
        await recorder.wait_for("error")

    run(scenario, exercise, model=model)


def test_an_unknown_tool_is_answered_and_reported() -> None:
    async def scenario(far: ScenarioContext) -> None:
        await far.expect_call(ConnectCall)
        await far.emit(tool_call(name="sing"))
        output = await far.expect_call(SendFunctionCallOutputCall)
        assert "not found" in output.output
        assert not output.start_response
        await far.expect_call(CloseCall)

    async def exercise(session: RealtimeSession, recorder: SessionRecorder) -> None:
        await recorder.wait_for("error")

    run(scenario, exercise)


def test_a_handoff_updates_the_session_before_it_answers() -> None:
    billing = RealtimeAgent[None](name="billing", instructions="Bill.")
    agent = desk(handoffs=[realtime_handoff(billing)])

    async def scenario(far: ScenarioContext) -> None:
        await far.expect_call(ConnectCall)
        await far.emit(FunctionCallEvent(name="transfer_to_billing", call_id="c1"))
        update = await far.expect_call(UpdateSessionConfigCall)
        assert update.config["instructions"] == "Bill."
        await far.expect_call(SendFunctionCallOutputCall, lambda call: call.tool_call.name == "transfer_to_billing")
        await far.expect_call(CloseCall)

    async def exercise(session: RealtimeSession, recorder: SessionRecorder) -> None:
        event = await recorder.wait_for("handoff")
        assert event.to_agent is billing

    run(scenario, exercise, agent=agent)


async def refuse_secrets(_context: Any, _agent: Any, output: str) -> GuardrailFunctionOutput:
    return GuardrailFunctionOutput(output_info=None, tripwire_triggered="secret" in output)


def test_a_guardrail_interrupts_and_tells_the_model() -> None:
    guard: OutputGuardrail[Any] = OutputGuardrail(guardrail_function=refuse_secrets, name="no_secrets")

    async def scenario(far: ScenarioContext) -> None:
        await far.expect_call(ConnectCall)
        await far.emit(TurnStartedEvent(response_id="r1"))
        await far.emit(AudioTranscriptDeltaEvent(delta="the secret is", item_id="i1", response_id="r1"))
        interrupt = await far.expect_call(InterruptCall)
        assert (interrupt.force_response_cancel, interrupt.response_id) == (True, "r1")
        await far.expect_call(SendMessageCall, lambda call: call.message == "guardrail triggered: no_secrets")
        await far.emit(AudioEvent(data=b"\0\0", item_id="i1", response_id="r1"))
        await far.expect_call(CloseCall)

    async def exercise(session: RealtimeSession, recorder: SessionRecorder) -> None:
        await recorder.wait_for("guardrail_tripped")
        assert recorder.of("audio") == []

    run(
        scenario,
        exercise,
        agent=desk(output_guardrails=[guard]),
        guardrails_settings={"debounce_text_length": 5},
    )


@pytest.mark.parametrize("approved", [True, False])
def test_a_tool_that_needs_approval_waits_for_it(approved: bool) -> None:
    async def scenario(far: ScenarioContext) -> None:
        await far.expect_call(ConnectCall)
        await far.emit(tool_call(name="refund"))
        output = await far.expect_call(SendFunctionCallOutputCall)
        assert (output.output == "order 7 is refunded") is approved
        await far.expect_call(CloseCall)

    async def exercise(session: RealtimeSession, recorder: SessionRecorder) -> None:
        request = await recorder.wait_for("tool_approval_required")
        decide = session.approve_tool_call if approved else session.reject_tool_call
        await decide(request.call_id)
        if approved:
            await recorder.wait_for("tool_end")

    run(scenario, exercise)


def test_an_interruption_is_one_call_with_default_fields() -> None:
    async def scenario(far: ScenarioContext) -> None:
        await far.expect_call(ConnectCall)
        interrupt = await far.expect_call(InterruptCall)
        assert interrupt == InterruptCall(index=1)
        await far.expect_call(CloseCall)

    async def exercise(session: RealtimeSession, recorder: SessionRecorder) -> None:
        await session.interrupt()

    run(scenario, exercise)


def test_a_scenario_that_expects_something_else_fails_with_that() -> None:
    async def scenario(far: ScenarioContext) -> None:
        await far.expect_call(ConnectCall)
        await far.expect_call(InterruptCall)

    async def exercise(session: RealtimeSession, recorder: SessionRecorder) -> None:
        await session.send_message("hello")

    with pytest.raises(UnexpectedRealtimeCallError) as caught:
        run(scenario, exercise)
    assert (caught.value.expected_method, caught.value.actual_method) == ("interrupt", "send_message")
