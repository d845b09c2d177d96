"""RTP packets and telephone events, read from bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voiceharness.clock import NS
from voiceharness.errors import RemoteProtocolError
from voiceharness.protocols.rtp import (
    EVENT_KEYS,
    Discontinuity,
    EventReceiver,
    KeypadEvent,
    ReceivedKey,
    RtpPacket,
    StreamWatch,
    event_packets,
    sequence_step,
    timestamp_step,
)

FRAME_NS = NS // 50


def voice(index: int, *, timestamp: int | None = None, ssrc: int = 7, sequence: int | None = None) -> RtpPacket:
    return RtpPacket(
        0,
        (index if sequence is None else sequence) & 0xFFFF,
        (160 * index if timestamp is None else timestamp) & 0xFFFFFFFF,
        ssrc,
        bytes(160),
    )


@given(
    st.builds(
        RtpPacket,
        st.integers(0, 127),
        st.integers(0, 0xFFFF),
        st.integers(0, 0xFFFFFFFF),
        st.integers(0, 0xFFFFFFFF),
        st.binary(max_size=200),
        st.booleans(),
    )
)
def test_a_packet_survives_its_bytes(packet: RtpPacket) -> None:
    assert RtpPacket.decode(packet.encode()) == packet


def test_contributing_sources_an_extension_and_padding_are_no_payload() -> None:
    sources, extension = bytes(8), bytes.fromhex("bede0001") + bytes(4)
    header = bytes([0xB2, 0x00]) + bytes(10)
    assert RtpPacket.decode(header + sources + extension + b"voice" + b"\0\0\3").payload == b"voice"


@pytest.mark.parametrize("data", [b"", b"\x80", bytes(12), b"\x8f" + bytes(11), b"\xa0" + bytes(11) + b"\xff"])
def test_what_is_no_packet_is_refused(data: bytes) -> None:
    with pytest.raises(RemoteProtocolError):
        RtpPacket.decode(data)


@given(st.binary(max_size=64))
def test_any_bytes_are_a_packet_or_refused(data: bytes) -> None:
    try:
        packet = RtpPacket.decode(data)
    except RemoteProtocolError:
        return
    assert len(packet.payload) <= len(data)


@pytest.mark.parametrize("marker", [True, False])
def test_a_key_is_one_key_with_or_without_a_marker(marker: bool) -> None:
    """Case A67."""
    receiver = EventReceiver()
    durations = [*((160 * step, False) for step in range(1, 6)), *[(960, True)] * 3]
    packets = [
        RtpPacket(101, index, 8000, 7, KeypadEvent("5", duration, end).encode(), marker and index == 0)
        for index, (duration, end) in enumerate(durations)
    ]
    assert [key for packet in packets if (key := receiver.push(packet))] == [ReceivedKey("5", 8000, 960)]


def test_a_key_whose_end_was_lost_is_told_when_the_next_begins() -> None:
    receiver = EventReceiver()
    cut = [*event_packets("1", payload_type=101, sequence=0, timestamp=0, ssrc=7, duration=800)][:-3]
    following = [*event_packets("2", payload_type=101, sequence=9, timestamp=1600, ssrc=7, duration=800)]
    keys = [key for packet in (*cut, *following) if (key := receiver.push(packet))]
    assert keys == [ReceivedKey("1", 0, 640), ReceivedKey("2", 1600, 800)]


def test_the_last_key_can_be_asked_for_when_its_end_was_lost() -> None:
    receiver = EventReceiver()
    receiver.push(next(event_packets("9", payload_type=101, sequence=0, timestamp=5, ssrc=7, duration=800)))
    assert receiver.flush() == ReceivedKey("9", 5, 160)
    assert receiver.flush() is None


def test_the_same_key_twice_is_two_keys() -> None:
    receiver = EventReceiver()
    packets = [
        packet
        for timestamp in (0, 1600)
        for packet in event_packets("7", payload_type=101, sequence=0, timestamp=timestamp, ssrc=7, duration=400)
    ]
    assert [key.timestamp for packet in packets if (key := receiver.push(packet))] == [0, 1600]


def test_a_key_is_sent_as_receivers_expect_it() -> None:
    """Case A69."""
    packets = [*event_packets("5", payload_type=101, sequence=10, timestamp=400, ssrc=7, duration=2000)]
    events = [KeypadEvent.decode(packet.payload) for packet in packets]
    assert [packet.marker for packet in packets] == [True] + [False] * (len(packets) - 1)
    assert {packet.timestamp for packet in packets} == {400}
    assert [event.duration for event in events] == [*range(160, 2000, 160), 2000, 2000, 2000]
    assert [event.end for event in events][-4:] == [False, True, True, True]


@pytest.mark.parametrize("key", EVENT_KEYS)
def test_every_key_survives_its_bytes(key: str) -> None:
    assert KeypadEvent.decode(KeypadEvent(key, 1600, True).encode()) == KeypadEvent(key, 1600, True)


@pytest.mark.parametrize("payload", [b"", b"\0\0\0", b"\x10\x0a\0\0"])
def test_what_is_no_keypad_event_is_refused(payload: bytes) -> None:
    with pytest.raises(RemoteProtocolError):
        KeypadEvent.decode(payload)


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (voice(10, timestamp=1600 - 13_440), Discontinuity("timestamp_jump", 1440, (1600 - 13_440) & 0xFFFFFFFF, 9)),
        (voice(10, ssrc=99, sequence=4711), Discontinuity("source_changed", 7, 99, 9)),
        (voice(10, sequence=5010), Discontinuity("sequence_jump", 9, 5010, 9)),
    ],
)
def test_a_break_is_told_once_with_its_values(after: RtpPacket, expected: Discontinuity) -> None:
    """Case A50."""
    watch = StreamWatch()
    assert [found for index in range(10) for found in watch.push(voice(index), 0)] == []
    assert watch.push(after, 9) == [expected]
    following = RtpPacket(0, after.sequence + 1, (after.timestamp + 160) & 0xFFFFFFFF, after.ssrc, bytes(160))
    assert watch.push(following, 10) == []


def test_another_payload_type_than_negotiated_is_told() -> None:
    """Case A38 (b)."""
    watch = StreamWatch()
    watch.push(voice(0), 0)
    packet = RtpPacket(9, 1, 160, 7, bytes(160))
    assert watch.push(packet, 1) == [Discontinuity("payload_type", 0, 9, 1)]


def test_a_sender_that_runs_late_is_measured() -> None:
    """Case A48."""
    late, punctual = StreamWatch(), StreamWatch()
    for index in range(2858):
        late.push(voice(index), index * (FRAME_NS + NS // 1000))
        punctual.push(voice(index), index * FRAME_NS)
    assert late.skew == pytest.approx(2.857, abs=0.02)
    assert punctual.skew == 0


def test_disorder_is_counted() -> None:
    watch = StreamWatch()
    for sequence in (0, 1, 1, 3, 2, 6):
        watch.push(voice(sequence), 0)
    assert (watch.doubled, watch.reordered, watch.lost) == (1, 1, 2)


def test_numbers_wrap_around() -> None:
    assert sequence_step(0xFFFF, 0) == 1
    assert sequence_step(0, 0xFFFF) == -1
    assert timestamp_step(0xFFFFFFFF - 79, 80) == 160
    watch = StreamWatch()
    assert [found for index in range(0xFFF0, 0x10010) for found in watch.push(voice(index), 0)] == []
    assert watch.lost == 0
