"""One websocket over a transport, for either end: the ``websockets`` library's protocol without its own I/O.

Theory of operation. ``websockets`` parses and writes frames (RFC 6455); this class moves the bytes, stamps each arrival
before anything is decoded, joins fragments, and hands messages on at once, without a task or a queue between. Sending
never waits: what the far side does not read is kept by the transport up to ``MAX_UNREAD`` bytes, then the connection
counts as broken. A ping goes out every ``PING_EVERY`` seconds; who does not answer it before the next is gone.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final, Protocol, cast

from websockets.frames import Frame, Opcode
from websockets.protocol import State

from voiceharness.clock import NS
from voiceharness.errors import CallDroppedError
from voiceharness_adapters.twilio.door import Closed

if TYPE_CHECKING:
    from websockets.http11 import Request, Response
    from websockets.protocol import Protocol as SansIO

    from voiceharness_adapters.twilio.door import StreamListener

__all__ = ["Handshake", "WebSocketConnection"]

logger = logging.getLogger(__name__)

MAX_UNREAD: Final = 4 << 20
PING_EVERY: Final = 20.0
CLOSE_TIMEOUT: Final = 1.0


class Handshake(Protocol):
    """Who deals with what comes before the first frame."""

    def handshake(self, message: Request | Response) -> None:
        """Take the far side's part of the handshake."""


class WebSocketConnection(asyncio.Protocol):
    """A websocket. It is a transport's protocol, and a :class:`StreamSocket`."""

    def __init__(self, sans_io: SansIO, handshake: Handshake) -> None:
        self._sans_io = sans_io
        self._handshake = handshake
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._listener: StreamListener | None = None
        self._fragments: list[bytes] = []
        self._fragments_are_text = False
        self._early: list[tuple[str | bytes, int]] = []
        self._held: bytearray | None = None
        self._pinged = False
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._failure: str | None = None
        self.lost: asyncio.Future[None] = self._loop.create_future()

    # The transport's face

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the transport."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is none by its class

    def data_received(self, data: bytes) -> None:
        """Take bytes."""
        at_ns = round(self._loop.time() * NS)
        if self._held is not None:
            self._held += data
            return
        self._sans_io.receive_data(data)
        for event in self._sans_io.events_received():
            if isinstance(event, Frame):
                self._take(event, at_ns)
            else:
                self._handshake.handshake(event)
        self.flush()

    def hold(self, data: bytes) -> None:
        """Keep these bytes, and all that follow, until there is a listener: the handshake has not been answered yet."""
        self._held = bytearray(data)

    def eof_received(self) -> None:
        """Take the end of the bytes."""
        self._sans_io.receive_eof()
        self.flush()

    def connection_lost(self, error: Exception | None) -> None:
        """Tell the listener how it ended."""
        for timer in self._timers.values():
            timer.cancel()
        if self._sans_io.state is not State.CLOSED:
            self._sans_io.receive_eof()
        if not self.lost.done():
            self.lost.set_result(None)
        if self._listener is not None:
            self._listener.stream_closed(self._closed(error))

    def _closed(self, error: Exception | None) -> Closed:
        received = self._sans_io.close_rcvd
        if received is not None:
            return Closed(received.code, received.reason)
        why = self._failure or (str(error) if error else "") or str(self._sans_io.parser_exc or "")
        if self._sans_io.close_sent is not None and not why:
            return Closed(1006, "the far side never confirmed that it is closed")
        text = f"the agent's websocket broke: {why or 'it went away without a close'}"
        dropped = CallDroppedError(text)
        dropped.__cause__ = error or self._sans_io.parser_exc
        return Closed(1006, why, dropped)

    # A stream socket's face

    def listen(self, listener: StreamListener) -> None:
        """Hand messages to a listener from now on, those that were early first."""
        self._listener = listener
        self._timers["ping"] = self._loop.call_later(PING_EVERY, self._ping)
        early, self._early = self._early, []
        for data, at_ns in early:
            listener.stream_message(data, at_ns)
        if self._held is not None:
            held, self._held = bytes(self._held), None
            self.data_received(held)

    def send(self, message: str | bytes) -> bool:
        """Send a message, text or binary."""
        if self._sans_io.state is not State.OPEN or self.lost.done():
            return False
        if isinstance(message, str):
            self._sans_io.send_text(message.encode())
        else:
            self._sans_io.send_binary(message)
        self.flush()
        return True

    def close(self, code: int = 1000, reason: str = "") -> None:
        """Begin to close; a far side that does not answer is cut off."""
        if self._sans_io.state is State.OPEN:
            self._sans_io.send_close(code, reason)
            self.flush()
        self._abort_after(CLOSE_TIMEOUT)

    async def wait_closed(self, timeout: float) -> bool:
        """Wait until the connection is gone; cut it off if it is not in time."""
        await asyncio.wait([self.lost], timeout=timeout)
        return self.lost.done()

    def flush(self) -> None:
        """Write what the protocol has to say."""
        transport = self._transport
        if transport is None:
            return
        for data in self._sans_io.data_to_send():
            if data:
                transport.write(data)
            elif transport.can_write_eof():
                transport.write_eof()
        if transport.get_write_buffer_size() > MAX_UNREAD:
            self._fail(f"it does not read: more than {MAX_UNREAD} bytes wait for it")
        elif self._sans_io.close_expected():
            self._abort_after(CLOSE_TIMEOUT)

    def _take(self, frame: Frame, at_ns: int) -> None:
        match frame.opcode:
            case Opcode.TEXT | Opcode.BINARY | Opcode.CONT:
                self._take_data(frame, at_ns)
            case Opcode.PONG:
                self._pinged = False

    def _take_data(self, frame: Frame, at_ns: int) -> None:
        if frame.opcode is not Opcode.CONT:
            self._fragments_are_text = frame.opcode is Opcode.TEXT
        self._fragments.append(bytes(frame.data))
        if not frame.fin:
            return
        joined = self._fragments[0] if len(self._fragments) == 1 else b"".join(self._fragments)
        self._fragments.clear()
        try:
            data = joined.decode() if self._fragments_are_text else joined
        except UnicodeDecodeError as error:
            self._sans_io.fail(1007, str(error)[:100])
            self._failure = f"a text message that is not UTF-8: {error}"
            return
        if self._listener is None:
            self._early.append((data, at_ns))
        else:
            self._listener.stream_message(data, at_ns)

    # Who is gone

    def _ping(self) -> None:
        if self._pinged:
            self._fail(f"it did not answer a ping within {PING_EVERY:g} s")
        elif self._sans_io.state is State.OPEN:
            self._pinged = True
            self._sans_io.send_ping(b"")
            self.flush()
            self._timers["ping"] = self._loop.call_later(PING_EVERY, self._ping)

    def _abort_after(self, seconds: float) -> None:
        if self._transport is not None and not self.lost.done() and "abort" not in self._timers:
            self._timers["abort"] = self._loop.call_later(seconds, self._transport.abort)

    def _fail(self, why: str) -> None:
        self._failure = self._failure or why
        logger.debug("websocket fails: %s", why)
        if self._transport is not None:
            self._transport.abort()
