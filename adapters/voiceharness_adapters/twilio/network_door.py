"""The way to an agent's server over the network."""

from __future__ import annotations

import asyncio
import ssl
from contextlib import suppress
from functools import partial
from http.client import HTTPException, HTTPResponse
from importlib.util import find_spec
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from voiceharness.errors import CallRejectedError, ConnectError, MissingExtraError

try:
    from websockets.client import ClientProtocol
    from websockets.exceptions import InvalidURI, WebSocketException
    from websockets.uri import parse_uri
except ImportError as _missing:
    raise MissingExtraError("a media stream over the network needs websockets", extra="twilio") from _missing

from voiceharness_adapters.twilio.door import MAX_ANSWER, TIMEOUT, HttpAnswer
from voiceharness_adapters.twilio.urls import STREAM_SCHEMES, why_no_url
from voiceharness_adapters.twilio.ws_connection import WebSocketConnection

if TYPE_CHECKING:
    from websockets.http11 import Request, Response

    from voiceharness_adapters.twilio.door import Headers, StreamListener, StreamSocket

__all__ = ["NetworkDoor"]

MAX_FRAME: Final = 16 << 20


class NetworkDoor:
    """One agent's server, by URL."""

    def __init__(self) -> None:
        self._connections: list[StreamSocket] = []

    async def request(self, method: str, url: str, headers: Headers, body: bytes) -> HttpAnswer:
        """Send a request on a connection of its own; redirects are told, not followed, and no proxy is asked."""
        try:
            async with asyncio.timeout(TIMEOUT):
                return await _exchange(method, url, headers, body)
        except TimeoutError as error:
            raise ConnectError(f"the webhook {url} did not answer within {TIMEOUT:g} s") from error
        except (OSError, ValueError, HTTPException) as error:
            raise ConnectError(f"the webhook {url} could not be reached: {error or type(error).__name__}") from error

    async def open_stream(self, url: str, headers: Headers, listener: StreamListener) -> StreamSocket:
        """Open a websocket without compression, as the carrier does."""
        if wrong := why_no_url(url, STREAM_SCHEMES):
            raise ConnectError(f"no stream can be opened: its URL {wrong}")
        try:
            async with asyncio.timeout(TIMEOUT):
                connection = await _open(url, headers, listener)
        except TimeoutError as error:
            raise ConnectError(f"{url} did not answer within {TIMEOUT:g} s") from error
        except OSError as error:
            raise ConnectError(f"nobody could be reached at {url}: {error}") from error
        self._connections.append(connection)
        return connection

    async def close(self) -> None:
        """Close what is still open."""
        for connection in self._connections:
            connection.close()
            await connection.wait_closed(TIMEOUT)


async def _open(url: str, headers: Headers, listener: StreamListener) -> StreamSocket:
    """Open a websocket in the fastest way that is installed."""
    if find_spec("picows") is not None:
        from voiceharness_adapters.twilio.fast_socket import open_fast

        return await open_fast(url, headers, listener, timeout=TIMEOUT, max_frame=MAX_FRAME)
    connection = await _Opening(url, headers).open()
    connection.listen(listener)
    return connection


class _Opening:
    """The handshake of one connection."""

    def __init__(self, url: str, headers: Headers) -> None:
        self._url = url
        try:
            self._uri = parse_uri(url)
        except InvalidURI as error:
            raise ConnectError(f"{url} cannot be dialled: {error}") from error
        self._protocol = ClientProtocol(self._uri, max_size=MAX_FRAME)
        self._request = self._protocol.connect()
        for name, value in headers:
            self._request.headers[name] = value
        self._answered: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def open(self) -> WebSocketConnection:
        loop = asyncio.get_running_loop()
        context = ssl.create_default_context() if self._uri.secure else None
        make = partial(WebSocketConnection, self._protocol, self)
        transport, connection = await loop.create_connection(make, self._uri.host, self._uri.port, ssl=context)
        try:
            self._protocol.send_request(self._request)
            connection.flush()
            await asyncio.wait([self._answered, connection.lost], return_when=asyncio.FIRST_COMPLETED)
            if not self._answered.done():
                failure: Any = self._protocol.handshake_exc
                raise ConnectError(f"{self._url} broke off the handshake: {failure or 'it closed'}") from failure
            self._answered.result()
        except BaseException:
            transport.abort()
            self._answered.cancel()
            raise
        return connection

    def handshake(self, message: Request | Response) -> None:
        """Take the server's answer."""
        status: int = getattr(message, "status_code", 0)
        failure: WebSocketException | Exception | None = self._protocol.handshake_exc
        if failure is None:
            self._answered.set_result(None)
        elif status != 101:
            self._answered.set_exception(
                CallRejectedError(f"the agent refused the stream {self._url} with HTTP {status}", code=status)
            )
        else:
            error = ConnectError(f"{self._url} answered the handshake wrongly: {failure}")
            error.__cause__ = failure
            self._answered.set_exception(error)


async def _exchange(method: str, url: str, headers: Headers, body: bytes) -> HttpAnswer:
    parts = urlsplit(url)
    context = ssl.create_default_context() if parts.scheme == "https" else None
    port = parts.port or (443 if context else 80)
    reader, writer = await asyncio.open_connection(parts.hostname, port, ssl=context)
    try:
        own = [("Host", parts.netloc), ("Connection", "close"), ("Content-Length", str(len(body)))]
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in (*own, *headers)), "", ""]
        writer.write("\r\n".join(lines).encode("latin-1") + body)
        received = bytearray()
        while piece := await reader.read(1 << 16):
            received += piece
            if len(received) > MAX_ANSWER:
                raise ValueError(f"it answers with more than {MAX_ANSWER} bytes")
        return _parsed(method, bytes(received))
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


def _parsed(method: str, received: bytes) -> HttpAnswer:
    response = HTTPResponse(_Received(received), method=method)  # type: ignore[arg-type] # all it wants is makefile()
    response.begin()
    return HttpAnswer(
        response.status, response.getheader("Content-Type", ""), response.read(), response.getheader("Location", "")
    )


class _Received:
    """What was received, as ``http.client`` takes it from a socket."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def makefile(self, _mode: str) -> BytesIO:
        return BytesIO(self._data)
