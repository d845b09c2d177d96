"""RTP packets (RFC 3550) and keypad events in them (RFC 4733), and what is wrong with a stream of them.

Pure: bytes and arrival times in, packets, digits and findings out. Sequence numbers and timestamps wrap around; all
comparison here is modular.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from voiceharness.errors import RemoteProtocolError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "EVENT_KEYS",
    "Discontinuity",
    "EventReceiver",
    "KeypadEvent",
    "ReceivedKey",
    "RtpPacket",
    "StreamWatch",
    "event_packets",
    "sequence_step",
    "timestamp_step",
]

EVENT_KEYS: Final = "0123456789*#ABCD"
"""Keys by their event code (RFC 4733, 3.2)."""

END_REPEATS: Final = 3
"""How often the last packet of an event is sent (RFC 4733, 2.5.1.4)."""

_VERSION: Final = 2
_HEADER: Final = struct.Struct(">BBHII")
_EVENT: Final = struct.Struct(">BBH")
_END_BIT: Final = 0x80
_VOLUME: Final = 10
_RESTART: Final = 100

DiscontinuityKind = Literal["source_changed", "sequence_jump", "timestamp_jump", "payload_type"]


@dataclass(frozen=True, slots=True)
class RtpPacket:
    """One RTP packet without its padding; contributing sources and header extensions are dropped."""

    payload_type: int
    sequence: int
    timestamp: int
    ssrc: int
    payload: bytes
    marker: bool = False

    @classmethod
    def decode(cls, data: bytes) -> RtpPacket:
        """Read a packet.

        Raises:
            RemoteProtocolError: if it is no RTP of version 2, or shorter than it says.
        """
        if len(data) < _HEADER.size or data[0] >> 6 != _VERSION:
            raise RemoteProtocolError(f"not an RTP packet: {len(data)} bytes that begin with {data[:2].hex() or '-'}")
        first, second, sequence, timestamp, ssrc = _HEADER.unpack_from(data)
        start = _HEADER.size + 4 * (first & 0x0F)
        if first & 0x10:
            start += 4 + 4 * int.from_bytes(data[start + 2 : start + 4])
        end = len(data) - (data[-1] if first & 0x20 else 0)
        if start > end:
            raise RemoteProtocolError(f"an RTP packet of {len(data)} bytes has a header of {start}")
        return cls(second & 0x7F, sequence, timestamp, ssrc, data[start:end], bool(second & 0x80))

    def encode(self) -> bytes:
        """Return the packet's bytes."""
        second = self.payload_type | (0x80 if self.marker else 0)
        timestamp = self.timestamp & 0xFFFFFFFF
        return _HEADER.pack(_VERSION << 6, second, self.sequence & 0xFFFF, timestamp, self.ssrc) + self.payload


@dataclass(frozen=True, slots=True)
class KeypadEvent:
    """The payload of an event packet; ``duration`` is in timestamp units, from the event's begin."""

    key: str
    duration: int
    end: bool

    @classmethod
    def decode(cls, payload: bytes) -> KeypadEvent:
        """Read a payload.

        Raises:
            RemoteProtocolError: if it is too short, or no key of the keypad.
        """
        if len(payload) < _EVENT.size:
            raise RemoteProtocolError(f"a keypad event of {len(payload)} bytes; it has 4")
        code, flags, duration = _EVENT.unpack_from(payload)
        if code >= len(EVENT_KEYS):
            raise RemoteProtocolError(f"event {code} is no key of the keypad")
        return cls(EVENT_KEYS[code], duration, bool(flags & _END_BIT))

    def encode(self) -> bytes:
        """Return the payload's bytes."""
        flags = _VOLUME | (_END_BIT if self.end else 0)
        return _EVENT.pack(EVENT_KEYS.index(self.key), flags, self.duration)


@dataclass(frozen=True, slots=True)
class ReceivedKey:
    """A key that was pressed: the timestamp of its begin and its duration, in timestamp units."""

    key: str
    timestamp: int
    duration: int


class EventReceiver:
    """Makes one key of the many packets that tell it, whether or not the sender ever sets a marker.

    Packets of one event share its timestamp; that alone tells one key from the next.
    """

    def __init__(self) -> None:
        self._timestamp: int | None = None
        self._latest: KeypadEvent | None = None
        self._told = False

    def push(self, packet: RtpPacket) -> ReceivedKey | None:
        """Take an event packet; return the key that it completes.

        Raises:
            RemoteProtocolError: if the payload is no keypad event.
        """
        event = KeypadEvent.decode(packet.payload)
        before = self.flush() if packet.timestamp != self._timestamp else None
        if packet.timestamp != self._timestamp:
            self._timestamp, self._told = packet.timestamp, False
        self._latest = event
        if not event.end or self._told:
            return before
        self._told = True
        return before or ReceivedKey(event.key, packet.timestamp, event.duration)

    def flush(self) -> ReceivedKey | None:
        """Return the key whose end was lost, if there is one: it lasted as long as was told last."""
        if self._latest is None or self._told or self._timestamp is None:
            return None
        self._told = True
        return ReceivedKey(self._latest.key, self._timestamp, self._latest.duration)


def event_packets(
    key: str, *, payload_type: int, sequence: int, timestamp: int, ssrc: int, duration: int, step: int = 160
) -> Iterator[RtpPacket]:
    """Yield the packets of one key, to be sent ``step`` timestamp units apart (the repeated ends, too)."""
    updates = range(step, duration, step)
    durations = [*((each, False) for each in updates), *((duration, True) for _ in range(END_REPEATS))]
    for index, (length, end) in enumerate(durations):
        payload = KeypadEvent(key, length, end).encode()
        yield RtpPacket(payload_type, (sequence + index) & 0xFFFF, timestamp, ssrc, payload, marker=index == 0)


@dataclass(frozen=True, slots=True)
class Discontinuity:
    """Where a stream does not go on as it should: ``before`` and ``after`` are the values that do not fit."""

    kind: DiscontinuityKind
    before: int
    after: int
    at_ns: int


class StreamWatch:
    """Follows an audio stream: its breaks, and how far its timestamps are from the time.

    ``clock_hz`` is the codec's timestamp clock; ``payload_type`` what was negotiated.
    """

    def __init__(self, *, clock_hz: int = 8000, payload_type: int = 0) -> None:
        self.clock_hz = clock_hz
        self.payload_type = payload_type
        self.packets = 0
        self.doubled = 0
        self.reordered = 0
        self.lost = 0
        self._last: RtpPacket | None = None
        self._first: tuple[int, int] | None = None
        self._skew_ns = 0
        self._elapsed_units = 0

    @property
    def skew(self) -> float:
        """Seconds by which the latest packet came later than its timestamp says, since the first or the last break."""
        return self._skew_ns / 1e9

    def push(self, packet: RtpPacket, at_ns: int) -> list[Discontinuity]:
        """Take a packet that arrived at a time; return the breaks it shows."""
        self.packets += 1
        breaks = self._breaks(packet, at_ns)
        last = self._last
        if last is None or breaks:
            self._begin(packet, at_ns)
            return breaks
        step = sequence_step(last.sequence, packet.sequence)
        if step == 0:
            self.doubled += 1
        elif step < 0:
            self.reordered += 1
            self.lost = max(0, self.lost - 1)
        else:
            self.lost += step - 1
            self._advance(last, packet, at_ns)
        return []

    def _begin(self, packet: RtpPacket, at_ns: int) -> None:
        self._last, self._first = packet, (at_ns, 0)
        self._elapsed_units = self._skew_ns = 0

    def _advance(self, last: RtpPacket, packet: RtpPacket, at_ns: int) -> None:
        assert self._first is not None  # the first packet began it
        self._elapsed_units += timestamp_step(last.timestamp, packet.timestamp)
        self._skew_ns = at_ns - self._first[0] - self._elapsed_units * 1_000_000_000 // self.clock_hz
        self._last = packet

    def _breaks(self, packet: RtpPacket, at_ns: int) -> list[Discontinuity]:
        last = self._last
        if packet.payload_type != self.payload_type:
            return [Discontinuity("payload_type", self.payload_type, packet.payload_type, at_ns)]
        if last is None:
            return []
        if packet.ssrc != last.ssrc:
            return [Discontinuity("source_changed", last.ssrc, packet.ssrc, at_ns)]
        step = sequence_step(last.sequence, packet.sequence)
        if abs(step) > _RESTART:
            return [Discontinuity("sequence_jump", last.sequence, packet.sequence, at_ns)]
        if step > 0 and timestamp_step(last.timestamp, packet.timestamp) < 0:
            return [Discontinuity("timestamp_jump", last.timestamp, packet.timestamp, at_ns)]
        return []


def sequence_step(before: int, after: int) -> int:
    """Return how far one sequence number is from another, from -32768 to 32767."""
    return (after - before + 0x8000) % 0x10000 - 0x8000


def timestamp_step(before: int, after: int) -> int:
    """Return how far one timestamp is from another, from -2**31 to 2**31 - 1."""
    return (after - before + 0x80000000) % 0x100000000 - 0x80000000
