"""What the agent believes was heard, each with its twin that is right."""

from __future__ import annotations

import pytest

from tests.measure.calls import Call, speechlike, tone
from tests.measure.verdicts import faults, kinds, only

WORDS = "one two three four five six seven eight nine ten".split()  # noqa: SIM905  # ten words read better as a line


def told(heard: int, claim: str | None, *, cut: float | None = None, late: float = 0.0) -> Call:
    """The agent says ten words of 500 ms, of which some are heard, and claims a history."""
    call = Call(9).agent(0, tone(440, 5), "a")
    if cut is not None:
        call.barge_in(cut - 0.3, speechlike(1)).flush(cut).agent(4, tone(880, 1), "b")
    for index, word in enumerate(WORDS[:heard]):
        end = 0.5 * (index + 1)
        at = end + late * (index == heard - 1)
        call.note(at, "word_heard", text=word, start=0, end=0, item="a", source="agent", estimated=False)
    if claim is not None:
        call.note(5 if cut is None else cut, "history_claimed", item="a", text=claim)
    return call


def test_words_that_were_heard_and_are_missing_are_found() -> None:
    """Case A19 (a): cut at 2.3 s, the agent's log is empty."""
    finding = only(told(4, "", cut=2.3), "history_missing_words")
    assert (finding.figure, finding.unit) == (4, "words")


def test_a_last_word_that_is_missing_is_named() -> None:
    """Case A19 (b)."""
    finding = only(told(10, " ".join(WORDS[:9])), "history_missing_words")
    assert finding.figure == 1
    assert finding.explanation.endswith(": ten")


def test_a_word_that_comes_after_the_end_of_the_turn_belongs_to_it() -> None:
    """Case A19 (c)."""
    call = told(10, " ".join(WORDS), late=0.15).note(5, "turn_done", item="a")
    assert kinds(call) == []


def test_a_right_history_of_a_cut_turn_is_no_fault() -> None:
    """Case A19: with or without the word that was cut."""
    assert kinds(told(4, "One, two, three, four", cut=2.3)) == []
    assert kinds(told(4, "One, two, three, four, five", cut=2.3)) == []


def test_words_that_were_never_heard_are_found() -> None:
    finding = only(told(4, " ".join(WORDS), cut=2.3), "history_unheard_words")
    assert finding.figure == 6
    assert "five six seven eight nine …" in finding.explanation


def test_a_history_of_something_that_was_never_heard_is_found() -> None:
    """Case A17."""
    call = Call(5).barge_in(0.3, speechlike(0.5)).agent(2, tone(880, 1), "b")
    call.note(1, "history_claimed", item="a", text="Hello there")
    assert only(call, "history_unheard_words").figure == 2


def test_without_words_or_claims_nothing_is_judged() -> None:
    assert kinds(told(0, " ".join(WORDS))) == []
    assert kinds(told(10, None)) == []


def test_a_call_that_ends_in_mid_turn_leaves_no_time_to_correct() -> None:
    call = told(4, None).note(0.1, "history_claimed", item="a", text=" ".join(WORDS)).hang_up("user", at=2.3)
    assert kinds(call) == []


def truncated(heard: float) -> Call:
    """Two items queued at once behind a line delay of 300 ms; the user interrupts at 3.5 s."""
    call = Call(6).agent(0.3, tone(440, 2), "1").agent(0.3, tone(440, 6), "2").barge_in(3.4, speechlike(1))
    return call.flush(3.5).note(3.5, "truncation_claimed", item="2", heard=heard)


@pytest.mark.parametrize("claimed", [3.2, 1.5, 6.0])
def test_a_truncation_at_the_wrong_place_is_found(claimed: float) -> None:
    """Case A14, with the fault: counted from item 1, delay ignored, all that was queued."""
    finding = only(truncated(claimed), "wrong_truncation")
    assert finding.figure == pytest.approx(claimed - 1.2, abs=0.02)


def test_a_truncation_where_the_sound_stopped_is_no_fault() -> None:
    """Case A14, without the fault."""
    assert faults(truncated(1.2)) == ()
