"""Times of words: spread, and carried from spoken to written form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voiceharness.events import Word
from voiceharness.speech.words import is_word, map_words, spread_words

__all__: list[str] = []


def _spoken(text: str) -> list[Word]:
    """One word each half second, 0.4 s long."""
    return [Word(token, index / 2, index / 2 + 0.4) for index, token in enumerate(text.split())]


@pytest.mark.parametrize(("token", "spoken"), [("hi", True), ("7", True), ("-", False), ("(…)", False), ("é", True)])
def test_a_word_has_a_letter_or_digit(token: str, spoken: bool) -> None:
    assert is_word(token) is spoken


def test_spread_gives_longer_words_more_time() -> None:
    a, b = spread_words(["I", "-", "reserved"], 1.0, 2.1)
    assert [a.text, b.text] == ["I", "reserved"]
    assert [a.start, a.end, b.start, b.end] == pytest.approx([1.0, 1.1, 1.2, 2.0])
    assert a.estimated
    assert b.estimated


def test_spread_of_nothing_is_nothing() -> None:
    assert spread_words([], 0.0, 1.0) == ()


def test_equal_words_keep_their_times() -> None:
    spoken = _spoken("book a table")
    assert map_words(["book", "a", "table"], spoken) == tuple(spoken)


def test_one_written_word_gets_all_it_was_spoken_as() -> None:
    words = map_words(["it", "is", "$45", "now"], _spoken("it is forty-five dollars now"))
    assert words[2] == Word("$45", 1.0, 1.9)


def test_written_words_that_are_silent_are_dropped() -> None:
    assert [word.text for word in map_words(["well", "-", "yes"], _spoken("well yes"))] == ["well", "yes"]


def test_digit_groups_share_the_names_of_their_digits() -> None:
    spoken = _spoken("call plus one, five five five, zero one zero, now")
    words = map_words(["call", "+1", "555", "010", "now"], spoken)
    assert [(word.text, word.start, word.estimated) for word in words] == [
        ("call", 0.0, False),
        ("+1", 0.5, True),
        ("555", 1.5, True),
        ("010", 3.0, True),
        ("now", 4.5, False),
    ]


def test_more_written_than_spoken_is_spread_over_the_same_time() -> None:
    words = map_words(["to", "be", "or"], [Word("tobe", 0.0, 0.6), Word("or", 0.6, 0.9)])
    assert [word.text for word in words] == ["to", "be", "or"]
    assert [word.estimated for word in words] == [True, True, False]
    assert words[1].end <= 0.6


def test_word_spoken_but_not_written_belongs_to_the_one_before() -> None:
    assert map_words(["at", "nine"], _spoken("at nine o'clock"))[1] == Word("nine", 0.5, 1.4)


@given(
    st.lists(st.sampled_from(["a", "bb", "4", "+5", "-", "42"])), st.lists(st.sampled_from(["a", "bb", "c", "four"]))
)
def test_mapped_words_are_in_order_and_inside(written: list[str], said: list[str]) -> None:
    words = map_words(written, _spoken(" ".join(said)))
    edges = [edge for word in words for edge in (word.start, word.end)]
    assert edges == sorted(edges)
    assert all(0 <= edge <= len(said) / 2 for edge in edges)
