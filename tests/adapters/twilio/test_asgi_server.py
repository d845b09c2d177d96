"""The server for applications on loopback: requests, upgrades, and clients that are no good."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from voiceharness.clock import run_real
from voiceharness_adapters.twilio.asgi_server import MAX_BODY, MAX_HEAD, serve_asgi

__all__: list[str] = []

pytestmark = pytest.mark.realtime


class App:
    """Answers requests with what it got, and keeps the websocket events it saw."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.over = asyncio.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            if scope["path"] == "/crash":
                raise ValueError("boom")
            body = (await receive())["body"] + scope["query_string"] + scope["method"].encode()
            await send({"type": "http.response.start", "status": 200, "headers": [(b"x-app", b"yes")]})
            await send({"type": "http.response.body", "body": body})
            return
        self.events.append(await receive())
        await send({"type": "websocket.accept"})
        while (event := await receive())["type"] != "websocket.disconnect":
            self.events.append(event)
            if event.get("text") == "crash":
                raise ValueError("boom")
        self.events.append(event)
        self.over.set()


def exchange(*requests: bytes, app: App | None = None) -> list[bytes]:
    """Send each request on a connection of its own and return all that comes back."""

    async def one(port: int, request: bytes) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request)
        try:
            return await reader.read()
        except ConnectionError:
            return b""
        finally:
            writer.close()

    async def main() -> list[bytes]:
        async with serve_asgi(app or App(), max_message=1000) as port:
            answers = [await one(port, request) for request in requests]
            if app is not None:
                await app.over.wait()
            return answers

    return run_real(main())


def test_a_post_is_answered_and_the_connection_closed() -> None:
    (answer,) = exchange(b"POST /x%20y?q=1 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK\r\nx-app: yes\r\n")
    assert body == b"abcq=1POST"


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"\x16\x03\x01 nonsense\r\n\r\n", b"400"),
        (b"GET http://a/ HTTP/1.1\r\n\r\n", b"400"),
        (b"GET / HTTP/2\r\n\r\n", b"400"),
        (b"POST / HTTP/1.1\r\nContent-Length: many\r\n\r\n", b"400"),
        (b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % (MAX_BODY + 1), b"413"),
        (b"GET / HTTP/1.1\r\nX: " + b"x" * MAX_HEAD, b"431"),
        (b"GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n\r\n", b"426"),
        (b"GET /crash HTTP/1.1\r\nHost: a\r\n\r\n", b"500"),
    ],
    ids=["noise", "proxy", "version", "length", "big body", "big head", "half an upgrade", "crash"],
)
def test_a_bad_request_is_refused_with_its_status(request_: bytes, status: bytes) -> None:
    (answer,) = exchange(request_)
    assert answer.split(b" ")[1] == status


UPGRADE = (
    b"GET /media HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
MASK = bytes(4)


def frame(opcode: int, data: bytes, *, final: bool = True) -> bytes:
    length = bytes([0x80 | len(data)]) if len(data) < 126 else b"\xfe" + len(data).to_bytes(2, "big")
    return bytes([(0x80 if final else 0) | opcode]) + length + MASK + data


CLOSE = frame(8, (1000).to_bytes(2, "big"))


def close_code(answer: bytes) -> int:
    return int.from_bytes(answer[answer.rindex(b"\x88") + 2 :][:2], "big")


def test_messages_arrive_whole_however_they_were_cut() -> None:
    app = App()
    exchange(
        UPGRADE + frame(1, b"he", final=False) + frame(9, b"") + frame(0, b"llo") + frame(2, b"\1") + CLOSE, app=app
    )
    assert app.events == [
        {"type": "websocket.connect"},
        {"type": "websocket.receive", "text": "hello"},
        {"type": "websocket.receive", "bytes": b"\1"},
        {"type": "websocket.disconnect", "code": 1000, "reason": ""},
    ]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (frame(1, b"x" * 1001), 1009),
        (frame(1, b"\xff"), 1007),
        (frame(9, b"", final=False), 1002),
        (bytes([0x81, 1, 65]), 1002),
        (frame(3, b""), 1002),
        (frame(1, b"crash"), 1011),
    ],
    ids=["too big", "not UTF-8", "a ping in pieces", "unmasked", "an unknown opcode", "crash"],
)
def test_a_bad_frame_closes_with_its_code(data: bytes, code: int) -> None:
    """Case B33: an over-size message is 1009, and no crash."""
    (answer,) = exchange(UPGRADE + data)
    assert answer.startswith(b"HTTP/1.1 101")
    assert close_code(answer) == code
