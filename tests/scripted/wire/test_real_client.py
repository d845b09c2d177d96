"""The SDK's real websocket model as the client of a scripted websocket."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("agents")
pytest.importorskip("websockets")

from agents.realtime import RealtimePlaybackTracker
from websockets.exceptions import ConnectionClosedError

from tests.scripted.wire.serving import KEY, SECOND, run_session, serve
from voiceharness.scripted.calls import (
    CloseCall,
    ConnectCall,
    RequestResponseCall,
    SendAudioCall,
    SendEventCall,
    SendFunctionCallOutputCall,
    SendMessageCall,
)
from voiceharness.scripted.inbound import (
    AudioDoneEvent,
    AudioEvent,
    AudioTranscriptDeltaEvent,
    FunctionCallEvent,
    RawEvent,
    TurnDoneEvent,
    TurnStartedEvent,
)
from voiceharness.scripted.openai_agents.recorder import SessionEndedError, SessionRecorder

if TYPE_CHECKING:
    from agents.realtime import RealtimeSession

    from voiceharness.scripted.run import ScenarioContext

__all__: list[str] = []


# The SDK's session


def test_the_real_websocket_model_runs_a_full_turn() -> None:
    server = serve()

    async def scenario(far: ScenarioContext) -> None:
        connected = await far.expect_call(ConnectCall, lambda call: call.api_key_provided)
        assert connected.model == "gpt-realtime"
        asked = far.expect_unordered([SendMessageCall, RequestResponseCall])
        message, request = await asked[0], await asked[1]
        assert isinstance(message, SendMessageCall)
        assert message.message["content"][0]["text"] == "hello"
        assert message.index < request.index
        await far.emit(TurnStartedEvent(response_id="r1"))
        await far.emit(AudioTranscriptDeltaEvent(delta="hi there", item_id="i1"))
        await far.emit(AudioEvent(data=SECOND, item_id="i1"))
        await far.emit(AudioDoneEvent(item_id="i1"))
        await far.emit(TurnDoneEvent(usage={"input_tokens": 3, "output_tokens": 4, "total_tokens": 7}))
        await far.expect_call(CloseCall)

    async def exercise(session: RealtimeSession, recorder: SessionRecorder) -> None:
        await session.send_audio(SECOND, commit=True)
        await session.send_message("hello")
        assert (await recorder.wait_for("audio")).audio.data == SECOND
        await recorder.wait_for("agent_end")
        assert recorder.of("error") == []

    run_session(server, scenario, exercise)
    server.transport.assert_complete()
    server.transport.assert_closed()
    assert server.refusals == []
    assert server.audio_ms("i1") == 1000
    assert [call.commit for call in server.transport.calls_of(SendAudioCall)] == [False, True]
    assert server.transport.audio_sent() == SECOND
    assert KEY not in repr(server.transport.calls) + str(server.transport.timeline)


def test_the_real_websocket_model_calls_a_tool() -> None:
    server = serve()

    async def scenario(far: ScenarioContext) -> None:
        await far.expect_call(ConnectCall)
        await far.emit(TurnStartedEvent(response_id="r1"))
        await far.emit(FunctionCallEvent(name="look_up", call_id="c1", arguments='{"order": 7}', item_id="i1"))
        await far.emit(TurnDoneEvent())
        output = await far.expect_call(SendFunctionCallOutputCall)
        assert (output.tool_call, output.output) == ({"call_id": "c1"}, "order 7 is on its way")
        await far.expect_call(RequestResponseCall)
        await far.emit(TurnStartedEvent(response_id="r2"))
        await far.emit(TurnDoneEvent())
        await far.expect_call(CloseCall)

    async def exercise(session: RealtimeSession, recorder: SessionRecorder) -> None:
        await recorder.wait_for("tool_end")
        await recorder.wait_for("agent_end", lambda _: len(recorder.of("agent_end")) == 2)

    run_session(server, scenario, exercise)


def test_a_malformed_frame_is_an_error_of_the_session() -> None:
    server = serve()

    async def scenario(far: ScenarioContext) -> None:
        await far.expect_call(ConnectCall)
        await far.emit(RawEvent(data="{not json"))
        await far.expect_call(CloseCall)

    async def exercise(session: RealtimeSession, recorder: SessionRecorder) -> None:
        with pytest.raises(SessionEndedError) as caught:
            await recorder.wait_for("audio")
        assert isinstance(caught.value.__cause__, json.JSONDecodeError)

    run_session(server, scenario, exercise)


def test_a_cut_connection_raises_from_the_session() -> None:
    server = serve()

    async def scenario(far: ScenarioContext) -> None:
        await far.expect_call(ConnectCall)
        await far.expect_call(SendMessageCall)
        server.transport.disconnect(ConnectionError("cut"))

    async def exercise(session: RealtimeSession, recorder: SessionRecorder) -> None:
        await session.send_message("hello")
        with pytest.raises(SessionEndedError) as caught:
            await recorder.wait_for("audio")
        assert isinstance(caught.value.__cause__, ConnectionClosedError)

    server.transport.when("request_response").run(lambda _: None)
    run_session(server, scenario, exercise)


def test_a_far_side_that_hangs_up_ends_the_session() -> None:
    server = serve()

    async def scenario(far: ScenarioContext) -> None:
        await far.expect_call(ConnectCall)
        await far.expect_call(SendMessageCall)
        server.transport.disconnect()

    async def exercise(session: RealtimeSession, recorder: SessionRecorder) -> None:
        await session.send_message("hello")
        with pytest.raises(SessionEndedError):
            await recorder.wait_for("audio")
        assert recorder.error is None

    server.transport.when("request_response").run(lambda _: None)
    run_session(server, scenario, exercise)


def test_an_interruption_truncates_at_what_was_played() -> None:
    """Case A15, the client that clamps: the playback is ahead of the audio there is."""
    server, tracker = serve(), RealtimePlaybackTracker()

    async def scenario(far: ScenarioContext) -> None:
        await far.expect_call(ConnectCall)
        await far.emit(TurnStartedEvent(response_id="r1"))
        await far.emit(AudioEvent(data=SECOND * 2, item_id="i1"))
        cut = await far.expect_call(SendEventCall, lambda call: call.event["type"] == "conversation.item.truncate")
        assert cut.event["audio_end_ms"] == 2000
        await far.expect_call(SendEventCall, lambda call: call.event["type"] == "conversation.item.retrieve")
        await far.emit(TurnDoneEvent())
        await far.expect_call(CloseCall)

    async def exercise(session: RealtimeSession, recorder: SessionRecorder) -> None:
        await recorder.wait_for("audio")
        tracker.on_play_ms("i1", 0, 4700)
        await session.interrupt()
        await recorder.wait_for("agent_end")

    server.transport.when("interrupt").run(lambda _: None)
    run_session(server, scenario, exercise, tracker=tracker)
    assert server.refusals == []
