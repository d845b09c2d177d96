"""The scripted transport behind a real websocket."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("agents")
pytest.importorskip("websockets")

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosedError, ConnectionClosedOK, InvalidStatus

from tests.scripted.wire.serving import accept, next_of, run_client, serve, tell
from voiceharness.errors import VoiceHarnessError
from voiceharness.scripted.calls import (
    CloseCall,
    ConnectCall,
    InterruptCall,
    RequestResponseCall,
    SendEventCall,
    SendMessageCall,
    UpdateSessionConfigCall,
)
from voiceharness.scripted.errors import ScriptTypeError, ScriptValueError, UnexpectedRealtimeCallError
from voiceharness.scripted.inbound import (
    AudioInterruptedEvent,
    CustomEvent,
    ErrorEvent,
    McpToolsListedEvent,
    TurnDoneEvent,
    TurnStartedEvent,
)
from voiceharness.scripted.wire.server import RealtimeWireServer, WireClose

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

    from voiceharness.scripted.run import ScenarioContext

__all__: list[str] = []


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
