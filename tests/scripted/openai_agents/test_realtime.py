"""The SDK's real realtime session on the scripted transport."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("agents")

from agents.realtime.model_inputs import RealtimeModelSendRawMessage, RealtimeModelSendUserInput

from tests.scripted.openai_agents.sessions import KEY, look_up, open_session, run
from voiceharness.clock import run_virtual
from voiceharness.scripted.calls import (
    CloseCall,
    ConnectCall,
    SendEventCall,
    SendMessageCall,
)
from voiceharness.scripted.errors import (
    ScriptedRealtimeConnectionSupersededError,
)
from voiceharness.scripted.inbound import (
    AudioDoneEvent,
    AudioEvent,
    AudioTranscriptDeltaEvent,
    TurnDoneEvent,
    TurnStartedEvent,
)
from voiceharness.scripted.openai_agents.realtime import ScriptedAgentsRealtimeModel
from voiceharness.scripted.openai_agents.recorder import SessionEndedError, SessionRecorder
from voiceharness.scripted.output import Usage

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from agents.realtime import RealtimeSession
    from agents.realtime import model_events as sdk

    from voiceharness.scripted.run import ScenarioContext

    Exercise = Callable[[RealtimeSession, SessionRecorder], Awaitable[Any]]

__all__: list[str] = []


# A whole session


def test_a_real_session_is_scripted_from_connect_to_close() -> None:
    """Item 1."""
    heard: list[str] = []
    model = ScriptedAgentsRealtimeModel()
    model.transport.on("audio_transcript_delta", lambda event: heard.append(event.delta))

    def without_key(call: ConnectCall) -> bool:
        return call.api_key_provided and KEY not in repr(call) + repr(vars_of(call))

    async def scenario(far: ScenarioContext) -> None:
        connect = await far.expect_call(ConnectCall, without_key)
        assert connect.initial_session_config["instructions"] == "Help."
        assert connect.initial_session_config["tools"][0] is look_up
        message = await far.expect_call(SendMessageCall, lambda call: call.message == "hello")
        assert message.index == 1
        await far.emit(TurnStartedEvent(response_id="r1"))
        await far.emit(AudioTranscriptDeltaEvent(delta="hi there", item_id="i1", response_id="r1"))
        await far.emit(AudioEvent(data=b"\0\0" * 240, item_id="i1", response_id="r1"))
        await far.emit(AudioDoneEvent(item_id="i1"))
        await far.emit(TurnDoneEvent(response_id="r1", usage=Usage(requests=1, input_tokens=3)))
        await far.expect_call(CloseCall)

    async def exercise(session: RealtimeSession, recorder: SessionRecorder) -> None:
        await session.send_message("hello")
        audio = await recorder.wait_for("audio")
        assert audio.audio.data == b"\0\0" * 240
        await recorder.wait_for("audio_end")
        await recorder.wait_for("agent_end")

    run(scenario, exercise, model=model)
    assert heard == ["hi there"]
    assert [call.method for call in model.transport.calls] == ["connect", "send_message", "close"]
    assert model.retired_responses == ["r1"]
    assert KEY not in str(model.transport.timeline)


def vars_of(call: ConnectCall) -> dict[str, Any]:
    return {name: getattr(call, name) for name in ("url", "model", "call_id", "initial_session_config")}


def test_the_names_of_model_and_call_are_recorded() -> None:
    model = ScriptedAgentsRealtimeModel()

    async def play() -> None:
        await model.connect({"call_id": "c1", "initial_model_settings": {"model_name": "gpt-realtime"}, "headers": {}})
        await model.close()
        await model.close()

    run_virtual(play())
    connect, close = model.transport.calls
    assert isinstance(connect, ConnectCall)
    assert (connect.call_id, connect.model, connect.url) == ("c1", "gpt-realtime", None)
    assert isinstance(close, CloseCall)


def test_a_failed_close_within_the_connected_notification_supersedes_the_connect() -> None:
    """Item 23."""
    model = ScriptedAgentsRealtimeModel()
    transport = model.transport
    seen: list[str] = []

    def close_badly(event: Any) -> None:
        seen.append(event.status)
        if event.status == "connected":
            with pytest.raises(ConnectionError):
                transport.close()

    transport.on("connection_change", close_badly)
    transport.fail_next_call("close", ConnectionError("no"))

    async def play() -> None:
        session = await open_session(model)
        with pytest.raises(ScriptedRealtimeConnectionSupersededError):
            async with session:
                pass

    run_virtual(play())
    assert seen == ["connecting", "connected", "disconnected"]
    transport.assert_closed()


# The far side ends


def test_a_far_side_that_hangs_up_ends_the_session() -> None:
    model = ScriptedAgentsRealtimeModel()

    async def scenario(far: ScenarioContext) -> None:
        await far.expect_call(ConnectCall)
        model.transport.disconnect()

    async def exercise(session: RealtimeSession, recorder: SessionRecorder) -> None:
        with pytest.raises(SessionEndedError) as caught:
            await recorder.wait_for("audio")
        assert caught.value.__cause__ is None
        assert recorder.error is None

    run(scenario, exercise, model=model)
    assert [call.method for call in model.transport.calls] == ["connect"]


def test_a_far_side_that_fails_raises_from_the_session() -> None:
    model = ScriptedAgentsRealtimeModel()
    lost = ConnectionError("lost")

    async def scenario(far: ScenarioContext) -> None:
        await far.expect_call(ConnectCall)
        model.transport.disconnect(lost)

    async def exercise(session: RealtimeSession, recorder: SessionRecorder) -> None:
        with pytest.raises(SessionEndedError) as caught:
            await recorder.wait_for("audio")
        assert caught.value.__cause__ is lost

    run(scenario, exercise, model=model)


def test_a_failed_close_leaves_the_session_open_and_can_be_repeated() -> None:
    model = ScriptedAgentsRealtimeModel()
    model.transport.fail_next_call("close", ConnectionError("busy"))

    async def play() -> None:
        session = await open_session(model)
        await session.enter()
        with pytest.raises(ConnectionError):
            await session.close()
        assert model.transport.status == "connected"
        await session.close()

    run_virtual(play())
    model.transport.assert_closed()


# The model by itself


class Listening:
    """A listener that notes what it gets, and may raise."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.events: list[Any] = []
        self._error = error

    async def on_event(self, event: sdk.RealtimeModelEvent) -> None:
        self.events.append(event)
        if self._error is not None:
            raise self._error


def test_listeners_are_told_in_order_of_what_the_sdk_would_tell() -> None:
    model = ScriptedAgentsRealtimeModel()
    listener: Any = Listening()
    model.add_listener(listener)
    model.add_listener(listener)

    async def play() -> None:
        await model.connect({})
        model.transport.emit(TurnStartedEvent(response_id="r1"))
        await model.transport.emit(TurnDoneEvent(response_id="r1", usage={"requests": 2}))
        model.remove_listener(listener)
        model.remove_listener(listener)
        await model.transport.emit(TurnStartedEvent())

    run_virtual(play())
    assert [event.type for event in listener.events] == [
        "connection_status",
        "connection_status",
        "turn_started",
        "usage",
        "turn_ended",
    ]
    assert listener.events[3].usage.requests == 2


def test_what_a_listener_raises_comes_out_of_an_awaited_emit() -> None:
    broken: Any = Listening(ValueError("broken"))
    later: Any = Listening()
    model = ScriptedAgentsRealtimeModel()

    async def play() -> None:
        model.add_listener(broken)
        model.add_listener(later)
        with pytest.raises(ValueError, match="broken"):
            await model.transport.emit(TurnStartedEvent())

    run_virtual(play())
    assert later.events == []


def test_what_a_listener_raises_fails_the_run_if_nobody_awaits_the_emit() -> None:
    model = ScriptedAgentsRealtimeModel()
    broken: Any = Listening(ValueError("broken"))
    model.add_listener(broken)

    def scenario(far: ScenarioContext) -> None:
        far.emit(TurnStartedEvent())

    async def play() -> None:
        await model.transport.run_scenario(scenario=scenario, exercise=lambda: asyncio.Event().wait(), timeout=60)

    with pytest.raises(ValueError, match="broken"):
        run_virtual(play())


def test_a_listener_may_await_an_emit_of_its_own() -> None:
    model = ScriptedAgentsRealtimeModel()

    class Answering(Listening):
        async def on_event(self, event: sdk.RealtimeModelEvent) -> None:
            await super().on_event(event)
            if event.type == "turn_started":
                await model.transport.emit(TurnDoneEvent())

    listener: Any = Answering()
    model.add_listener(listener)

    async def play() -> None:
        await model.transport.emit(TurnStartedEvent())
        await model.transport.forwarded()

    run_virtual(play())
    assert [event.type for event in listener.events] == ["turn_started", "turn_ended"]


def test_a_conditional_send_looks_at_its_condition_first() -> None:
    model = ScriptedAgentsRealtimeModel()

    async def play() -> list[bool]:
        event = RealtimeModelSendUserInput("hello")
        return [await model.send_event_if(event, lambda answer=answer: answer) for answer in (False, True)]  # type: ignore[misc] # a lambda with its answer bound

    assert run_virtual(play()) == [False, True]
    assert len(model.transport.calls) == 1


def test_raw_messages_and_unknown_kinds_are_raw_events() -> None:
    model = ScriptedAgentsRealtimeModel()
    unknown: Any = object()

    async def play() -> None:
        await model.send_event(RealtimeModelSendRawMessage({"type": "x.y", "other_data": {"a": 1}}))
        await model.send_event(unknown)

    run_virtual(play())
    first, second = model.transport.calls
    assert isinstance(first, SendEventCall)
    assert isinstance(second, SendEventCall)
    assert json.dumps(first.event) == '{"type": "x.y", "a": 1}'
    assert second.event is unknown
