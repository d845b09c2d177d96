"""A server for one ASGI application: enough of HTTP/1.1 for webhooks, and websockets. For agents that we serve.

Each connection is one request (``Connection: close``). Bodies need a Content-Length and are bounded; so is a websocket
message. Nothing here is meant for the open internet.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from http.client import HTTPException, parse_headers
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import unquote

from voiceharness.errors import MissingExtraError
from voiceharness.listening import stop_listening

try:
    from websockets.server import ServerProtocol
except ImportError as _missing:
    raise MissingExtraError("serving an agent over the network needs websockets", extra="twilio") from _missing

from voiceharness_adapters.twilio.ws_connection import WebSocketConnection

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine

    from websockets.http11 import Request, Response

    from voiceharness_adapters.twilio.asgi_door import AsgiApplication, Event
    from voiceharness_adapters.twilio.door import Closed

__all__ = ["serve_asgi"]

logger = logging.getLogger(__name__)

MAX_HEAD: Final = 32 * 1024
MAX_BODY: Final = 256 * 1024
MAX_MESSAGE: Final = 1 << 20
HEAD_TIMEOUT: Final = 10.0
FINISH_TIMEOUT: Final = 1.0
ASGI: Final = {"version": "3.0", "spec_version": "2.4"}


@asynccontextmanager
async def serve_asgi(
    app: AsgiApplication, *, host: str = "127.0.0.1", port: int = 0, max_message: int = MAX_MESSAGE
) -> AsyncIterator[int]:
    """Serve an application while the context lasts; yields the port. Its connections are ended with it."""
    alive: set[_Connection] = set()
    closing = asyncio.Event()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: _Connection(app, max_message, alive, closing), host, port, start_serving=False
    )
    try:
        await server.start_serving()  # by itself: who is cancelled while it starts still closes it
        yield server.sockets[0].getsockname()[1]
    finally:
        closing.set()
        await stop_listening(server)
        for connection in tuple(alive):
            await connection.end()
        await server.wait_closed()


class _Connection(asyncio.Protocol):
    """One connection: its head decides whether it is a request or a websocket. It is ``alive`` until its task ends.

    One that was accepted just before the server was closed is dropped.
    """

    def __init__(self, app: AsgiApplication, max_message: int, alive: set[_Connection], closing: asyncio.Event) -> None:
        loop = asyncio.get_running_loop()
        self.finished: asyncio.Future[None] = loop.create_future()
        self._app = app
        self._max_message = max_message
        self._alive = alive
        self._closing = closing
        self._transport: asyncio.Transport | None = None
        self._data = bytearray()
        self._task: asyncio.Task[None] | None = None
        self._timer = loop.call_later(HEAD_TIMEOUT, self.abort)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is none by its class
        self._alive.add(self)
        if self._closing.is_set():
            self.abort()

    def data_received(self, data: bytes) -> None:
        self._data += data
        end = self._data.find(b"\r\n\r\n")
        if self._task is not None:
            return
        if end < 0:
            if len(self._data) > MAX_HEAD:
                self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
            return
        try:
            scope = _scope(bytes(self._data[: end + 4]), self._addresses())
        except (ValueError, HTTPException):
            self._refuse(HTTPStatus.BAD_REQUEST)
            return
        if scope["type"] == "websocket":
            self._upgrade(scope, end + 4)
        else:
            self._request(scope, end + 4)

    def connection_lost(self, _error: Exception | None) -> None:
        self._timer.cancel()
        if not self.finished.done():
            self.finished.set_result(None)
        if self._task is None:
            self._alive.discard(self)

    def _run(self, work: Coroutine[Any, Any, None], name: str) -> None:
        self._task = asyncio.get_running_loop().create_task(work, name=name)
        self._task.add_done_callback(lambda _task: self._alive.discard(self))

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    async def end(self) -> None:
        """Cancel what is being served and drop the connection; who is only tidying up may finish."""
        if self._task is not None:
            await asyncio.wait([self._task], timeout=FINISH_TIMEOUT if self.finished.done() else 0)
            self._task.cancel()
            await asyncio.wait([self._task])
        self.abort()
        await asyncio.wait([self.finished])

    def _addresses(self) -> tuple[Any, Any]:
        assert self._transport is not None
        return self._transport.get_extra_info("peername"), self._transport.get_extra_info("sockname")

    # Requests

    def _request(self, scope: Event, start: int) -> None:
        length = dict(scope["headers"]).get(b"content-length", b"0")
        if not length.isdigit() or int(length) > MAX_BODY:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE if length.isdigit() else HTTPStatus.BAD_REQUEST)
        elif len(self._data) >= start + int(length):
            body = bytes(self._data[start : start + int(length)])
            self._run(self._answer(scope, body), "http request")

    async def _answer(self, scope: Event, body: bytes) -> None:
        waiting: list[Event] = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> Event:
            if not waiting:
                await asyncio.wait([self.finished])
            return waiting.pop() if waiting else {"type": "http.disconnect"}

        try:
            await self._app(scope, receive, self._send)
        except Exception:  # supervision point: a request that fails must not end the server
            logger.exception("the application failed on %s %s", scope["method"], scope["path"])
            self._refuse(HTTPStatus.INTERNAL_SERVER_ERROR)
        self._hang_up()

    async def _send(self, event: Event) -> None:
        if self._transport is None or self.finished.done():
            raise OSError("the client is gone")
        if event["type"] == "http.response.start":
            lines = [f"HTTP/1.1 {event['status']} {_phrase(event['status'])}".encode()]
            lines += [bytes(name) + b": " + bytes(value) for name, value in event.get("headers", ())]
            self._transport.write(b"\r\n".join([*lines, b"Connection: close", b"", b""]))
        else:
            self._transport.write(event.get("body", b""))

    def _refuse(self, status: HTTPStatus) -> None:
        if self._transport is not None:
            self._transport.write(f"HTTP/1.1 {status} {status.phrase}\r\nConnection: close\r\n\r\n".encode())
            self._hang_up()

    def _hang_up(self) -> None:
        if self._transport is not None:
            self._transport.close()

    # Websockets

    def _upgrade(self, scope: Event, start: int) -> None:
        assert self._transport is not None
        self._timer.cancel()
        upgrade = _Upgrade(self._app, scope, self._max_message)
        self._transport.set_protocol(upgrade.connection)
        upgrade.connection.connection_made(self._transport)
        upgrade.connection.lost.add_done_callback(lambda _future: self.connection_lost(None))
        upgrade.connection.data_received(bytes(self._data[:start]))
        upgrade.connection.hold(bytes(self._data[start:]))
        self._run(upgrade.serve(), "websocket")


class _Upgrade:
    """A websocket of the application: its ASGI face, and the listener of its connection."""

    def __init__(self, app: AsgiApplication, scope: Event, max_message: int) -> None:
        self._protocol = ServerProtocol(max_size=max_message)
        self.connection = WebSocketConnection(self._protocol, self)
        self._app = app
        self._scope = scope
        self._request: Request | None = None
        self._accepted = False
        self._events: asyncio.Queue[Event] = asyncio.Queue()
        self._events.put_nowait({"type": "websocket.connect"})

    def handshake(self, message: Request | Response) -> None:
        """Keep the client's request until the application accepts it."""
        self._request = message  # type: ignore[assignment] # a server is only ever sent requests

    async def serve(self) -> None:
        """Run the application; whatever it leaves open is closed after it."""
        if self._request is None:
            self._reject(HTTPStatus.BAD_REQUEST)
            return
        code = 1000
        try:
            await self._app(self._scope, self._events.get, self._send)
        except OSError:
            return  # the client is gone: the application could not know
        except Exception:  # supervision point: a stream that fails must not end the server
            logger.exception("the application failed on the websocket %s", self._scope["path"])
            code = 1011
        finally:
            if self._accepted:
                self.connection.close(code)
            else:
                self._reject(HTTPStatus.FORBIDDEN)

    async def _send(self, event: Event) -> None:
        kind = event["type"]
        if kind == "websocket.accept" and self._request is not None:
            self._protocol.send_response(self._protocol.accept(self._request))
            self.connection.flush()
            self._accepted = True
            if self._protocol.handshake_exc is not None:
                raise OSError(f"the client's handshake was wrong: {self._protocol.handshake_exc}")
            self.connection.listen(self)
        elif kind == "websocket.send":
            text = event.get("text")
            if not self.connection.send(event["bytes"] if text is None else text):
                raise OSError("the client has closed this websocket")
        elif kind == "websocket.close" and self._accepted:
            self.connection.close(event.get("code", 1000), event.get("reason") or "")

    def _reject(self, status: HTTPStatus) -> None:
        self._protocol.send_response(self._protocol.reject(status, ""))
        self.connection.flush()
        self.connection.close()

    def stream_message(self, data: str | bytes, _at_ns: int) -> None:
        """Hand a message to the application."""
        self._events.put_nowait({"type": "websocket.receive", "text" if isinstance(data, str) else "bytes": data})

    def stream_closed(self, closed: Closed) -> None:
        """Tell the application that the client is gone."""
        self._events.put_nowait({"type": "websocket.disconnect", "code": closed.code, "reason": closed.reason})


def _scope(head: bytes, addresses: tuple[Any, Any]) -> dict[str, Any]:
    """Read a request's head.

    Raises:
        ValueError, HTTPException: if it is none.
    """
    line, _, rest = head.partition(b"\r\n")
    method, target, version = line.decode("ascii").split(" ")
    if not version.startswith("HTTP/1.") or not target.startswith("/"):
        raise ValueError(f"no request: {line!r}")
    headers = [
        (name.lower().encode("latin-1"), value.encode("latin-1"))
        for name, value in parse_headers(BytesIO(rest)).items()
    ]
    path, _, query = target.partition("?")
    upgrade = dict(headers).get(b"upgrade", b"").lower() == b"websocket"
    scope: dict[str, Any] = {
        "type": "websocket" if upgrade else "http",
        "asgi": ASGI,
        "http_version": version.removeprefix("HTTP/"),
        "scheme": "ws" if upgrade else "http",
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": headers,
        "client": addresses[0],
        "server": addresses[1],
        "state": {},
    }
    return {**scope, "subprotocols": []} if upgrade else {**scope, "method": method}


def _phrase(status: int) -> str:
    with suppress(ValueError):
        return HTTPStatus(status).phrase
    return ""
