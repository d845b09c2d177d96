"""Amounts with units."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voiceharness.errors import ScenarioError
from voiceharness.scenario import units

__all__: list[str] = []


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("800ms", 0.8),
        ("1.2s", 1.2),
        ("1.2 s", 1.2),
        ("2min", 120.0),
        ("3", 3.0),
        (".5s", 0.5),
        ("1e3ms", 1.0),
        ("0", 0),
    ],
)
def test_a_duration_is_read_in_seconds(text: str, seconds: float) -> None:
    assert units.parse_seconds(text) == seconds


def test_milliseconds_and_seconds_of_equal_length_are_the_same_float() -> None:
    for milliseconds in range(5000):
        assert units.parse_seconds(f"{milliseconds}ms") == units.parse_seconds(f"{milliseconds / 1000!r}s")


@pytest.mark.parametrize(
    "text", ["", "s", "800 sec", "1.2.3s", "1,5s", "fast", "0x10", "1_000ms", "nan", "inf", "4 words"]
)
def test_what_is_no_duration_is_shown_with_what_would_be(text: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        units.parse_seconds(text)
    assert str(caught.value) == f"{text!r} is not a duration; write for example 800ms, 1.2s or 2min"


def test_a_duration_is_never_negative() -> None:
    with pytest.raises(ScenarioError, match="'-1s' is negative"):
        units.parse_seconds("-1s")


@pytest.mark.parametrize(("text", "milliseconds"), [("120", 120), ("120ms", 120), ("0.12s", 120), ("1s", 1000)])
def test_milliseconds_are_whole(text: str, milliseconds: int) -> None:
    assert units.parse_milliseconds(text) == milliseconds


def test_a_fraction_of_a_millisecond_is_refused() -> None:
    with pytest.raises(ScenarioError, match=r"'0\.5ms' is not whole milliseconds"):
        units.parse_milliseconds("0.5ms")


@pytest.mark.parametrize(("text", "count"), [("1 word", 1), ("4 words", 4), ("4words", 4)])
def test_words_are_counted(text: str, count: int) -> None:
    assert units.parse_words(text) == count


@pytest.mark.parametrize("text", ["4", "four words", "1.5 words", "-1 words"])
def test_what_is_no_number_of_words_is_refused(text: str) -> None:
    with pytest.raises(ScenarioError, match="words"):
        units.parse_words(text)


@pytest.mark.parametrize(("text", "hertz"), [("440Hz", 440.0), ("1.2 kHz", 1200.0), (".5khz", 500.0), ("146.7", 146.7)])
def test_a_frequency_is_read_in_hertz(text: str, hertz: float) -> None:
    assert units.parse_hertz(text) == hertz
    assert units.parse_hertz(units.format_hertz(hertz)) == hertz


@pytest.mark.parametrize("text", ["A4", "440 hertz", "1MHz", ""])
def test_what_is_no_frequency_is_shown_with_what_would_be(text: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        units.parse_hertz(text)
    assert str(caught.value) == f"{text!r} is not a frequency; write for example 440Hz or 1.2kHz"


@pytest.mark.parametrize(("text", "decibels"), [("20dB", 20.0), ("-6 dB", -6.0), ("+1.5db", 1.5), ("+1", 1.0)])
def test_decibels_have_a_sign(text: str, decibels: float) -> None:
    assert units.parse_decibels(text) == decibels


def test_a_plain_number_has_no_unit() -> None:
    assert units.parse_number("1.25") == 1.25
    with pytest.raises(ScenarioError, match=r"'1\.25x' is not a number"):
        units.parse_number("1.25x")


@pytest.mark.parametrize(("text", "share"), [("0.05", 0.05), ("5%", 0.05), ("12.5 %", 0.125), ("100%", 1.0), ("0", 0)])
def test_a_share_may_be_in_percent(text: str, share: float) -> None:
    assert units.parse_share(text) == share


@pytest.mark.parametrize("text", ["5 percent", "-5%", "%", ""])
def test_what_is_no_share_is_shown_with_what_would_be(text: str) -> None:
    with pytest.raises(ScenarioError, match="share"):
        units.parse_share(text)


@settings(deadline=None)
@given(st.floats(min_value=0, max_value=1e9, allow_nan=False))
def test_what_is_written_is_read_back_equal(value: float) -> None:
    assert units.parse_seconds(units.format_seconds(value)) == value
    assert units.parse_number(units.format_number(value)) == value
    assert math.copysign(1, units.parse_decibels(units.format_decibels(-1.0 - value))) == -1
    assert units.parse_decibels(units.format_decibels(-value)) == -value


@settings(deadline=None)
@given(st.integers(min_value=1, max_value=10**9))
def test_whole_amounts_are_read_back_equal(value: int) -> None:
    assert units.parse_words(units.format_words(value)) == value
    assert units.parse_milliseconds(units.format_milliseconds(value)) == value
