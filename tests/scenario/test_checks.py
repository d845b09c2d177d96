"""Expectations as values."""

from __future__ import annotations

import pickle

import pytest

from voiceharness.errors import ScenarioError
from voiceharness.scenario.checks import (
    Answered,
    Dtmf,
    Ended,
    Expectation,
    LongestSilence,
    NoFault,
    Overlap,
    ResponseLatency,
    StopLatency,
    Tone,
    Transcript,
)

__all__: list[str] = []

ONE_OF_EACH: list[Expectation] = [
    ResponseLatency(1.5, p95=3),
    StopLatency(p50=0.5),
    Overlap(1.0),
    LongestSilence(4.0),
    Dtmf("12#", by="user"),
    Transcript(contains="Tuesday", lacks="sorry", matches=r"\bten\b"),
    Tone(440, 1),
    Answered(within=5, code=200),
    Ended(by="agent", within=30, cause="486"),
    NoFault(["dead_air"]),
]


def test_kinds_are_stable() -> None:
    """Case B58."""
    assert [type(each) for each in ONE_OF_EACH] == list(Expectation.__args__)
    assert [each.kind for each in ONE_OF_EACH] == [
        "response_latency",
        "stop_latency",
        "overlap",
        "silence",
        "dtmf",
        "transcript",
        "tone",
        "answered",
        "ended",
        "no_fault",
    ]


@pytest.mark.parametrize("expectation", ONE_OF_EACH, ids=lambda each: each.kind)
def test_an_expectation_is_a_frozen_value(expectation: Expectation) -> None:
    copy = pickle.loads(pickle.dumps(expectation))
    assert copy == expectation
    assert hash(copy) == hash(expectation)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ResponseLatency(), "response_latency takes at least one of at_most, p50, p95"),
        (lambda: StopLatency(), "stop_latency takes at least one of at_most, p50, p95"),
        (lambda: Transcript(), "transcript takes at least one of contains, lacks, matches"),
        (lambda: Transcript(lacks="..."), "transcript: there is no word in '...'"),
        (
            lambda: Transcript(matches="(ten"),
            "transcript: '(ten' is no regular expression (missing ), unterminated subpattern at position 0)",
        ),
        (lambda: Tone(-440), "tone: hz takes hertz, a number above 0, not -440"),
        (lambda: Tone(20), "tone: hz takes 40 Hz or more, not 20 Hz"),
        (lambda: Tone(440, 0.05), "tone: duration takes 0.1 s or more, not 0.05 s"),
        (lambda: Ended(by="nobody"), "ended: by takes agent or user or limit, not 'nobody'"),  # type: ignore[arg-type] # the point
        (lambda: Answered(code=-1), "answered: code takes a whole number of at least 0, not -1"),
        (lambda: NoFault("dead_air"), "no_fault: kinds takes a list, not 'dead_air'"),  # type: ignore[arg-type] # the point
        (lambda: Overlap(-1), "overlap: at_most takes seconds, a number of at least 0, not -1"),
        (
            lambda: Dtmf(""),
            "dtmf: digits takes keypad digits as text, such as \"12#\", not ''",
        ),
    ],
)
def test_an_expectation_that_cannot_be_is_refused(make: object, message: str) -> None:
    assert callable(make)
    with pytest.raises(ScenarioError) as caught:
        make()
    assert str(caught.value) == message
