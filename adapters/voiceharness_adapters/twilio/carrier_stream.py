"""One media stream as the carrier plays it: the protocol's carrier end on a websocket.

Sends the user's audio as it comes, and turns what the agent sends into items for the line, each stamped with its
arrival. A violation is reported once per kind and stream, as a carrier warns once; a fatal one ends the stream.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from voiceharness.audio import g711
from voiceharness.audio.chunk import AudioChunk
from voiceharness.errors import RemoteProtocolError
from voiceharness.events import Flush, Mark, MediaChanged, ProtocolFault
from voiceharness.protocols.media_streams import messages
from voiceharness.protocols.media_streams.machine import CarrierEnd, State
from voiceharness_adapters.twilio.buffer import MAX_MARKS, MAX_SECONDS, BufferLimit
from voiceharness_adapters.twilio.door import Closed
from voiceharness_adapters.twilio.json_reader import fastest_loads

if TYPE_CHECKING:
    from collections.abc import Callable

    from voiceharness.adapter import Received
    from voiceharness_adapters.twilio.door import Door, Headers, StreamSocket
    from voiceharness_adapters.twilio.settings import CarrierLog, CarrierSettings

__all__ = ["RATE", "SILENCE", "CarrierStream"]

RATE: Final = 8000
FRAME: Final = 160
SILENCE: Final = b"\xff"
CLOSE_TIMEOUT: Final = 1.0


class CarrierStream:
    """A stream from its opening to its end. ``put`` gets the agent's items, ``over`` is told how it ended, once."""

    def __init__(
        self,
        description: messages.StreamDescription,
        settings: CarrierSettings,
        log: CarrierLog,
        *,
        now_ns: Callable[[], int],
        put: Callable[[Received], None],
        over: Callable[[CarrierStream, Closed], None],
    ) -> None:
        self.end = CarrierEnd(
            description, dialect=settings.dialect, max_message=settings.max_message, loads=fastest_loads()
        )
        self.started_ns = 0
        self._settings = settings
        self._log = log
        self._now_ns = now_ns
        self._put = put
        self._over = over
        self._limit = BufferLimit(RATE)
        self._socket: StreamSocket | None = None
        self._first_position: int | None = None
        self._next_position = 0
        self._is_over = False
        self._ended_for: Closed | None = None

    async def open(self, door: Door, url: str, headers: Headers) -> None:
        """Open the websocket and say what a stream begins with."""
        self._socket = await door.open_stream(url, headers, self)
        self.started_ns = self._now_ns()
        self._send("connected", self.end.connected())
        self._send("start", self.end.start())
        self._put(MediaChanged("started", at_ns=self.started_ns))

    @property
    def is_open(self) -> bool:
        """Whether audio can be sent."""
        return self.end.state is State.STREAMING and not self._is_over

    # What the carrier sends

    def send_audio(self, payload: bytes, position: int, track: messages.Track = "inbound") -> None:
        """Send audio that was heard at a position of the call; the first one is the stream's zero."""
        if not self.is_open or track not in self.end.description.tracks:
            return
        if self._first_position is None:
            self._first_position = self._next_position = position
        if position > self._next_position and track == "inbound":
            self._lost(position)
        self._next_position = position + len(payload)
        self._send_frame(payload, position, track)

    def _lost(self, position: int) -> None:
        """Take note of audio that never came, and send silence in its place if this carrier does so."""
        for missing in range(self._next_position, position, FRAME):
            self._log.lost_ms.append(self._timestamp_ms(missing))
            if self._settings.lost_as == "silence":
                self._send_frame(SILENCE * min(FRAME, position - missing), missing, "inbound")

    def _send_frame(self, payload: bytes, position: int, track: messages.Track) -> None:
        if self._settings.inbound == "gaps" and not payload.strip(SILENCE):
            return
        self._send("media", self.end.media(payload, self._timestamp_ms(position), track))

    def _timestamp_ms(self, position: int) -> int:
        return (position - (self._first_position or 0)) * 1000 // RATE

    def press(self, digit: str) -> None:
        """Say that the user pressed a key."""
        if self.is_open:
            self._send("dtmf", self.end.dtmf(digit))

    def mark_played(self, name: str) -> None:
        """Answer a mark, unless this carrier answers marks at another time."""
        self._limit.marks -= 1
        if self._settings.marks == "playout" and self.is_open:
            self._send("mark", self.end.mark(name))

    def clear(self) -> None:
        """Send a clear to the agent."""
        if self.is_open:
            self._send("clear", self.end.clear())

    def stop(self) -> None:
        """Say that the stream is over."""
        if self.is_open:
            self._send("stop", self.end.stop())

    async def close(self) -> None:
        """Stop, let the agent go on for ``goodbye``, and close."""
        if self._socket is None:
            return
        self.stop()
        if self._settings.goodbye and not self._is_over:
            await self._socket.wait_closed(self._settings.goodbye)
        self._socket.close()
        if not await self._socket.wait_closed(CLOSE_TIMEOUT):
            self._log.still_running = True

    def _send(self, kind: str, text: str) -> None:
        assert self._socket is not None  # nothing is sent before it is open
        if self._socket.send(text):
            self._log.sent[kind] += 1

    # What the agent sends

    def stream_message(self, data: str | bytes, at_ns: int) -> None:
        """Take a message of the agent."""
        if self.end.state is State.OVER:
            self._log.after_stop += 1
            return
        said: messages.Message | messages.Violation | None = self.end.receive(data)
        if isinstance(said, messages.Violation):
            self._report(said, at_ns)
            if said.fatal:
                self._end_for(said)
            said = said.salvaged
        self._take(said, at_ns)

    def _end_for(self, violation: messages.Violation) -> None:
        """End the stream, as a carrier does, because the agent broke a rule that it cannot break."""
        code = 1009 if violation.kind == "message_too_big" else 1002
        error = RemoteProtocolError(f"the carrier ended the stream: {violation.kind}: {violation}")
        self._ended_for = Closed(code, violation.kind, error)
        self.end.state = State.OVER
        if self._socket is not None:
            self._socket.close(code, violation.kind)

    def _take(self, said: messages.Message | None, at_ns: int) -> None:
        match said:
            case messages.Media(payload=payload):
                self._log.received["media"] += 1
                self._take_audio(payload, at_ns)
            case messages.Mark(name=name):
                self._log.received["mark"] += 1
                self._take_mark(name, at_ns)
            case messages.Clear():
                self._log.received["clear"] += 1
                self._limit.clear(at_ns)
                self._put(Flush(at_ns=at_ns))

    def _take_audio(self, payload: bytes, at_ns: int) -> None:
        admitted = self._limit.admit(len(payload), at_ns)
        if admitted < len(payload):
            detail = f"more than {MAX_SECONDS} s of audio wait to be played; the rest is discarded"
            self._report(messages.Violation("buffer_full", detail), at_ns)
        self._put(AudioChunk(g711.decode(payload[:admitted]), RATE, at_ns=at_ns))

    def _take_mark(self, name: str, at_ns: int) -> None:
        if self._limit.marks >= MAX_MARKS:
            detail = f"more than {MAX_MARKS} marks wait for playout; the rest is dropped"
            self._report(messages.Violation("too_many_marks", detail), at_ns)
            return
        self._limit.marks += 1
        self._put(Mark(name, at_ns=at_ns))
        if self._settings.marks == "immediate":
            self._send("mark", self.end.mark(name))

    def _report(self, violation: messages.Violation, at_ns: int) -> None:
        self._log.violations[violation.kind] += 1
        if self._log.violations[violation.kind] == 1:
            self._put(ProtocolFault(violation.kind, str(violation), at_ns=at_ns))

    def stream_closed(self, closed: Closed) -> None:
        """Take note that the websocket is closed."""
        if not self._is_over:
            self._is_over = True
            if self._socket is not None:
                self._put(MediaChanged("stopped", str(closed), at_ns=self._now_ns()))
            ended_by_us = self.end.state is State.OVER
            self._over(self, self._ended_for or (replace(closed, error=None) if ended_by_us else closed))
