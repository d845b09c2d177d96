"""Disorder in the agent's packets, as a transport tells of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.measure.calls import Call
from tests.measure.verdicts import only
from voiceharness.measure import find_faults, measure

if TYPE_CHECKING:
    from voiceharness.measure import Finding

__all__: list[str] = []


def told(at: float, kind: str, count: int, since: float, call: Call | None = None) -> Call:
    detail = f"{count} so far"
    call = call or Call(10)
    return call.note(at, "media_trouble", kind=kind, detail=detail, figure=count, unit="packets", duration=at - since)


def found(call: Call) -> list[Finding]:
    record = call.record()
    return list(find_faults(record, measure(record)))


def test_what_the_transport_tells_is_a_warning_with_its_time_and_size() -> None:
    finding = only(told(3, "rtp_lost", 12, since=1), "rtp_lost")
    assert finding.severity == "warning"
    assert (finding.start, finding.end) == (8000, 24000)
    assert (finding.figure, finding.unit, finding.explanation) == (12, "packets", "12 so far")


def test_news_of_the_same_stretch_are_one_finding() -> None:
    call = told(5, "rtp_lost", 20, since=1.01, call=told(3, "rtp_lost", 12, since=1))
    finding = only(call, "rtp_lost")
    assert (finding.start, finding.end, finding.figure) == (8000, 40000, 20)


def test_each_occasion_and_each_kind_is_a_finding_of_its_own() -> None:
    call = told(3, "rtp_sequence_jump", 1, since=3)
    told(6, "rtp_sequence_jump", 1, since=6, call=call)
    told(6, "rtp_doubled", 8, since=5, call=call)
    assert [(each.kind, each.start) for each in found(call)] == [
        ("rtp_sequence_jump", 24000),
        ("rtp_doubled", 40000),
        ("rtp_sequence_jump", 48000),
    ]


def test_a_kind_that_is_not_known_stays_on_the_timeline_alone() -> None:
    call = told(3, "of_another_transport", 1, since=2)
    assert found(call) == []
    assert len(list(call.record().of_kind("media_trouble"))) == 1
