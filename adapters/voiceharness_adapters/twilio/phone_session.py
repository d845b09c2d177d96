"""One phone call of our own number: the agent's end of the carrier's stream, with our user speaking into it.

The carrier's ``inbound`` track is the agent under test; what we send is played to it. A call may change its stream in
mid-call (keys are pressed by a document that plays them and connects again), so positions go on from stream to stream.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from voiceharness.audio import g711
from voiceharness.audio.chunk import AudioChunk
from voiceharness.errors import CallRejectedError, ConnectError, RemoteProtocolError
from voiceharness.events import Digit, ProtocolFault, RemoteHangup
from voiceharness.inbox import Inbox
from voiceharness.protocols.media_streams import messages
from voiceharness.protocols.media_streams.machine import AgentEnd

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping

    from voiceharness.clock import Clock

    Event = MutableMapping[str, Any]

__all__ = ["PhoneSession"]

RATE: Final = 8000
MAX_MESSAGE: Final = 64 * 1024
FAILED: Final = frozenset({"busy", "failed", "no-answer", "canceled"})


class PhoneSession:
    """A call from the moment it is expected. ``nonce`` is the secret by which the carrier's requests name it."""

    def __init__(self, nonce: str, clock: Clock) -> None:
        self.nonce = nonce
        self.call = ""
        self.inbox = Inbox()
        self.completed = False
        self.connected: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._clock = clock
        self._end: AgentEnd | None = None
        self._send: Callable[[Event], Awaitable[None]] | None = None
        self._started_ns = 0
        self._offset = 0
        self._changing = False

    # The carrier's face

    def status(self, status: str) -> None:
        """Take note of what the carrier says about the call."""
        if status in FAILED:
            self.completed = True
            if not self.connected.done():
                reason = f"the call was not answered: {status}"
                self.connected.set_exception(CallRejectedError(reason, reason=status))
                self.connected.exception()  # whoever waited for it may have given up
        elif status == "completed":
            self.completed = True
            self.over("the carrier says that the call is completed")

    async def serve(self, receive: Callable[[], Awaitable[Event]], send: Callable[[Event], Awaitable[None]]) -> None:
        """Be the agent's end of a stream until it closes."""
        end = AgentEnd(max_message=MAX_MESSAGE)
        self._send = send
        while (event := await receive())["type"] != "websocket.disconnect":
            text = event.get("text")
            at_ns = self._clock.now_ns()
            said = end.receive(event["bytes"] if text is None else text)
            if isinstance(said, messages.Violation):
                self.inbox.put(ProtocolFault(said.kind, f"of the carrier: {said.detail}", at_ns=at_ns))
                if said.salvaged is None:
                    continue
                said = said.salvaged
            if isinstance(said, messages.Start):
                self._start(end, said)
            self._take(said, at_ns)
        if self._end is end:
            self._stream_over()

    def _start(self, end: AgentEnd, start: messages.Start) -> None:
        if start.parameters.get("nonce") != self.nonce:
            raise RemoteProtocolError("a stream began without the secret of its call")
        now_ns = self._clock.now_ns()
        if self.connected.done():
            self._offset = (now_ns - self._started_ns) * RATE // 1_000_000_000
        else:
            self._started_ns = now_ns
        self._end, self._changing, self.call = end, False, start.call or self.call
        if not self.connected.done():
            self.connected.set_result(None)

    def _take(self, said: messages.Message, at_ns: int) -> None:
        match said:
            case messages.Media(payload=payload, track="inbound", timestamp_ms=timestamp_ms):
                position = None if timestamp_ms is None else self._offset + timestamp_ms * RATE // 1000
                self.inbox.put(AudioChunk(g711.decode(payload), RATE, position, at_ns=at_ns))
            case messages.Dtmf(digit=digit):
                self.inbox.put(Digit(digit, at_ns=at_ns))
            case messages.Stop():
                self._stream_over()

    def _stream_over(self) -> None:
        self._end = self._send = None
        if not self._changing:
            self.over("the far end hung up")

    def over(self, reason: str) -> None:
        """Take note that the call is over, and why."""
        if not self.inbox.ended:
            self.inbox.put(RemoteHangup(reason, at_ns=self._clock.now_ns()))
            self.inbox.end()

    # Our face

    async def send_audio(self, chunk: AudioChunk) -> None:
        """Send our user's audio; while the stream changes it is lost, as it is on the real line."""
        if self._end is not None and self._send is not None:
            await self._say(self._end.media(g711.encode(chunk.pcm)))

    async def close(self) -> None:
        """Give up the call: close its stream, after which the carrier has nothing left to do. Who waits is told."""
        if not self.connected.done():
            self.connected.set_exception(ConnectError("the call was given up before it was answered"))
            self.connected.exception()  # perhaps nobody waits
        self.inbox.end()
        if self._send is not None:
            with suppress(OSError):
                await self._send({"type": "websocket.close", "code": 1000})

    def change_stream(self) -> None:
        """Expect that the stream ends and another takes its place."""
        self._changing = True

    async def _say(self, text: str) -> None:
        assert self._send is not None
        try:
            await self._send({"type": "websocket.send", "text": text})
        except OSError:
            self._end = self._send = None  # the carrier is closing; its disconnect says the rest
