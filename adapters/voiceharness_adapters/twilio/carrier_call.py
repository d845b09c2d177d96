"""One call as the carrier sees it: its requests to the agent's server, and its streams."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from voiceharness.audio import g711
from voiceharness.errors import CallDroppedError
from voiceharness.events import Flush, RemoteHangup
from voiceharness.inbox import Inbox
from voiceharness.protocols.media_streams.messages import StreamDescription, Track
from voiceharness_adapters.twilio.agent_server import AgentServer
from voiceharness_adapters.twilio.callbacks import Callbacks
from voiceharness_adapters.twilio.carrier_stream import SILENCE, CarrierStream
from voiceharness_adapters.twilio.identity import STREAM_AGENT, CallIdentity, new_sid
from voiceharness_adapters.twilio.settings import CarrierLog

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voiceharness.audio.chunk import AudioChunk
    from voiceharness.clock import Clock
    from voiceharness.protocols.media_streams.twiml import Stream
    from voiceharness_adapters.twilio.door import Closed, Door
    from voiceharness_adapters.twilio.settings import CarrierSettings

__all__ = ["CallIdentity", "CarrierCall"]

TRACKS: Final[Mapping[str, tuple[Track, ...]]] = {
    "inbound_track": ("inbound",),
    "outbound_track": ("outbound",),
    "both_tracks": ("inbound", "outbound"),
}


class CarrierCall:
    """A call under way: the line's face of it (audio, digits, what the agent sends), and the call flow's."""

    def __init__(self, door: Door, identity: CallIdentity, settings: CarrierSettings, clock: Clock) -> None:
        self.identity = identity
        self.clock = clock
        self.inbox = Inbox()
        self.log = CarrierLog()
        self.stream: CarrierStream | None = None
        """The bidirectional stream that is open now."""
        self.listening: list[CarrierStream] = []
        self.digits: asyncio.Queue[str] | None = None
        """Where keys go while the carrier itself collects them."""
        self.callbacks = Callbacks(door, identity, log=self.log, broken=self.inbox.end)
        self.server = AgentServer(door, identity)
        self._door = door
        self._settings = settings
        self._stream_over: asyncio.Future[Closed] | None = None
        self._described: dict[CarrierStream, Stream] = {}
        self._prompt = b""

    # Streams

    async def connect_stream(self, stream: Stream) -> None:
        """Open a bidirectional stream."""
        self._stream_over = asyncio.get_running_loop().create_future()
        self.stream = await self._open(stream, bidirectional=True)

    async def start_stream(self, stream: Stream) -> None:
        """Open a unidirectional stream beside what goes on."""
        self.listening.append(await self._open(stream, bidirectional=False))

    async def _open(self, stream: Stream, *, bidirectional: bool) -> CarrierStream:
        identity = self.identity
        description = StreamDescription(
            new_sid("MZ"),
            identity.call,
            identity.account,
            ("inbound",) if bidirectional else TRACKS[stream.track],
            stream.parameters,
            bidirectional,
        )
        opened = CarrierStream(
            description, self._settings, self.log, now_ns=self.clock.now_ns, put=self.inbox.put, over=self._over
        )
        headers = [STREAM_AGENT, *identity.signature(stream.url)]
        await opened.open(self._door, stream.url, headers)
        self._note_stream("stream-started", opened, stream)
        self._described[opened] = stream
        return opened

    def _note_stream(self, event: str, opened: CarrierStream, stream: Stream) -> None:
        if stream.status_callback:
            self.callbacks.stream_event(event, stream.status_callback, opened.end.description.stream, stream.name)

    async def run_stream(self) -> None:
        """Wait for the end of a stream that is the whole call, and end the call with it."""
        started_ns = self.clock.now_ns()
        self.hung_up(await self.stream_over(), started_ns)

    async def stream_over(self) -> Closed:
        """Wait until the agent has closed the bidirectional stream."""
        assert self._stream_over is not None  # it was opened
        return await asyncio.shield(self._stream_over)

    def _over(self, stream: CarrierStream, closed: Closed) -> None:
        described = self._described.pop(stream, None)
        if described is not None:
            self._note_stream("stream-stopped", stream, described)
        if stream in self.listening:
            self.listening.remove(stream)
        elif self._stream_over is not None and not self._stream_over.done():
            self.stream = None
            self._stream_over.set_result(closed)

    def hung_up(self, stream_closed: Closed, started_ns: int) -> None:
        """End the call because the agent closed the stream and nothing follows it."""
        if stream_closed.error is not None:
            self.inbox.end(stream_closed.error)
            return
        if not stream_closed.clean and stream_closed.code != 1006:
            self.inbox.end(CallDroppedError(f"the agent's stream broke: {stream_closed}"))
            return
        after_ms = (self.clock.now_ns() - started_ns) // 1_000_000
        reason = f"the agent closed the stream {after_ms} ms after its start ({stream_closed})"
        self.inbox.put(RemoteHangup(reason, stream_closed.code, at_ns=self.clock.now_ns()))
        self.inbox.end()

    # The line's face

    def send_audio(self, chunk: AudioChunk) -> None:
        """Carry the user's audio to every stream, and the prompt that the carrier plays to those that listen to it."""
        position = chunk.position or 0
        pcm = chunk.pcm
        silent = pcm == bytes(len(pcm))  # most of the time, as the user listens
        payload = SILENCE * (len(pcm) // 2) if silent else g711.encode(pcm)
        if self.stream is not None:
            self.stream.send_audio(payload, position)
        if self.listening:
            outbound, self._prompt = self._prompt[: len(chunk)], self._prompt[len(chunk) :]
            for stream in tuple(self.listening):
                stream.send_audio(payload, position)
                stream.send_audio(outbound.ljust(len(chunk), SILENCE), position, "outbound")

    def press(self, digit: str) -> None:
        """Carry a key press to whoever listens for keys: the carrier's own prompt, or the agent's stream."""
        if self.digits is not None:
            self.digits.put_nowait(digit)
        elif self.stream is not None:
            self.stream.press(digit)

    def play(self, chunk: AudioChunk) -> None:
        """Let the user hear audio that the carrier itself plays."""
        self.inbox.put(replace(chunk, at_ns=self.clock.now_ns()))
        self._prompt += g711.encode(chunk.pcm)

    def stop_playing(self) -> None:
        """Stop what the carrier itself plays."""
        self.inbox.put(Flush(at_ns=self.clock.now_ns()))
        self._prompt = b""

    async def hang_up(self) -> None:
        """Stop and close every stream."""
        for stream in (*self.listening, *([self.stream] if self.stream is not None else [])):
            await stream.close()
        self.inbox.end()

    async def finish(self) -> None:
        """Wait a while for what is still being posted beside the call."""
        await self.callbacks.finish()
