"""English number words as digits: "twenty three" is 23, "seven thirty" 730, "four eight two one" 4821."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["digits_for_numbers"]

_ONES = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"),
    *("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ORDINALS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "first": 1,
        "third": 3,
        "fourth": 4,
        "fifth": 5,
        "sixth": 6,
        "seventh": 7,
        "eighth": 8,
        "ninth": 9,
        "tenth": 10,
        "eleventh": 11,
        "twelfth": 12,
        "twentieth": 20,
        "thirtieth": 30,
    }
    | {f"{name}th": value for value, name in enumerate(_ONES) if value > 12}
)
_VALUES: Final[Mapping[str, int]] = MappingProxyType(
    {name: value for value, name in enumerate(_ONES)}
    | {name: 20 + 10 * index for index, name in enumerate(_TENS)}
    | dict(_ORDINALS)
)
_TENS_VALUES = range(20, 100, 10)
_SCALES: Final[Mapping[str, int]] = MappingProxyType({"hundred": 100, "thousand": 1000, "million": 1_000_000})
_DIGITS = re.compile(r"\d+")


def digits_for_numbers(tokens: Sequence[str]) -> list[str]:
    """Replace each run of number words and digits by its digits, written together.

    Takes lower-case words. "second" is a number only after a tens word, "oh" only between digits, "and" only inside
    a number ("one hundred and five"), "point" only between numbers.
    """
    result: list[str] = []
    index = 0
    while index < len(tokens):
        digits, length = _read_run(tokens, index)
        result.append(digits if length else tokens[index])
        index += length or 1
    return result


def _read_run(tokens: Sequence[str], index: int) -> tuple[str, int]:
    """Return the digits of the run of numbers at ``index``, and how many tokens it takes."""
    digits = ""
    start = index
    while index < len(tokens):
        if _is_oh(tokens, index, digits):
            digits, index = digits + "0", index + 1
        elif digits and tokens[index] == "point" and _read_number(tokens, index + 1)[1]:
            digits, index = digits + ".", index + 1
        else:
            number, length = _read_number(tokens, index)
            if not length:
                break
            digits, index = digits + number, index + length
    return digits, index - start


def _is_oh(tokens: Sequence[str], index: int, digits: str) -> bool:
    """Tell whether "oh" stands for zero here: inside a run, or before two single digits."""
    if tokens[index] not in {"oh", "o"}:
        return False
    following = [_VALUES.get(token, 10) < 10 for token in tokens[index + 1 : index + 3]]
    return following == [True, True] or (bool(digits) and following[:1] == [True])


def _read_number(tokens: Sequence[str], index: int) -> tuple[str, int]:
    """Return one cardinal or ordinal as digits, and how many tokens it takes (0: no number here)."""
    if index < len(tokens) and re.fullmatch(r"\d+(\.\d+)?", tokens[index]) and not _scaled(tokens, index):
        return tokens[index], 1
    total = group = 0
    last: int | None = None  # what was read last: a smaller part may follow a larger one
    start = index
    while index < len(tokens):
        token = tokens[index]
        value = int(token) if _DIGITS.fullmatch(token) else _VALUES.get(token)
        if token == "second" and last in _TENS_VALUES:
            value = 2
        if value is not None and _fits(value, last):
            group, last = group + value, value
        elif token in _SCALES and group:
            if token == "hundred":
                group, last = group * 100, 100
            else:
                total, group, last = total + group * _SCALES[token], 0, _SCALES[token]
        elif not (token == "and" and last is not None and last >= 100 and _is_small(tokens, index + 1)):
            break
        index += 1
        if token in _ORDINALS:
            break
    return (str(total + group), index - start) if index > start else ("", 0)


def _fits(value: int, last: int | None) -> bool:
    """Tell whether ``value`` continues a number whose last part was ``last``: 20 then 3, 100 then 42, not 7 then 30."""
    if last is None or last >= 100:
        return True
    return last in _TENS_VALUES and 0 < value < 10


def _is_small(tokens: Sequence[str], index: int) -> bool:
    return index < len(tokens) and tokens[index] in _VALUES


def _scaled(tokens: Sequence[str], index: int) -> bool:
    return _DIGITS.fullmatch(tokens[index]) is not None and index + 1 < len(tokens) and tokens[index + 1] in _SCALES
