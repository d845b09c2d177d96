"""The way to an application in this process: what a server does for it, and what it cannot do to its caller."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from fastapi import FastAPI, Request, Response, WebSocket

from tests.adapters.twilio.wire_agent import STREAM, VOICE, play
from voiceharness.clock import LoopClock, run_virtual
from voiceharness.errors import AgentCrashedError, ConnectError, RemoteProtocolError
from voiceharness.scenario.steps import Hangup, Wait
from voiceharness_adapters.twilio.asgi_door import AsgiDoor

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from voiceharness_adapters.twilio.door import HttpAnswer

__all__: list[str] = []


def asked(app: Any) -> HttpAnswer:
    async def ask() -> HttpAnswer:
        door = AsgiDoor(app)
        try:
            return await door.request("POST", VOICE, [], b"")
        finally:
            await door.close()

    return run_virtual(ask())


async def answers(send: Any, body: bytes = b"<Response/>") -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/xml")]})
    await send({"type": "http.response.body", "body": body})


def answering_after(seconds: float) -> Any:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            await LoopClock().sleep(seconds)
            await answers(send)

    return app


def test_a_webhook_has_as_long_as_the_carrier_waits() -> None:
    assert asked(answering_after(14.9)).status == 200
    with pytest.raises(ConnectError, match="did not answer within 15 s"):
        asked(answering_after(15.1))


def test_a_stream_that_is_never_accepted_is_given_up_when_the_carrier_does() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "websocket":
            await asyncio.Event().wait()

    error = play(app, Wait(1)).result.error
    assert isinstance(error, ConnectError)
    assert f"{STREAM} did not answer within 15 s" in str(error)


def test_an_answer_without_end_is_not_taken() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        await send({"type": "http.response.start", "status": 200, "headers": []})
        while True:
            await send({"type": "http.response.body", "body": bytes(1 << 20), "more_body": True})

    with pytest.raises(ConnectError, match="answers with more than 33554432 bytes"):
        asked(app)


@pytest.mark.parametrize("leaves_at", ["http", "websocket"])
def test_an_application_that_leaves_the_process_has_crashed(leaves_at: str) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == leaves_at:
            raise SystemExit(3)
        if scope["type"] == "http":
            await answers(send, f'<Response><Connect><Stream url="{STREAM}"/></Connect></Response>'.encode())

    error = play(app, Wait(1), url=VOICE).result.error
    assert isinstance(error, AgentCrashedError)
    assert "raised SystemExit" in str(error)


def test_an_application_that_sends_without_end_is_stopped_and_named() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "websocket":
            return
        await send({"type": "websocket.accept"})
        while True:
            await send({"type": "websocket.send", "text": "x"})

    result = play(app, Wait(1)).result
    assert isinstance(result.error, RemoteProtocolError)
    assert "sent more than 100000 messages in a row" in str(result.error)
    assert result.exit_code == 6


def test_what_an_application_keeps_at_its_start_its_requests_find() -> None:
    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[dict[str, str]]:
        yield {"stream": STREAM}

    app = FastAPI(lifespan=lifespan)
    found: list[str] = []

    @app.post("/voice")
    async def voice(request: Request) -> Response:
        document = f'<Response><Connect><Stream url="{request.state.stream}"/></Connect></Response>'
        return Response(document, media_type="text/xml")

    @app.websocket("/media")
    async def media(socket: WebSocket) -> None:
        found.append(socket.state.stream)
        await socket.accept()
        async for _ in socket.iter_text():
            pass

    assert play(app, Wait(0.2), Hangup(), url=VOICE).result.outcome == "passed"
    assert found == [STREAM]
