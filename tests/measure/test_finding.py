"""Findings as values, and the search for all of them."""

from __future__ import annotations

import json

import numpy as np

from tests.measure.calls import Call, tone
from voiceharness.audio.edges import Span
from voiceharness.line.record import CallRecord
from voiceharness.measure import FINDING_KINDS, find_faults, measure
from voiceharness.measure.faults import DETECTORS
from voiceharness.measure.finding import finding, moment


def test_kinds_are_sorted_and_unique() -> None:
    assert list(FINDING_KINDS) == sorted(set(FINDING_KINDS))


def test_a_finding_survives_json() -> None:
    found = finding("dead_air", Span(8000, 48000), 5.00001, "s", "the user waited", severity="warning")
    plain = found.to_json()
    assert json.loads(json.dumps(plain)) == plain
    assert plain == {
        "kind": "dead_air",
        "severity": "warning",
        "start": 8000,
        "end": 48000,
        "figure": 5.0,
        "unit": "s",
        "explanation": "the user waited",
    }


def test_moments_read_as_seconds() -> None:
    empty = np.zeros(0, np.int16)
    assert moment(CallRecord(16000, empty, empty), 24000) == "1.50 s"


def test_findings_come_in_order_of_their_start() -> None:
    call = Call(30).note(20, "state_claimed", state="speaking").agent(0, tone(440, 6)).flush(2)
    call.agent(10, tone(440, 3)).flush(11)
    record = call.record()
    starts = [each.start for each in find_faults(record, measure(record))]
    assert len(starts) == 3
    assert starts == sorted(starts)


def test_an_empty_call_has_no_faults() -> None:
    empty = np.zeros(0, np.int16)
    record = CallRecord(8000, empty, empty)
    assert find_faults(record, measure(record)) == ()


def test_no_detector_is_listed_twice() -> None:
    assert len(set(DETECTORS)) == len(DETECTORS)
