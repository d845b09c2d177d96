"""Events are values; a segment knows its times."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields

import pytest

from voiceharness.audio.chunk import AudioChunk
from voiceharness.events import AgentEvent, Digit, EndOfStream, Flush, Mark, RemoteHangup, Segment, TurnDone, Words

__all__: list[str] = []


@pytest.mark.parametrize("kind", AgentEvent.__subclasses__(), ids=lambda kind: kind.__name__)
def test_every_agent_event_carries_its_arrival_by_name_alone(kind: type[AgentEvent]) -> None:
    arrival = next(field for field in fields(kind) if field.name == "at_ns")
    assert (arrival.kw_only, arrival.compare, arrival.default) == (True, False, None)


def test_the_time_of_arrival_is_no_part_of_equality() -> None:
    assert Flush(at_ns=1) == Flush(at_ns=2)
    assert Mark("a", at_ns=1) == Mark("a")
    assert AudioChunk(b"\0\0", at_ns=1) == AudioChunk(b"\0\0", at_ns=2)
    assert len({Digit("1", at_ns=1), Digit("1", at_ns=2), Digit("2")}) == 2


def test_different_events_are_never_equal() -> None:
    events = [Flush(), Mark(""), Digit(""), Words(), TurnDone(), RemoteHangup(), EndOfStream()]
    assert all((left == right) == (left is right) for left in events for right in events)


def test_events_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        Mark("a").name = "b"  # type: ignore[misc]  # what is tested


def test_a_segment_tells_its_times_in_seconds() -> None:
    segment = Segment("user", onset=16000, offset=24000, rate=16000)
    assert (segment.start, segment.end, segment.duration) == (1.0, 1.5, 0.5)
