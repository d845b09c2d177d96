"""Which digits are read one by one."""

from __future__ import annotations

import pytest

from voiceharness.speech.digits import spell_digits

__all__: list[str] = []


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("4 8 2 1", "four eight two one"),
        ("4-8-2-1.", "four eight two one."),
        ("PIN is 4821", "PIN is four eight two one"),
        ("My pin: 4821.", "My pin: four eight two one."),
        ("the code I got was 482, I think", "the code I got was four eight two, I think"),
        ("card ending in 0042", "card ending in zero zero four two"),
        ("order #739", "order #seven three nine"),
        ("ZIP 90210", "ZIP nine zero two one zero"),
        ("90210", "nine zero two one zero"),
        ("agent 007", "agent zero zero seven"),
        ("555-0101", "five five five, zero one zero one"),
        ("(555) 010-1234", "five five five, zero one zero, one two three four"),
        ("+1 555 010 1234", "plus one, five five five, zero one zero, one two three four"),
        ("4242 4242 4242 4242", ", ".join(["four two four two"] * 4)),
    ],
)
def test_codes_and_phone_numbers_are_read_digit_by_digit(text: str, spoken: str) -> None:
    assert spell_digits(text) == spoken


@pytest.mark.parametrize(
    "text",
    [
        "in 2026",
        "at 7:30 or 19:30",
        "$1,234.56",
        "$10000",
        "10,000 people",
        "2026-11-30",
        "11/30/2026",
        "3.14159",
        "table for 4 at 8",
        "room 12",
        "50000%",
        "The code. In 2026 it changed",
    ],
)
def test_other_numbers_are_left_to_the_engine(text: str) -> None:
    assert spell_digits(text) == text
