"""The scripted transport behind a real websocket, with the SDK's real websocket model as the client."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("agents")
pytest.importorskip("websockets")

from agents import function_tool
from agents.realtime import OpenAIRealtimeWebSocketModel, RealtimeAgent, RealtimePlaybackTracker, RealtimeRunner
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosedError, ConnectionClosedOK, InvalidStatus

from voiceharness.errors import VoiceHarnessError
from voiceharness.scripted.calls import (
    CloseCall,
    ConnectCall,
    InterruptCall,
    RequestResponseCall,
    SendAudioCall,
    SendEventCall,
    SendFunctionCallOutputCall,
    SendMessageCall,
    UpdateSessionConfigCall,
)
from voiceharness.scripted.errors import ScriptTypeError, ScriptValueError, UnexpectedRealtimeCallError
from voiceharness.scripted.inbound import (
    AudioDoneEvent,
    AudioEvent,
    AudioInterruptedEvent,
    AudioTranscriptDeltaEvent,
    CustomEvent,
    ErrorEvent,
    FunctionCallEvent,
    McpToolsListedEvent,
    RawEvent,
    TurnDoneEvent,
    TurnStartedEvent,
)
from voiceharness.scripted.openai_agents.recorder import SessionEndedError, SessionRecorder
from voiceharness.scripted.wire.server import RealtimeWireServer, WireClose

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from agents.realtime import RealtimeSession
    from websockets.asyncio.client import ClientConnection

    from voiceharness.scripted.run import ScenarioContext

__all__: list[str] = []

KEY = "sk-never-recorded"
SECOND = b"\0\0" * 24_000
LIMIT = 20.0


@function_tool
def look_up(order: int) -> str:
    """Look an order up."""
    return f"order {order} is on its way"


def serve(**options: Any) -> RealtimeWireServer:
    """Make a server whose client may configure the session and send audio whenever it likes."""
    return RealtimeWireServer(ambient={"send_audio", "update_session_config"}, **options)


def run_session(
    server: RealtimeWireServer,
    scenario: Callable[[ScenarioContext], object],
    exercise: Callable[[RealtimeSession, SessionRecorder], Awaitable[object]],
    *,
    tracker: RealtimePlaybackTracker | None = None,
) -> None:
    """Play a scenario against the SDK's session on its own websocket model."""

    async def play() -> None:
        async with server:
            await server.transport.run_scenario(scenario=scenario, exercise=talk, timeout=LIMIT)

    async def talk() -> None:
        agent = RealtimeAgent[None](name="desk", instructions="Help.", tools=[look_up])
        runner = RealtimeRunner(agent, model=OpenAIRealtimeWebSocketModel(), config={"tracing_disabled": True})
        config: Any = {"api_key": KEY, "url": f"{server.url}?model=gpt-realtime"}
        if tracker is not None:
            config["playback_tracker"] = tracker
        session = await runner.run(model_config=config)
        async with session, SessionRecorder(session) as recorder:
            await exercise(session, recorder)

    asyncio.run(play())


def run_client(
    server: RealtimeWireServer,
    scenario: Callable[[ScenarioContext], object],
    exercise: Callable[[ClientConnection], Awaitable[object]],
) -> None:
    """Play a scenario against a bare websocket client."""

    async def play() -> None:
        async with server:
            await server.transport.run_scenario(scenario=scenario, exercise=talk, timeout=LIMIT)

    async def talk() -> None:
        async with connect(server.url) as client:
            await exercise(client)

    asyncio.run(play())


async def tell(client: ClientConnection, event_type: str, **body: Any) -> None:
    await client.send(json.dumps({"type": event_type, **body}))


async def next_of(client: ClientConnection, event_type: str) -> dict[str, Any]:
    while (event := json.loads(await client.recv()))["type"] != event_type:
        pass
    return dict(event)


async def accept(far: ScenarioContext) -> None:
    await far.expect_call(ConnectCall)
    await far.expect_call(CloseCall)


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


def test_a_client_whose_request_lost_the_race_can_ask_again() -> None:
    """Case A31: the provider begins a response by itself; the client's own request is refused, and not dangling."""
    server = serve()

    async def scenario(far: ScenarioContext) -> None:
        await far.expect_call(ConnectCall)
        await far.expect_call(SendMessageCall)
        await far.emit(TurnStartedEvent(response_id="automatic"))
        await far.expect_call(SendMessageCall)
        await far.emit(TurnDoneEvent())
        await far.expect_call(RequestResponseCall)
        await far.emit(TurnStartedEvent(response_id="asked"))
        await far.emit(TurnDoneEvent())
        await far.expect_call(CloseCall)

    async def exercise(client: ClientConnection) -> None:
        item = {"type": "message", "role": "user", "content": []}
        await tell(client, "conversation.item.create", item=item)
        await next_of(client, "response.created")
        await tell(client, "response.create", event_id="mine")
        error = (await next_of(client, "error"))["error"]
        assert (error["code"], error["event_id"]) == ("conversation_already_has_active_response", "mine")
        await tell(client, "conversation.item.create", item=item)
        await next_of(client, "response.done")
        await tell(client, "response.create", event_id="again")
        assert (await next_of(client, "response.created"))["response"]["id"] == "asked"
        await next_of(client, "response.done")

    run_client(server, scenario, exercise)
    assert [(refusal.event_type, refusal.event_id) for refusal in server.refusals] == [("response.create", "mine")]
    assert len(server.transport.calls_of(RequestResponseCall)) == 1


# The server by itself


def test_a_client_is_greeted_and_its_events_are_acknowledged() -> None:
    server = RealtimeWireServer()

    async def scenario(far: ScenarioContext) -> None:
        await far.expect_call(ConnectCall)
        await far.expect_call(UpdateSessionConfigCall, lambda call: call.config == {"voice": "ash"})
        await far.expect_call(SendEventCall, lambda call: call.event["type"] == "input_audio_buffer.clear")
        interrupt = await far.expect_call(InterruptCall)
        assert (interrupt.response_id, interrupt.cancel_response_only) == ("r1", True)
        await far.expect_call(CloseCall)

    async def exercise(client: ClientConnection) -> None:
        assert (await next_of(client, "session.created"))["event_id"] == "event-1"
        await tell(client, "session.update", session={"voice": "ash"})
        assert (await next_of(client, "session.updated"))["session"] == {"voice": "ash"}
        await tell(client, "input_audio_buffer.clear")
        await next_of(client, "input_audio_buffer.cleared")
        await server.transport.emit(TurnStartedEvent(response_id="r1"))
        await tell(client, "response.cancel", response_id="r1")

    run_client(server, scenario, exercise)
    assert [event["type"] for event in server.received] == [
        "session.update",
        "input_audio_buffer.clear",
        "response.cancel",
    ]
    assert len(server.received_of("session.update")) == 1


@pytest.mark.parametrize("frame", ["{not json", "[1]", b"\xff", '{"kind": "x"}'])
def test_a_malformed_frame_of_the_client_is_refused(frame: str | bytes) -> None:
    server = serve()

    async def exercise(client: ClientConnection) -> None:
        await client.send(frame)
        assert (await next_of(client, "error"))["error"]["code"] in ("invalid_json", "invalid_event")

    run_client(server, accept, exercise)
    assert len(server.refusals) == 1
    assert server.received == []


def test_an_injected_failure_is_told_to_the_client() -> None:
    server = serve()
    server.transport.fail_next_call("request_response", ConnectionError("secret"))

    async def scenario(far: ScenarioContext) -> None:
        await far.expect_call(ConnectCall)
        await far.expect_call(RequestResponseCall)
        await far.expect_call(CloseCall)

    async def exercise(client: ClientConnection) -> None:
        await tell(client, "response.create", event_id="mine")
        error = (await next_of(client, "error"))["error"]
        assert (error["code"], error["message"], error["event_id"]) == ("scripted_failure", "ConnectionError", "mine")

    run_client(server, scenario, exercise)


def test_a_call_that_does_not_fit_fails_the_run() -> None:
    async def scenario(far: ScenarioContext) -> None:
        await far.expect_call(ConnectCall)
        await far.expect_call(SendMessageCall)

    async def exercise(client: ClientConnection) -> None:
        await tell(client, "response.create")
        await asyncio.Event().wait()

    with pytest.raises(UnexpectedRealtimeCallError):
        run_client(serve(), scenario, exercise)


@pytest.mark.parametrize(
    ("lost_with", "kind", "code"),
    [
        (None, ConnectionClosedOK, 1000),
        (WireClose(1011, "internal"), ConnectionClosedError, 1011),
        (ConnectionError(), ConnectionClosedError, None),
    ],
)
def test_the_far_side_ends_the_connection_as_the_script_says(
    lost_with: BaseException | None, kind: type[BaseException], code: int | None
) -> None:
    server = serve()

    async def scenario(far: ScenarioContext) -> None:
        await far.expect_call(ConnectCall)

    async def exercise(client: ClientConnection) -> None:
        await next_of(client, "session.created")
        server.transport.disconnect(lost_with)
        with pytest.raises(kind) as caught:
            await next_of(client, "error")
        close = getattr(caught.value, "rcvd", None)
        assert (close.code if close else None) == code

    run_client(server, scenario, exercise)


def test_a_connect_that_the_script_fails_is_refused() -> None:
    server = serve()
    server.transport.fail_next_call("connect", ConnectionError())

    async def scenario(far: ScenarioContext) -> None:
        await far.expect_call(ConnectCall)

    with pytest.raises(InvalidStatus, match="503"):
        run_client(server, scenario, lambda _: asyncio.Event().wait())


def test_a_second_client_is_refused_while_the_first_is_there() -> None:
    server = serve()

    async def exercise(client: ClientConnection) -> None:
        with pytest.raises(InvalidStatus, match="409"):
            await connect(server.url)

    run_client(server, accept, exercise)


@pytest.mark.realtime
def test_a_frame_can_be_held_back_with_those_behind_it() -> None:
    server = serve()

    async def exercise(client: ClientConnection) -> None:
        await next_of(client, "session.created")
        loop = asyncio.get_running_loop()
        started = loop.time()
        server.delay_next_frame(0.05)
        server.transport.emit(CustomEvent(type="late"))
        server.transport.emit(CustomEvent(type="later", data={"a": 1}))
        await next_of(client, "late")
        assert loop.time() - started >= 0.05
        assert (await next_of(client, "later"))["a"] == 1

    run_client(server, accept, exercise)


def test_errors_and_interruptions_have_server_events() -> None:
    server = serve()

    async def exercise(client: ClientConnection) -> None:
        await server.transport.emit(ErrorEvent(error={"code": "busy"}))
        assert (await next_of(client, "error"))["error"]["code"] == "busy"
        await server.transport.emit(AudioInterruptedEvent())
        assert (await next_of(client, "input_audio_buffer.speech_started"))["audio_start_ms"] == 0

    run_client(server, accept, exercise)


def test_an_event_the_wire_does_not_have_is_refused_at_the_emit() -> None:
    server = serve()

    async def exercise(client: ClientConnection) -> None:
        await next_of(client, "session.created")
        with pytest.raises(ScriptTypeError, match="McpToolsListedEvent"):
            await server.transport.emit(McpToolsListedEvent(server_label="s", tools=[]))

    run_client(server, accept, exercise)


def test_a_server_that_does_not_run_has_no_url() -> None:
    with pytest.raises(ScriptValueError):
        _ = serve().url
    assert issubclass(ScriptValueError, VoiceHarnessError)
