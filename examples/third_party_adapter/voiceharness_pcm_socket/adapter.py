"""The adapter ``pcm_socket``: one call to an agent behind a TCP socket."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

from voiceharness.adapter import Option, VoiceAgentAdapter
from voiceharness.audio.chunk import AudioChunk
from voiceharness.capabilities import AdapterCapabilities, DtmfMethod, Timing
from voiceharness.clock import LoopClock
from voiceharness.errors import (
    CallDroppedError,
    ConnectError,
    LocalProtocolError,
    OptionError,
    PendingTransportError,
    UnsupportedCapabilityError,
)
from voiceharness.events import EndOfStream, Flush, Mark, RemoteHangup
from voiceharness.inbox import Inbox
from voiceharness_pcm_socket import wire
from voiceharness_pcm_socket.wire import Message, pack, read_message

if TYPE_CHECKING:
    from voiceharness.adapter import Received

__all__ = ["PcmSocket"]


class PcmSocket(VoiceAgentAdapter):
    """One call to an agent that takes and sends PCM on a TCP socket."""

    name = "pcm_socket"
    capabilities = AdapterCapabilities(
        interruption=True,
        dtmf=frozenset({"event", "inband"}),
        directions=frozenset({"dial"}),
        rates=frozenset({8000, 16000, 48000}),
    )
    timing = Timing(paced_by="line", playout="queued")

    def __init__(
        self,
        port: Annotated[int, Option("the agent's TCP port")],
        *,
        host: Annotated[str, Option("the agent's address")] = "127.0.0.1",
        rate: Annotated[int, Option("line rate: 8000, 16000 or 48000", "Hz")] = 8000,
    ) -> None:
        if rate not in self.capabilities.rates:
            raise OptionError(f"adapter {self.name!r} has no line rate {rate} Hz; it has 8000, 16000 and 48000")
        self.host = host
        self.port = port
        self.rate = rate
        self._inbox = Inbox()
        self._writer: asyncio.StreamWriter | None = None
        self._reading: asyncio.Task[None] | None = None
        self._over = False

    @property
    def is_connected(self) -> bool:
        """Whether the socket is open and nobody has hung up."""
        return self._writer is not None and not self._over

    async def connect(self) -> None:
        """Open the socket; the agent answers by accepting it.

        Raises:
            ConnectError: if nobody listens there, or the user has hung up meanwhile.
            LocalProtocolError: if this adapter has been connected before.
        """
        if self._writer is not None or self._over:
            raise LocalProtocolError(f"adapter {self.name!r} has had its call; make another adapter for the next")
        try:
            reader, writer = await asyncio.open_connection(self.host, self.port)
        except OSError as error:
            raise ConnectError(f"{self.name}: nobody answers at {self.host}:{self.port}: {error}") from error
        if self._inbox.ended:  # disconnect() came meanwhile
            writer.close()
            raise ConnectError(f"{self.name}: the user hung up before the agent answered")
        writer.write(pack(wire.RATE, str(self.rate).encode()))
        self._writer = writer
        self._reading = asyncio.create_task(self._read(reader), name="pcm_socket reader")

    async def disconnect(self) -> None:
        """Hang up and close the socket."""
        self._over = True
        self._inbox.end()
        if self._writer is None or self._reading is None:
            return
        if not self._writer.is_closing():
            self._writer.write(pack(wire.HANGUP))
            self._writer.close()
        self._reading.cancel()
        await asyncio.wait([self._reading])

    async def send_audio(self, chunk: AudioChunk) -> None:
        """Write the user's audio to the socket."""
        self._write("send audio", wire.AUDIO, chunk.pcm)

    async def receive_audio(self, timeout: float | None = None) -> Received | None:
        """Return the next thing the agent sent; after the end, always ``EndOfStream``."""
        if self._reading is None:
            raise PendingTransportError(self.name, "receive audio")
        try:
            item = await self._inbox.get(timeout)
        except CallDroppedError:
            self._over = True
            raise
        self._over = self._over or isinstance(item, EndOfStream)
        return item

    def played(self, mark_or_position: str | int, flushed: bool) -> None:
        """Answer the agent's mark."""
        if self.is_connected and isinstance(mark_or_position, str):
            self._write("answer a mark", wire.PLAYED, mark_or_position.encode())

    async def interrupt(self) -> None:
        """Tell the agent that the user interrupts it."""
        self._write("interrupt", wire.INTERRUPT)

    async def send_dtmf(self, digits: str, *, method: DtmfMethod, tone_ms: int = 100, gap_ms: int = 100) -> None:
        """Send each digit when its key is pressed."""
        if method != "event":
            raise UnsupportedCapabilityError(
                adapter=self.name, capability=f"dtmf:{method}", alternative="send the socket's own (method: event)"
            )
        for digit in digits:
            self._write("send digits", wire.DIGIT, digit.encode())
            await LoopClock().sleep((tone_ms + gap_ms) / 1000)

    def _write(self, action: str, kind: bytes, payload: bytes = b"") -> None:
        if self._writer is None or self._over:
            raise PendingTransportError(self.name, action)
        self._writer.write(pack(kind, payload))

    async def _read(self, reader: asyncio.StreamReader) -> None:
        clock = LoopClock()
        while (message := await read_message(reader)) is not None:
            item = self._item(message, clock.now_ns())
            if item is not None:
                self._inbox.put(item)
            if message.kind == wire.HANGUP:
                self._inbox.end()
                return
        self._inbox.end(CallDroppedError(f"{self.name}: the agent closed the socket without hanging up"))

    def _item(self, message: Message, at_ns: int) -> Received | None:
        match message.kind:
            case wire.AUDIO:
                return AudioChunk(message.payload, self.rate, at_ns=at_ns)
            case wire.FLUSH:
                return Flush(at_ns=at_ns)
            case wire.MARK:
                return Mark(message.text, at_ns=at_ns)
            case wire.HANGUP:
                return RemoteHangup(message.text, at_ns=at_ns)
        return None
