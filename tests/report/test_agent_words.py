"""The agent's turns in words, and whose words they are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tests.report.calls import answered_call, made_up
from tests.report.html.showcase import showcase_call
from voiceharness.report.agent_words import agent_words, words_text
from voiceharness.scenario.understanding import Understood

if TYPE_CHECKING:
    from voiceharness.scenario.result import CallResult


def understood(call: CallResult, *texts: str, late: int = 0) -> CallResult:
    """A call of which a transcriber understood so much."""
    assert call.metrics is not None
    turns = zip(call.metrics.agent_turns, texts, strict=False)
    heard = [Understood(turn.onset, turn.offset + late, text) for turn, text in turns]
    return replace(call, understood=tuple(heard))


def test_words_that_were_sent_belong_to_the_turn_in_which_they_were_heard() -> None:
    call = showcase_call()
    assert call.metrics is not None
    words = agent_words(call)
    assert words[0] == {"turn": 0, "text": "Thank you for calling Lakeside Dental. How", "by": "agent"}
    assert {each["by"] for each in words} == {"agent"}
    assert [each["turn"] for each in words] == list(range(len(call.metrics.agent_turns)))


def test_of_an_agent_that_sent_none_they_are_the_transcribers() -> None:
    words = agent_words(understood(answered_call(), "we open at nine", ""))
    assert words == [{"turn": 0, "text": "we open at nine", "by": "transcriber"}]


def test_what_was_sent_and_what_was_understood_are_never_mixed() -> None:
    assert agent_words(understood(showcase_call(), "tank you")) == agent_words(showcase_call())


def test_what_was_understood_of_a_turn_that_went_on_is_not_told_of_all_of_it() -> None:
    assert agent_words(understood(answered_call(), "we open", late=-800)) == []


def test_a_call_that_was_never_answered_has_none() -> None:
    assert agent_words(made_up("not_called")) == []


def test_the_text_shows_whose_words_they_are() -> None:
    assert words_text({"turn": 0, "text": "hello", "by": "agent"}) == "hello"
    assert words_text({"turn": 0, "text": "hello", "by": "transcriber"}) == "heard: hello"
