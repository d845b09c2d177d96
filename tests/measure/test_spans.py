"""Arithmetic on stretches of a track."""

from __future__ import annotations

from voiceharness.audio.edges import Span
from voiceharness.measure.spans import gaps, intersections, joined, total


def test_joining_sorts_and_closes_gaps_up_to_a_size() -> None:
    spans = [Span(50, 60), Span(0, 10), Span(12, 20), Span(5, 8)]
    assert joined(spans) == [Span(0, 10), Span(12, 20), Span(50, 60)]
    assert joined(spans, 2) == [Span(0, 20), Span(50, 60)]
    assert joined([]) == []


def test_intersections_leave_out_what_only_touches() -> None:
    assert intersections([Span(0, 10), Span(20, 30)], [Span(5, 25), Span(30, 40)]) == [Span(5, 10), Span(20, 25)]


def test_gaps_are_what_spans_leave_of_a_stretch() -> None:
    spans = [Span(0, 10), Span(20, 30), Span(45, 60)]
    assert gaps(spans, 5, 50) == [Span(10, 20), Span(30, 45)]
    assert gaps([], 5, 50) == [Span(5, 50)]
    assert gaps([Span(0, 60)], 5, 50) == []


def test_total_counts_samples() -> None:
    assert total([Span(0, 10), Span(20, 25)]) == 15
