"""Amounts as people write them in a scenario: ``800ms``, ``4 words``, ``20dB``; read exactly, written back equal.

Arithmetic is decimal, so that ``800ms`` is the same float as ``0.8s``. A bare number is in the unit that the name of
its function says.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from voiceharness.errors import ScenarioError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "format_decibels",
    "format_hertz",
    "format_milliseconds",
    "format_number",
    "format_seconds",
    "format_words",
    "parse_decibels",
    "parse_hertz",
    "parse_milliseconds",
    "parse_number",
    "parse_seconds",
    "parse_share",
    "parse_words",
]

_AMOUNT: Final = re.compile(r"([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]{1,3})?)\s*([a-zµ%]*)", re.IGNORECASE)

_SECONDS: Final[Mapping[str, Decimal]] = {
    "": Decimal(1),
    "ms": Decimal("0.001"),
    "s": Decimal(1),
    "min": Decimal(60),
}
_MILLISECONDS: Final[Mapping[str, Decimal]] = {"": Decimal(1), "ms": Decimal(1), "s": Decimal(1000)}
_DECIBELS: Final[Mapping[str, Decimal]] = {"": Decimal(1), "db": Decimal(1)}
_HERTZ: Final[Mapping[str, Decimal]] = {"": Decimal(1), "hz": Decimal(1), "khz": Decimal(1000)}
_WORDS: Final[Mapping[str, Decimal]] = {"word": Decimal(1), "words": Decimal(1)}
_PLAIN: Final[Mapping[str, Decimal]] = {"": Decimal(1)}
_SHARE: Final[Mapping[str, Decimal]] = {"": Decimal(1), "%": Decimal("0.01")}


def parse_seconds(text: str) -> float:
    """Read a duration in seconds: ``800ms``, ``1.2s``, ``2min``; a bare number is seconds.

    Raises:
        ScenarioError: if it is no duration, or negative.
    """
    return float(_read(text, _SECONDS, "a duration", "800ms, 1.2s or 2min"))


def parse_milliseconds(text: str) -> int:
    """Read a whole number of milliseconds: ``120ms``, ``0.12s``; a bare number is milliseconds.

    Raises:
        ScenarioError: if it is no duration, negative, or not whole.
    """
    return _whole(text, _read(text, _MILLISECONDS, "a duration", "120ms or 0.12s"), "whole milliseconds")


def parse_words(text: str) -> int:
    """Read a number of words: ``1 word``, ``4 words``. The unit must be there.

    Raises:
        ScenarioError: if it is no whole number of words.
    """
    return _whole(text, _read(text, _WORDS, "a number of words", "4 words"), "a whole number of words")


def parse_decibels(text: str) -> float:
    """Read a level or ratio in decibels: ``20dB``, ``-6 dB``, ``+1.5dB``; a bare number is decibels.

    Raises:
        ScenarioError: if it is none.
    """
    return float(_read(text, _DECIBELS, "a level", "20dB or -6dB", signed=True))


def parse_hertz(text: str) -> float:
    """Read a frequency in hertz: ``440Hz``, ``1.2 kHz``; a bare number is hertz.

    Raises:
        ScenarioError: if it is none, or negative.
    """
    return float(_read(text, _HERTZ, "a frequency", "440Hz or 1.2kHz"))


def parse_number(text: str) -> float:
    """Read a plain number without a unit.

    Raises:
        ScenarioError: if it is none, or negative.
    """
    return float(_read(text, _PLAIN, "a number", "0.8 or 2"))


def parse_share(text: str) -> float:
    """Read a share of a whole: ``0.05`` or ``5%``; a bare number is a part of 1.

    Raises:
        ScenarioError: if it is none, or negative.
    """
    return float(_read(text, _SHARE, "a share", "0.05 or 5%"))


def format_seconds(seconds: float) -> str:
    """Write a duration so that it is read back equal."""
    return f"{format_number(seconds)}s"


def format_milliseconds(milliseconds: int) -> str:
    """Write whole milliseconds so that they are read back equal."""
    return f"{milliseconds}ms"


def format_words(words: int) -> str:
    """Write a number of words."""
    return "1 word" if words == 1 else f"{words} words"


def format_decibels(decibels: float) -> str:
    """Write decibels so that they are read back equal."""
    return f"{format_number(decibels)}dB"


def format_hertz(hertz: float) -> str:
    """Write a frequency so that it is read back equal."""
    return f"{format_number(hertz)}Hz"


def format_number(number: float) -> str:
    """Write a number so that it is read back equal, whole ones without a point."""
    return str(int(number)) if float(number).is_integer() else repr(float(number))


def _read(text: str, units: Mapping[str, Decimal], what: str, examples: str, *, signed: bool = False) -> Decimal:
    match = _AMOUNT.fullmatch(text.strip())
    if match is None or (unit := match[2].lower()) not in units:
        raise ScenarioError(f"{text!r} is not {what}; write for example {examples}")
    amount = Decimal(match[1]) * units[unit]
    if amount < 0 and not signed:
        raise ScenarioError(f"{text!r} is negative; {what} such as {examples} is not")
    return amount


def _whole(text: str, amount: Decimal, what: str) -> int:
    if amount != amount.to_integral_value():
        raise ScenarioError(f"{text!r} is not {what}")
    return int(amount)
