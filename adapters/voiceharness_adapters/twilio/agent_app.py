"""A :class:`PhoneAgent` as a Twilio agent: an ASGI application with a voice webhook and a media stream.

Any POST is answered with ``<Connect><Stream>``, which leads to this application's own websocket. There the agent gets
what the carrier sends, and what it sends goes to the carrier. Words and turn ends have no message in this protocol and
are left out. With a token, requests that are not signed over the public URL are refused, as an agent should, and so
are, with ``announced_only``, streams of calls that no webhook request has announced.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl

from voiceharness.agent import AgentCall, PhoneAgent, serve
from voiceharness.audio import g711
from voiceharness.audio.chunk import AudioChunk
from voiceharness.clock import LoopClock
from voiceharness.errors import AgentCrashedError, RemoteProtocolError, UnsupportedCapabilityError
from voiceharness.events import CallEnded, Digit, EndOfStream, Flush, Interrupted, Mark, MarkPlayed, RemoteHangup
from voiceharness.protocols.media_streams import messages
from voiceharness.protocols.media_streams.dialects import TWILIO
from voiceharness.protocols.media_streams.machine import AgentEnd
from voiceharness.protocols.media_streams.signature import SIGNATURE_HEADER, is_signed
from voiceharness.protocols.media_streams.twiml import connect_stream
from voiceharness_adapters.twilio.json_reader import fastest_loads

if TYPE_CHECKING:
    from voiceharness.agent import AgentItem
    from voiceharness.protocols.media_streams.vocabulary import Dialect

__all__ = ["TwilioAgentApp"]

logger = logging.getLogger(__name__)

Scope = MutableMapping[str, Any]  # Any: ASGI's scopes and events have values of many types
Receive = Callable[[], Awaitable[Scope]]
Send = Callable[[Scope], Awaitable[None]]

PIECE: Final = 8000 * 5
"""Audio of one message at most, in bytes: five seconds."""

SILENCE: Final = b"\xff"
MAX_FORM: Final = 64 * 1024
MAX_CALLS: Final = 10_000


class TwilioAgentApp:
    """Serves an agent to every call that comes in.

    ``public_url`` is how the carrier reaches this server (``https://host``), for the TwiML and for signatures; None:
    as the request says. ``goodbye``: seconds that the agent may go on after its call has ended.
    """

    def __init__(
        self,
        agent: PhoneAgent,
        *,
        token: str | None = None,
        public_url: str | None = None,
        dialect: Dialect = TWILIO,
        goodbye: float = 1.0,
        announced_only: bool = False,
    ) -> None:
        self._announced: dict[str, None] | None = {} if announced_only else None
        self._agent = agent
        self._token = token
        self._public_url = public_url
        self._dialect = dialect
        self._goodbye = goodbye

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection."""
        match scope["type"]:
            case "lifespan":
                await _lifespan(receive, send)
            case "http":
                await self._webhook(scope, receive, send)
            case "websocket":
                await self._stream(scope, receive, send)

    async def _webhook(self, scope: Scope, receive: Receive, send: Send) -> None:
        form = parse_qsl((await _body(receive)).decode("utf-8", "replace"), keep_blank_values=True)
        if not self._is_signed(scope, form):
            await _respond(send, 403, b"")
            return
        self._announce(dict(form).get("CallSid", ""))
        await _respond(send, 200, connect_stream(self._url(scope, stream=True)).encode())

    async def _stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self._is_signed(scope, []):
            await send({"type": "websocket.close", "code": 1008})
            return
        await receive()
        await send({"type": "websocket.accept"})
        end = AgentEnd(dialect=self._dialect, loads=fastest_loads())
        await _Conversation(end, receive, send, self._is_announced).run(self._agent, self._goodbye)

    def _announce(self, call: str) -> None:
        """Expect a stream of a call; the oldest of very many calls is forgotten."""
        if self._announced is not None:
            self._announced[call] = None
            if len(self._announced) > MAX_CALLS:
                del self._announced[next(iter(self._announced))]

    def _is_announced(self, call: str) -> bool:
        return self._announced is None or call in self._announced

    def _is_signed(self, scope: Scope, form: list[tuple[str, str]]) -> bool:
        if self._token is None:
            return True
        given = _headers(scope).get(SIGNATURE_HEADER.lower())
        return is_signed(given, self._token, self._url(scope, stream=scope["type"] == "websocket"), form)

    def _url(self, scope: Scope, *, stream: bool) -> str:
        """Return the URL by which the carrier reaches this path."""
        own = f"{scope['scheme']}://{_headers(scope).get('host', 'localhost')}"
        base = (self._public_url or own).rstrip("/")
        if stream and base.startswith("http"):
            base = "ws" + base.removeprefix("http")
        query = scope["query_string"].decode("latin-1")
        return f"{base}{scope['path']}" + (f"?{query}" if query else "")


class _Conversation:
    """One stream, as the agent's end of it."""

    def __init__(self, end: AgentEnd, receive: Receive, send: Send, is_announced: Callable[[str], bool]) -> None:
        self._end = end
        self._is_announced = is_announced
        self._receive = receive
        self._send = send
        self._closed = False

    async def run(self, agent: PhoneAgent, goodbye: float) -> None:
        """Serve the agent from ``start`` until either side ends the call, or the carrier breaks the protocol."""
        try:
            if not await self._started():
                return
        except RemoteProtocolError as error:
            await self._refuse(error)
            return
        call = AgentCall(LoopClock())
        tasks = [
            asyncio.create_task(serve(agent, call), name="agent"),
            asyncio.create_task(self._listen(call), name="from the carrier"),
        ]
        try:
            await self._talk(call)
        finally:
            call.deliver(CallEnded("the stream is over"))
            await asyncio.wait(tasks[:1], timeout=goodbye)
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def _started(self) -> bool:
        """Wait for ``start``; False if the carrier went away first."""
        while self._end.started is None:
            event = await self._receive()
            if event["type"] == "websocket.disconnect":
                return False
            outcome = self._judge(event)
            if not isinstance(outcome, messages.Connected | messages.Start):
                raise RemoteProtocolError(f"the carrier began a stream with {outcome}")
        if not self._is_announced(self._end.started.call):
            raise RemoteProtocolError("a stream began of a call that no request has announced")
        return True

    def _judge(self, event: Scope) -> messages.Message:
        """Read a message.

        Raises:
            RemoteProtocolError: if it cannot be used.
        """
        text = event.get("text")
        outcome = self._end.receive(event["bytes"] if text is None else text)
        if isinstance(outcome, messages.Violation):
            if outcome.salvaged is None:
                raise RemoteProtocolError(f"the carrier broke the protocol: {outcome.kind}: {outcome.detail}")
            return outcome.salvaged
        return outcome

    async def _listen(self, call: AgentCall) -> None:
        try:
            while not call.ended:
                event = await self._receive()
                if event["type"] == "websocket.disconnect":
                    break
                self._deliver(self._judge(event), call)
        except RemoteProtocolError as error:
            call.deliver(CallEnded(str(error)))
            await self._refuse(error)
        call.deliver(CallEnded("the carrier ended the stream"))

    async def _refuse(self, error: RemoteProtocolError) -> None:
        """Close because of what the carrier sent: that is its fault, not the agent's."""
        logger.warning("%s", error)
        self._closed = True
        with suppress(OSError):
            await self._send({"type": "websocket.close", "code": 1002, "reason": "protocol violation"})

    def _deliver(self, message: messages.Message, call: AgentCall) -> None:
        match message:
            case messages.Media(payload=payload, timestamp_ms=timestamp_ms):
                position = None if timestamp_ms is None else timestamp_ms * 8
                silent = payload == SILENCE * len(payload)  # most of the time, as the user listens
                pcm = bytes(2 * len(payload)) if silent else g711.decode(payload)
                call.deliver(AudioChunk(pcm, 8000, position))
            case messages.Dtmf(digit=digit):
                call.deliver(Digit(digit))
            case messages.Mark(name=name):
                call.deliver(MarkPlayed(name))
            case messages.Clear():
                call.deliver(Interrupted())
            case messages.Stop():
                call.deliver(CallEnded("the carrier stopped the stream"))

    async def _talk(self, call: AgentCall) -> None:
        """Send what the agent sends until it, or the carrier, has ended the call."""
        try:
            while not isinstance(item := await call.sent(), EndOfStream | RemoteHangup):
                for text in self._texts(item):
                    await self._send({"type": "websocket.send", "text": text})
            if not self._closed:
                await self._send({"type": "websocket.close", "code": 1000})
        except OSError:
            return  # the carrier was faster: there is nobody left to tell
        except AgentCrashedError as error:
            raise error.__cause__ or error from None

    def _texts(self, item: AgentItem) -> list[str]:
        match item:
            case AudioChunk():
                payload = g711.encode(item.pcm)
                return [self._end.media(payload[start : start + PIECE]) for start in range(0, len(payload), PIECE)]
            case Flush():
                return [self._end.clear()]
            case Mark(name=name):
                return [self._end.mark(name)]
            case Digit():
                raise UnsupportedCapabilityError(
                    adapter="twilio",
                    capability="digits from the agent in a media stream",
                    alternative="let the agent update the call by REST, with <Play digits>",
                )
        return []


async def _lifespan(receive: Receive, send: Send) -> None:
    for phase in ("startup", "shutdown"):
        await receive()
        await send({"type": f"lifespan.{phase}.complete"})


async def _body(receive: Receive) -> bytes:
    body = bytearray()
    while True:
        event = await receive()
        body += event.get("body", b"")
        if not event.get("more_body") or len(body) > MAX_FORM:
            return bytes(body)


async def _respond(send: Send, status: int, body: bytes) -> None:
    headers = [(b"content-type", b"text/xml"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _headers(scope: Scope) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
