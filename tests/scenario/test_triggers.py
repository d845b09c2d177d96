"""When the user talks over the agent."""

from __future__ import annotations

import pytest

from voiceharness.errors import ScenarioError
from voiceharness.scenario.triggers import (
    AfterSeconds,
    AfterText,
    AfterWords,
    AtRandom,
    AtTime,
    at_random,
    at_time,
    said,
    seconds,
    words,
)

__all__: list[str] = []


def test_short_names_make_the_triggers() -> None:
    assert seconds(0.8) == AfterSeconds(0.8)
    assert words(4) == AfterWords(4)
    assert said("which day") == AfterText("which day")
    assert at_random(0.5, 1.5, probability=0.3) == AtRandom(0.5, 1.5, 0.3)
    assert at_time(1.9) == AtTime(1.9)


def test_a_random_trigger_draws_the_same_point_for_the_same_seed_and_step() -> None:
    """Case B09."""
    trigger = AtRandom(0.3, 2.0, probability=0.3)
    first = [trigger.draw(1, step) for step in range(5)]
    assert first == [trigger.draw(1, step) for step in range(5)]
    assert [trigger.draw(1, step) for step in reversed(range(5))] == first[::-1]


def test_every_random_point_lies_in_its_range() -> None:
    points = [AtRandom(0.3, 2.0).draw(seed, 0) for seed in range(500)]
    assert all(point is not None and 0.3 <= point.seconds <= 2.0 for point in points)
    assert len(set(points)) == 500


@pytest.mark.parametrize(("probability", "low", "high"), [(0.0, 0, 0), (0.3, 240, 360), (1.0, 1000, 1000)])
def test_a_turn_is_struck_with_the_stated_probability(probability: float, low: int, high: int) -> None:
    trigger = AtRandom(probability=probability)
    struck = sum(trigger.draw(seed, 3) is not None for seed in range(1000))
    assert low <= struck <= high


def test_neighbouring_seeds_have_nothing_in_common() -> None:
    """Case B56."""
    trigger = AtRandom(0.0, 1.0)
    same = [trigger.draw(42, step) == trigger.draw(43, step) for step in range(100)]
    assert not any(same)


def test_the_random_point_is_the_same_on_every_python() -> None:
    point = AtRandom(0.0, 1.0).draw(1, 0)
    assert point is not None
    assert point.seconds == 0.18314818427659574


@pytest.mark.parametrize(
    ("phrase", "heard", "enough"),
    [
        ("which day", "And which day suits you", 3),
        ("Which day?", "and WHICH", None),
        ("day", "today", None),
        ("which suits", "which day suits", None),
        ("4821", "your code is four eight two one five", 7),
        ("seven thirty", "at 7:30 then", 2),
        ("Mm-hmm", "mm hmm yes", 2),
    ],
)
def test_words_are_enough_at_the_end_of_the_phrase_however_it_is_written(
    phrase: str, heard: str, enough: int | None
) -> None:
    assert AfterText(phrase).enough(heard.split()) == enough


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: AfterSeconds(-1), "trigger: seconds takes seconds"),
        (lambda: AfterSeconds(float("nan")), "trigger: seconds takes seconds"),
        (lambda: AfterText("..."), r"waits for words, and '...' has none"),
        (lambda: AfterWords(0), "at least 1 word"),
        (lambda: AfterWords(True), "trigger: words takes a whole number"),
        (lambda: AtRandom(2.0, 1.0), r"latest \(1 s\) comes before earliest \(2 s\)"),
        (lambda: AtRandom(probability=1.5), "probability from 0 to 1, not 1.5"),
        (lambda: AtTime(-0.1), "trigger: time takes seconds"),
    ],
)
def test_a_trigger_that_cannot_be_is_refused(make: object, message: str) -> None:
    assert callable(make)
    with pytest.raises(ScenarioError, match=message):
        make()
