"""The simulated agent: answers in order, in paced speech, and stops when it is interrupted."""

from __future__ import annotations

import pytest

from tests.scripted.running import seconds, virtually
from voiceharness.clock import LoopClock
from voiceharness.scripted.inbound import AudioEvent, AudioTranscriptDeltaEvent, FunctionCallEvent
from voiceharness.scripted.simulated_agent import SimulatedAgent, Speak, UseTool
from voiceharness.scripted.sounds import PCM_24K
from voiceharness.scripted.transport import ScriptedRealtimeTransport

__all__: list[str] = []


@virtually
async def test_it_answers_a_message_with_paced_speech() -> None:
    transport, audio, words = ScriptedRealtimeTransport(), list[AudioEvent](), list[str]()
    transport.on(AudioEvent, audio.append).on(AudioTranscriptDeltaEvent, lambda event: words.append(event.delta))
    agent = SimulatedAgent(transport, Speak("how can I help", seconds=0.5), latency=0.3)
    await transport.connect()
    transport.send_message("hello")
    await agent.wait_until_silent()
    assert seconds() == pytest.approx(0.8)
    assert PCM_24K.duration(b"".join(event.data for event in audio)) == 0.5
    assert "".join(words) == "how can I help "
    transport.close()
    transport.assert_complete()


@virtually
async def test_an_interruption_ends_the_turn_and_its_words() -> None:
    transport, heard = ScriptedRealtimeTransport(), list[str]()
    for name in ("audio_transcript_delta", "audio_interrupted", "turn_done", "audio_done"):
        transport.on(name, lambda event: heard.append(getattr(event, "delta", event.type)))
    agent = SimulatedAgent(transport, Speak("one two three four", seconds=4.0))
    transport.send_message("hello")
    await LoopClock().sleep(1.5)
    transport.interrupt()
    await agent.wait_until_silent()
    assert heard == ["one ", "two ", "audio_interrupted", "turn_done"]
    assert seconds() == 1.5


@virtually
@pytest.mark.parametrize(("after", "heard"), [(1.5, ["turn_done", "audio_interrupted"]), (4.5, ["turn_done"])])
async def test_what_was_sent_in_a_burst_can_be_interrupted_while_it_is_still_heard(
    after: float, heard: list[str]
) -> None:
    transport, got = ScriptedRealtimeTransport(), list[str]()
    for name in ("audio_interrupted", "turn_done"):
        transport.on(name, lambda event: got.append(event.type))
    agent = SimulatedAgent(transport, Speak("one two three four", seconds=4.0), speed=float("inf"))
    transport.send_message("hello")
    await agent.wait_until_silent()
    await LoopClock().sleep(after)
    transport.interrupt()
    assert got == heard


@virtually
async def test_an_interruption_while_it_is_silent_does_nothing() -> None:
    transport, heard = ScriptedRealtimeTransport(), list[object]()
    transport.on("audio_interrupted", heard.append)
    SimulatedAgent(transport, Speak("never said"))
    transport.interrupt()
    assert heard == []


@virtually
async def test_a_tool_call_comes_before_the_answer_that_needs_it() -> None:
    transport, calls = ScriptedRealtimeTransport(), list[FunctionCallEvent]()
    transport.on(FunctionCallEvent, calls.append)
    agent = SimulatedAgent(transport, UseTool("look_up", '{"id": 7}'), Speak("it is ready", seconds=0.2))
    transport.on(FunctionCallEvent, lambda event: transport.send_function_call_output(event, "ready", True))
    transport.send_audio(b"", commit=True)
    await agent.wait_until_silent()
    assert [(call.name, call.call_id, call.arguments) for call in calls] == [("look_up", "call-1", '{"id": 7}')]
    assert [entry.name for entry in transport.timeline.entries if entry.name.startswith("turn")] == [
        "turn_started",
        "turn_done",
        "turn_started",
        "turn_done",
    ]


@virtually
async def test_requests_are_answered_one_after_another() -> None:
    transport, items = ScriptedRealtimeTransport(), list[str | None]()
    transport.on("audio_done", lambda event: items.append(event.item_id))
    agent = SimulatedAgent(transport, Speak("one", seconds=0.2), Speak("two", seconds=0.2))
    transport.request_response()
    transport.request_response()
    transport.request_response()
    transport.send_message("no answer wanted", trigger_response=False)
    await agent.wait_until_silent()
    assert items == ["response-1-item", "response-2-item"]
    assert seconds() == pytest.approx(0.4)


@virtually
async def test_closing_ends_its_speech() -> None:
    transport = ScriptedRealtimeTransport()
    agent = SimulatedAgent(transport, Speak("a long story", seconds=60.0))
    await transport.connect()
    transport.request_response()
    await LoopClock().sleep(1)
    transport.close()
    await agent.wait_until_silent()
    assert seconds() == 1


@virtually
async def test_what_a_listener_raises_is_raised_where_the_agent_is_awaited() -> None:
    transport = ScriptedRealtimeTransport()

    def refuse(_: object) -> None:
        raise ValueError("listener")

    transport.on("audio", refuse)
    agent = SimulatedAgent(transport, Speak("hello"))
    transport.request_response()
    with pytest.raises(ValueError, match="listener"):
        await agent.wait_until_silent()
