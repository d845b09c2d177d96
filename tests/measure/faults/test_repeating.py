"""Faults of repeating, each with its twin that has none."""

from __future__ import annotations

import pytest

from tests.measure.calls import Call, speechlike, spoken
from tests.measure.verdicts import kinds, only
from voiceharness.audio.resample import resample

FRAME = 0.02


def twice(first: str, second: str, pause: float, *, items: bool = False) -> Call:
    """The user asks, and the agent says two things one after the other."""
    call = Call(25).user(0, speechlike(1)).agent(1.5, spoken(first), "a" if items else None)
    at = 1.5 + len(spoken(first)) / 8000 + pause
    return call.agent(at, spoken(second), "b" if items else None)


def test_an_answer_that_comes_twice_is_found() -> None:
    """Case A31: two responses were made to one turn."""
    finding = only(twice("agent_offer", "agent_offer", 1.0), "double_answer")
    assert finding.figure == pytest.approx(5.72, abs=FRAME)


def test_two_items_without_a_pause_between_them_are_told_apart() -> None:
    """Case A31: both were in the queue at once."""
    assert kinds(twice("agent_offer", "agent_offer", 0.0, items=True)) == ["double_answer"]


@pytest.mark.parametrize("rate", [16000, 48000])
def test_it_is_found_on_wide_lines_too(rate: int) -> None:
    """Case A31."""
    sound = resample(spoken("agent_offer"), 8000, rate)
    call = Call(16, rate=rate, mulaw=False).user(0, speechlike(1, rate=rate)).agent(1.5, sound, "a")
    assert kinds(call.agent(8.6 + 1 / rate, sound, "b")) == ["double_answer"]


@pytest.mark.parametrize(("second", "pause"), [("agent_menu", 1.0), ("agent_offer", 3.0)])
def test_two_answers_and_a_reminder_are_no_double(second: str, pause: float) -> None:
    """Case A31, without the fault: something else is said, or the user has been silent for long."""
    assert kinds(twice("agent_offer", second, pause)) == []


def asked(*answers: str, words: dict[str, str] | None = None) -> Call:
    """The user answers each prompt."""
    call, at = Call(60), 0.0
    for index, name in enumerate(answers):
        call.user(at, speechlike(1, seed=index)).agent(at + 1.5, spoken(name), f"item {index}")
        end = at + 1.5 + len(spoken(name)) / 8000
        for place, word in enumerate((words or {}).get(name, "").split()):
            call.note(end - 1 + 0.1 * place, "word_heard", text=word, item=f"item {index}", start=0, end=0)
        at = end + 1
    return call


def test_a_prompt_that_repeats_whatever_the_user_says_is_found() -> None:
    finding = only(asked("agent_menu", "agent_offer", "agent_offer", "agent_offer"), "repeated_prompt")
    assert (finding.figure, finding.unit, finding.severity) == (3, "turns", "warning")


def test_the_words_decide_where_they_are_known() -> None:
    """A voice that never says the same in the same way."""
    told = {"agent_menu": "which day please", "agent_offer": "which day please", "agent_confirm": "Which day please"}
    assert kinds(asked("agent_menu", "agent_offer", "agent_confirm", words=told)) == ["repeated_prompt"]
    told["agent_offer"] = "at what time"
    assert kinds(asked("agent_menu", "agent_offer", "agent_confirm", words=told)) == []


@pytest.mark.parametrize("answers", [("agent_menu", "agent_menu", "agent_offer"), ("agent_menu", "agent_offer") * 2])
def test_a_prompt_that_is_said_once_more_is_no_fault(answers: tuple[str, ...]) -> None:
    assert kinds(asked(*answers)) == []
