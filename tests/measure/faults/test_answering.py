"""Faults of answering, each with its twin that has none."""

from __future__ import annotations

import pytest

from tests.measure.calls import Call, speechlike, tone
from tests.measure.verdicts import faults, interval, kinds, only

FRAME = 0.02


def test_a_user_who_waits_in_silence_is_found() -> None:
    """Case A64: a turn that is never answered."""
    finding = only(Call(9).user(1, speechlike(1)), "dead_air")
    assert finding.figure == pytest.approx(7, abs=FRAME)
    assert finding.start / 8000 == pytest.approx(2, abs=FRAME)


def test_silence_of_a_user_who_was_asked_is_not_the_agents_fault() -> None:
    assert kinds(Call(9).user(0, speechlike(1)).agent(1.5, tone(440, 1))) == []


def answers(*latencies: float) -> Call:
    call = Call(5 * len(latencies))
    for index, latency in enumerate(latencies):
        call.user(5 * index, speechlike(1)).agent(5 * index + 1 + latency, tone(440, 0.5))
    return call


def test_answers_that_come_ever_later_are_found() -> None:
    finding = only(answers(0.4, 0.7, 1.1, 1.6), "growing_latency")
    assert finding.figure == pytest.approx(1.2, abs=FRAME)


@pytest.mark.parametrize("latencies", [(0.4, 1.6, 0.5, 1.7), (0.8, 0.8, 0.9, 1.0), (0.4, 0.8, 1.6)])
def test_answers_that_vary_do_not_grow(latencies: tuple[float, ...]) -> None:
    assert kinds(answers(*latencies)) == []


def lagging(*answered: int) -> Call:
    call = Call(15)
    for index, (said, answer) in enumerate(zip((500, 700, 900), answered, strict=True)):
        call.user(5 * index, tone(said, 1)).agent(5 * index + 1.8, tone(answer, 1))
    return call


def test_answers_to_the_turn_before_are_found() -> None:
    """Case A33, with the fault."""
    found = faults(lagging(500, 500, 700))
    assert [(finding.kind, finding.figure, finding.unit) for finding in found] == [("stale_answer", 1, "turns")] * 2


def test_answers_to_the_turn_itself_are_no_fault() -> None:
    """Case A33, without the fault."""
    assert kinds(lagging(500, 700, 900)) == []


def test_a_claim_to_speak_in_silence_is_found() -> None:
    """Case A29, with the fault; the latency is that of the sound."""
    call = Call(12).user(0, speechlike(2.5)).note(3, "state_claimed", state="speaking").agent(9, tone(440, 2))
    found = {finding.kind: finding for finding in faults(call)}
    assert set(found) == {"claimed_speaking_but_silent", "dead_air"}
    finding = found["claimed_speaking_but_silent"]
    assert finding.figure == pytest.approx(6, abs=FRAME)
    assert interval(finding) == [pytest.approx(3), pytest.approx(9, abs=FRAME)]


def test_a_claim_to_speak_that_is_heard_is_no_fault() -> None:
    """Case A29, without the fault."""
    call = Call(12).note(3, "state_claimed", state="speaking").agent(3.5, tone(440, 2))
    assert kinds(call.note(5.9, "state_claimed", state="listening")) == []


def test_a_claim_that_nobody_takes_back_ends_with_the_speech() -> None:
    """Case A29: an agent that only tells when it begins."""
    assert kinds(Call(12).note(3, "state_claimed", state="speaking").agent(3.5, tone(440, 2))) == []
