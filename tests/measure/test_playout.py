"""What arrivals tell about the heard track."""

from __future__ import annotations

from voiceharness.audio.edges import Span
from voiceharness.line.record import Arrival
from voiceharness.measure.playout import Playout

PLAYOUT = Playout(
    [
        Arrival(at=0, start=0, samples=100, heard=100, item="a"),
        Arrival(at=0, start=100, samples=100, heard=50, item="a"),
        Arrival(at=120, start=200, samples=100, heard=0, item="a"),
        Arrival(at=300, start=300, samples=100, heard=100, item=None),
    ]
)


def test_a_position_has_the_arrival_that_is_heard_there() -> None:
    assert PLAYOUT.item(0) == "a"
    assert PLAYOUT.item(149) == "a"
    assert PLAYOUT.at(150) is None
    assert PLAYOUT.at(250) is None
    assert PLAYOUT.at(-1) is None
    found = PLAYOUT.at(399)
    assert found is not None
    assert found.at == 300
    assert PLAYOUT.item(399) is None


def test_holes_are_where_the_queue_had_run_dry() -> None:
    assert list(PLAYOUT.holes(0, 400)) == [Span(150, 300)]
    assert list(PLAYOUT.holes(0, 300)) == []


def test_arrivals_are_found_by_where_they_begin() -> None:
    assert [arrival.start for arrival in PLAYOUT.between(100, 301)] == [100, 300]


def test_without_arrivals_nothing_is_known() -> None:
    empty = Playout([])
    assert empty.at(0) is None
    assert list(empty.holes(0, 100)) == []
