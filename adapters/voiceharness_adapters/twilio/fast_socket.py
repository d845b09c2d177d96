"""A websocket by ``picows`` (extra ``fast``): the same as the other, for hundreds of calls in one process.

It parses and writes frames in C, and calls back without a task, so that a frame costs about half.
"""

from __future__ import annotations

import asyncio
import ssl
from typing import TYPE_CHECKING, Final, cast

import picows

from voiceharness.clock import NS
from voiceharness.errors import CallDroppedError, CallRejectedError, ConnectError
from voiceharness_adapters.twilio.door import Closed

if TYPE_CHECKING:
    from voiceharness_adapters.twilio.door import Headers, StreamListener

__all__ = ["FastSocket", "open_fast"]

PING_EVERY: Final = 20.0
CLOSE_TIMEOUT: Final = 1.0
MAX_UNREAD: Final = 4 << 20
NO_CODE: Final = 1006
NO_STATUS: Final = 1005


async def open_fast(
    url: str, headers: Headers, listener: StreamListener, *, timeout: float, max_frame: int
) -> FastSocket:
    """Open a websocket.

    Raises:
        CallRejectedError: if the upgrade is refused, with the HTTP status.
        ConnectError: if the answer is none.
        OSError, TimeoutError: if nobody is there.
    """
    socket = FastSocket(listener)
    try:
        await picows.ws_connect(
            lambda: socket,
            url,
            ssl_context=ssl.create_default_context() if url.startswith("wss:") else None,
            websocket_handshake_timeout=timeout,
            enable_auto_ping=True,
            auto_ping_idle_timeout=PING_EVERY,
            auto_ping_reply_timeout=PING_EVERY,
            max_frame_size=max_frame,
            extra_headers=headers,
            max_redirects=0,
        )
    except picows.WSHandshakeError as error:
        status = 0 if error.response is None else int(error.response.status)
        if status and status != 101:
            raise CallRejectedError(f"the agent refused the stream {url} with HTTP {status}", code=status) from error
        raise ConnectError(f"{url} answered the handshake wrongly: {error}") from error
    return socket


class FastSocket(picows.WSListener):
    """A :class:`StreamSocket`."""

    def __init__(self, listener: StreamListener) -> None:
        self._listener = listener
        self._loop = asyncio.get_running_loop()
        self._transport: picows.WSTransport | None = None
        self._fragments: list[bytes] = []
        self._is_text = False
        self._closed: Closed | None = None
        self._closing = False
        self._read_ns: int | None = None
        self._abort: asyncio.TimerHandle | None = None
        self._watch: asyncio.Task[None] | None = None
        self._lost: asyncio.Future[None] = self._loop.create_future()

    # The transport's face

    def pause_writing(self) -> None:
        """Go on: what is not read is kept within bounds, and without this its library would warn on the console."""

    def resume_writing(self) -> None:
        """Go on."""

    def on_ws_connected(self, transport: picows.WSTransport) -> None:
        """Take the transport."""
        self._transport = transport
        self._watch = self._loop.create_task(self._until_lost(transport), name="twilio websocket")

    async def _until_lost(self, transport: picows.WSTransport) -> None:
        """Wait for the end, and tell the listener how it ended."""
        why = ""
        try:
            await transport.wait_disconnected()
        except (picows.WSProtocolError, OSError) as error:
            why = str(error)
        except Exception as error:  # supervision point: our own code failed on what came
            self._closed = self._closed or Closed(NO_CODE, "the harness failed", error)
        finally:
            self._over(why or _unanswered_ping(transport) or "it went away without a close")

    def _over(self, why: str) -> None:
        if self._abort is not None:
            self._abort.cancel()
        if not self._lost.done():
            self._lost.set_result(None)
        self._listener.stream_closed(self._closed or self._broken(why))

    def on_ws_frame(self, transport: picows.WSTransport, frame: picows.WSFrame) -> None:
        """Take a frame."""
        at_ns = self._arrived_ns(frame)
        kind = frame.msg_type
        if kind == picows.WSMsgType.CLOSE:
            self._take_close(transport)
        elif kind in (picows.WSMsgType.TEXT, picows.WSMsgType.BINARY, picows.WSMsgType.CONTINUATION):
            if kind != picows.WSMsgType.CONTINUATION:
                self._is_text = kind == picows.WSMsgType.TEXT
            self._fragments.append(frame.get_payload_as_bytes())
            if frame.fin:
                self._take(at_ns)

    def _arrived_ns(self, frame: picows.WSFrame) -> int:
        """Return when a frame arrived: all that were read at once arrived at once, however long the first ones took."""
        if self._read_ns is not None:
            return self._read_ns
        at_ns = round(self._loop.time() * NS)
        if not frame.last_in_buffer:
            self._read_ns = at_ns
            self._loop.call_soon(self._read_all)  # not at the last frame: that may be one that never comes here, a pong
        return at_ns

    def _read_all(self) -> None:
        self._read_ns = None

    def _take_close(self, transport: picows.WSTransport) -> None:
        received = transport.close_handshake.recv
        code, reason = NO_STATUS, ""
        if received is not None:
            code, reason = int(cast("int", received.code)) or NO_STATUS, received.reason
        self._closed = Closed(code, reason)
        if not self._closing:
            transport.send_close(picows.WSCloseCode.OK)
        transport.disconnect()

    def _take(self, at_ns: int) -> None:
        joined = self._fragments[0] if len(self._fragments) == 1 else b"".join(self._fragments)
        self._fragments.clear()
        try:
            data = joined.decode() if self._is_text else joined
        except UnicodeDecodeError as error:
            self._fail(f"a text message that is not UTF-8: {error}")
            return
        self._listener.stream_message(data, at_ns)

    # A stream socket's face

    def send(self, message: str | bytes) -> bool:
        """Send a message, text or binary."""
        transport = self._transport
        if transport is None or self._closing or self._closed is not None or self._lost.done():
            return False
        if isinstance(message, str):
            transport.send(picows.WSMsgType.TEXT, message.encode())
        else:
            transport.send(picows.WSMsgType.BINARY, message)
        if transport.underlying_transport.get_write_buffer_size() > MAX_UNREAD:
            self._fail(f"it does not read: more than {MAX_UNREAD} bytes wait for it")
        return True

    def close(self, code: int = 1000, reason: str = "") -> None:
        """Begin to close; a far side that does not answer is cut off."""
        if self._transport is None or self._closing or self._lost.done():
            return
        self._closing = True
        self._transport.send_close(picows.WSCloseCode(code), reason.encode())
        self._abort = self._loop.call_later(CLOSE_TIMEOUT, self._transport.disconnect, False)

    async def wait_closed(self, timeout: float) -> bool:
        """Wait until the connection is gone."""
        await asyncio.wait([self._lost], timeout=timeout)
        return self._lost.done()

    def _fail(self, why: str) -> None:
        self._closed = self._broken(why)
        if self._transport is not None:
            self._transport.disconnect(False)

    def _broken(self, why: str) -> Closed:
        if self._closing:
            return Closed(NO_CODE, "the far side never confirmed that it is closed")
        return Closed(NO_CODE, why, CallDroppedError(f"the agent's websocket broke: {why}"))


def _unanswered_ping(transport: picows.WSTransport) -> str:
    """Say that the far side did not answer a ping, if that is why this side went away."""
    if not transport.is_close_frame_sent:
        return ""
    sent = transport.close_handshake.sent
    if sent is None or sent.code != picows.WSCloseCode.GOING_AWAY:
        return ""
    return f"it did not answer a ping within {PING_EVERY:g} s"
