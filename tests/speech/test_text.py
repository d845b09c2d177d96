"""How texts are compared."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voiceharness.speech.text import find_phrase, normalize, word_error_rate

__all__: list[str] = []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Hello, World!", "hello world"),
        ("seven thirty", "7:30"),
        ("seven thirty", "730"),
        ("7.30 p.m.", "seven thirty PM"),
        ("7pm", "7:00 PM"),
        ("seven o'clock", "7:00"),
        ("four eight two one", "4821"),
        ("four oh two", "402"),
        ("oh four two one", "0421"),
        ("$45", "forty-five dollars"),
        ("$45.50", "forty five dollars and fifty cents"),
        ("$3.00", "three dollars"),
        ("1,234", "one thousand two hundred and thirty four"),
        ("2026", "twenty twenty six"),
        ("2026", "two thousand twenty-six"),
        ("three point five", "3.5"),
        ("March 3rd", "march third"),
        ("the twenty second", "the 22nd"),
        ("50%", "fifty percent"),
        ("555-0101", "five five five, zero one zero one"),
        ("café", "cafe"),
        ("It\u2019s fine", "It's fine"),
        ("check-in", "check in"),
        ("Good-bye", "goodbye"),
        ("To-morrow", "tomorrow"),
        ("Mm-hmm.", "mm hmm"),
        ("OK", "okay"),
    ],
)
def test_spellings_of_the_same_words_are_equal(one: str, other: str) -> None:
    assert normalize(one) == normalize(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("fifteen", "fifty"),
        ("$3.50", "$350"),
        ("3.5", "35"),
        ("7:30", "8:30"),
        ("four", "for"),
        ("wait a second", "wait a 2"),
        ("oh, one moment", "01 moment"),
        ("black and white", "black white"),
        ("zero one", "one"),
    ],
)
def test_different_words_stay_different(one: str, other: str) -> None:
    assert normalize(one) != normalize(other)


@given(st.text())
def test_normalizing_takes_any_text(text: str) -> None:
    words = normalize(text)
    assert all(word and word == word.strip() for word in words)


def test_error_rate_counts_edits_over_words_of_the_reference() -> None:
    assert word_error_rate("book a table for four", "Book a table, for 4.") == 0.0
    assert word_error_rate("book a table for four", "book the table for four") == pytest.approx(0.2)
    assert word_error_rate("book a table", "book table") == pytest.approx(1 / 3)
    assert word_error_rate("yes", "yes yes yes") == 2.0
    assert word_error_rate("", "") == 0.0
    assert word_error_rate("", "two words") == 2.0


@given(st.lists(st.sampled_from(["yes", "no", "table"])), st.lists(st.sampled_from(["yes", "no", "table"])))
def test_error_rate_is_zero_only_for_equal_words(one: list[str], other: list[str]) -> None:
    assert (word_error_rate(" ".join(one), " ".join(other)) == 0.0) is (one == other)


def test_phrase_is_found_inside_a_transcript() -> None:
    match = find_phrase("confirmed for Friday at ten", "Great! Your appointment is confirmed for Friday at 10, bye.")
    assert (match.start, match.end, match.errors, match.error_rate) == (4, 9, 0, 0.0)


def test_phrase_match_counts_edits() -> None:
    match = find_phrase("is confirmed for friday", "it is confirmed on friday then")
    assert (match.start, match.end, match.errors) == (1, 5, 1)
    assert match.error_rate == pytest.approx(0.25)


def test_absent_phrase_needs_an_edit_for_each_word() -> None:
    assert find_phrase("cancel it", "").errors == 2
    assert find_phrase("cancel it", "hello there").error_rate == 1.0


def test_empty_phrase_matches_at_the_start() -> None:
    match = find_phrase("", "hello")
    assert (match.start, match.end, match.errors, match.error_rate) == (0, 0, 0, 0.0)


@given(
    st.lists(st.sampled_from("abcd"), min_size=1), st.lists(st.sampled_from("abcd")), st.lists(st.sampled_from("xy"))
)
def test_contained_phrase_has_no_errors(phrase: list[str], before: list[str], after: list[str]) -> None:
    match = find_phrase(" ".join(phrase), " ".join(before + phrase + after))
    assert match.errors == 0
    assert (before + phrase + after)[match.start : match.end] == phrase
