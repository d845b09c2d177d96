"""Number words as digits."""

from __future__ import annotations

import pytest

from voiceharness.speech.numbers import digits_for_numbers

__all__: list[str] = []


@pytest.mark.parametrize(
    ("words", "digits"),
    [
        ("zero", "0"),
        ("twenty three", "23"),
        ("one hundred", "100"),
        ("one hundred and five", "105"),
        ("fifteen hundred", "1500"),
        ("two million three hundred thousand and one", "2300001"),
        ("5 thousand", "5000"),
        ("two thousand 26", "2026"),
        ("seven thirty", "730"),
        ("twenty twenty", "2020"),
        ("zero zero seven", "007"),
        ("nineteen oh five", "1905"),
        ("three point one four", "3.14"),
        ("twenty first", "21"),
        ("twenty second", "22"),
        ("sixteenth", "16"),
        ("3.5", "3.5"),
    ],
)
def test_number_words_become_digits(words: str, digits: str) -> None:
    assert digits_for_numbers(words.split()) == [digits]


@pytest.mark.parametrize("words", ["oh", "oh dear", "and", "point", "hundred times", "a second", "one o clock point"])
def test_words_that_are_no_numbers_stay(words: str) -> None:
    kept = [word for word in words.split() if word != "one"]
    assert [word for word in digits_for_numbers(words.split()) if word != "1"] == kept


def test_numbers_are_found_among_other_words() -> None:
    words = ["table", "for", "two", "at", "seven", "or", "eight"]
    assert digits_for_numbers(words) == ["table", "for", "2", "at", "7", "or", "8"]
