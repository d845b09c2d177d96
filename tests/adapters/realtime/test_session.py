"""A RealtimeAgent of the OpenAI Agents SDK on the phone: the real session, its tools included, against a script."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from tests.adapters.realtime.far_sides import RATE, at, events, speech
from voiceharness.clock import LoopClock, run_virtual
from voiceharness.errors import CallDroppedError, ConnectError, LocalProtocolError, MissingExtraError
from voiceharness.registry import create
from voiceharness.scenario.checks import Transcript
from voiceharness.scenario.run import run_scenario
from voiceharness.scenario.scenario import LineProfile, Scenario
from voiceharness.scenario.steps import Check, Hear, Interrupt, Say
from voiceharness.scenario.triggers import seconds, words
from voiceharness.scripted.calls import InterruptCall, SendAudioCall, SendFunctionCallOutputCall
from voiceharness.scripted.inbound import ErrorEvent, RawEvent
from voiceharness.scripted.simulated_agent import SimulatedAgent, Speak, UseTool
from voiceharness.scripted.sounds import PCM_24K

agents = pytest.importorskip("agents", reason="not installed: openai-agents")

from agents import function_tool  # noqa: E402  after the skip
from agents.realtime import RealtimeAgent  # noqa: E402

from voiceharness.scripted.openai_agents.realtime import ScriptedAgentsRealtimeModel  # noqa: E402
from voiceharness_adapters.realtime import AgentsSessionAdapter  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

    from voiceharness.scenario.result import CallResult
    from voiceharness.scenario.steps import AnyStep
    from voiceharness.scripted.simulated_agent import Answer

__all__: list[str] = []

FRAME = 0.02


@function_tool
async def opening_hours(day: str) -> str:
    """Say when we are open."""
    await LoopClock().sleep(0.5)
    return f"on {day} from nine to five"


def an_agent(**fields: Any) -> RealtimeAgent[Any]:
    return RealtimeAgent(name="desk", instructions="be brief", tools=[opening_hours], **fields)


def simulated(*answers: Answer) -> ScriptedAgentsRealtimeModel:
    model = ScriptedAgentsRealtimeModel()
    SimulatedAgent(model.transport, *answers, latency=0.3)
    return model


def play(model: ScriptedAgentsRealtimeModel, *steps: AnyStep, line: Any = None, **options: Any) -> CallResult:
    scenario = Scenario("test", steps, line=line or LineProfile())
    options = {"turn_detection": "harness"} | options
    return run_scenario(scenario, lambda: AgentsSessionAdapter(an_agent(), model=model, **options))


def test_the_users_own_tools_run_and_the_answer_is_heard_after_them() -> None:
    model = simulated(UseTool("opening_hours", '{"day": "Monday"}'), Speak("from nine to five", 1.5))
    seen: list[str] = []
    steps: list[AnyStep] = [
        Say(audio=speech(0.8)),
        Hear(text="nine to five"),
        Check(Transcript(contains="from nine")),
    ]
    result = play(model, *steps, on_event=lambda event: seen.append(event.type))
    assert result.passed, result.explain()
    assert result.metrics is not None
    (exchange,) = result.metrics.exchanges
    assert exchange.latency == pytest.approx(0.3 + 0.5 + 0.3, abs=FRAME)
    (output,) = model.transport.calls_of(SendFunctionCallOutputCall)
    assert output.output == "on Monday from nine to five"
    assert "tool_start" in seen
    assert "tool_end" in seen
    assert model.transport.status == "disconnected"


def test_a_barge_in_goes_through_the_session_to_the_model() -> None:
    model = simulated(Speak("one two three four five six", 5.0), Speak("sure", 0.5))
    steps: list[AnyStep] = [
        Say(audio=speech(0.6)),
        Interrupt(audio=speech(0.8, seed=2), after=seconds(1.0)),
        Hear("sure"),
    ]
    result = play(model, *steps, line=LineProfile(delay=0.05))
    assert result.passed, result.explain()
    assert len(model.transport.calls_of(InterruptCall)) == 1
    assert len(events(result, "flush")) == 1
    assert result.metrics is not None
    assert result.metrics.barge_ins[0].stop_latency == pytest.approx(0.1, abs=FRAME)


def test_words_without_times_are_placed_in_their_sound() -> None:
    model = simulated(Speak("one two three four five six", 3.0), Speak("sure", 0.5))
    interrupt = Interrupt(audio=speech(0.8, seed=2), after=words(3))
    result = play(model, Say(audio=speech(0.6)), interrupt, Hear("sure"))
    assert result.passed, result.explain()
    heard = events(result, "word_heard")
    assert all(event.data["estimated"] for event in heard)
    assert result.metrics is not None
    assert 0.8 < result.metrics.barge_ins[0].onset / RATE - 0.9 < 2.0


def test_each_commit_goes_out_before_the_audio_that_follows_it() -> None:
    model = simulated(Speak("yes", 0.5), Speak("no", 0.5))
    play(model, Say(audio=speech(0.6)), Hear(), Say(audio=speech(0.6)), Hear())
    sent = model.transport.calls_of(SendAudioCall)
    commits = [index for index, call in enumerate(sent) if call.commit]
    assert len(commits) == 2
    until_first = PCM_24K.duration(b"".join(call.audio for call in sent[: commits[0] + 1]))
    assert until_first == pytest.approx(0.6, abs=FRAME)


def soon_after_connecting(model: ScriptedAgentsRealtimeModel, action: Callable[[], object]) -> None:
    model.transport.when("connect").run(lambda _call: at(1.0, action))


def test_a_session_whose_model_hangs_up_ends_the_call() -> None:
    model = simulated()
    soon_after_connecting(model, model.transport.disconnect)
    result = play(model, Hear(within=5.0))
    assert (result.ended_by, result.ended_reason) == ("agent", "the session ended")
    assert result.record is not None
    assert result.record.duration == pytest.approx(1.0)


def test_a_session_whose_model_fails_drops_the_call() -> None:
    model = simulated()
    error = ConnectionResetError("reset by peer")
    soon_after_connecting(model, lambda: model.transport.disconnect(error))
    result = play(model, Hear(within=5.0))
    assert result.outcome == "not_called"
    assert isinstance(result.error, CallDroppedError)
    assert result.error.__cause__ is error


def test_errors_and_truncations_of_the_model_are_in_the_timeline() -> None:
    model = simulated(Speak("one two", 1.0))
    truncated = {"type": "conversation.item.truncated", "item_id": "response-1-item", "audio_end_ms": 1000}
    error = {"code": "invalid_value", "message": "no"}

    def tell(event: Any) -> None:
        if event.type == "audio_end":
            model.transport.emit(RawEvent(data=truncated))
            model.transport.emit(ErrorEvent(error=error))

    result = play(model, Say(audio=speech(0.6)), Hear(), on_event=tell)
    assert result.outcome == "protocol_violation"
    assert [event.data["kind"] for event in events(result, "protocol_fault")] == ["invalid_value"]
    assert [event.data["heard"] for event in events(result, "truncation_claimed")] == [1.0]


def test_what_is_called_with_an_event_may_wait_and_its_failure_is_told() -> None:
    async def refuse(event: Any) -> None:
        await LoopClock().sleep(0.1)
        if event.type == "audio":
            raise ValueError("not like that")

    result = play(simulated(Speak("yes", 0.5)), Say(audio=speech(0.6)), Hear(), on_event=refuse)
    assert isinstance(result.error, CallDroppedError)
    assert "not like that" in result.explain()


def test_a_model_that_cannot_be_reached_is_an_error_of_ours() -> None:
    model = simulated()
    model.transport.fail_next_call("connect", OSError("refused"))
    result = play(model, Hear())
    assert isinstance(result.error, ConnectError)
    assert "refused" in str(result.error)


def test_the_session_is_there_while_the_call_is() -> None:
    async def main() -> None:
        model = simulated(Speak("hello", 0.5))
        adapter = AgentsSessionAdapter(an_agent(), model=model)
        with pytest.raises(ConnectError, match="no session before"):
            _ = adapter.session
        await adapter.connect()
        await adapter.session.send_message("hello")
        assert await adapter.receive_audio() is not None
        await adapter.disconnect()
        await adapter.disconnect()
        with pytest.raises(LocalProtocolError):
            await adapter.connect()
        assert asyncio.all_tasks() == {asyncio.current_task()}

    run_virtual(main())


def test_it_is_made_by_its_name_of_plain_options() -> None:
    here = "tests.adapters.realtime.test_session"
    adapter = create("openai_agents", {"agent": f"{here}:an_agent", "model": f"{here}:simulated"})
    assert isinstance(adapter, AgentsSessionAdapter)


def test_without_the_package_the_install_line_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "agents.realtime", None)

    async def main() -> None:
        with pytest.raises(MissingExtraError, match=r"voiceharness\[agents\]"):
            await AgentsSessionAdapter(an_agent(), model=simulated()).connect()

    run_virtual(main())
