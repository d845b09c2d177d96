"""Which digits are read one by one.

A speech engine reads 4821 as a year or a cardinal; a person reads a PIN digit by digit. The rules, first match wins:

1. Digits written apart, "4 8 2 1" or "4-8-2-1": the explicit form, always read as written.
2. Phone and card numbers: "+1 555 010 1234", "(555) 010-1234", "555-0101", "4242 4242 4242 4242"; a pause per group.
3. A run of five digits or more ("90210"). Write "10,000" for the cardinal.
4. A run that starts with zero ("007").
5. Three or four digits within four words after a word that announces a code: PIN, passcode, password, code, extension,
   account, card, confirmation, reference, order, booking, ID, ZIP, postcode, room, digits, number, ending.

Everything else (times, dates, amounts, years) is left to the engine.
"""

from __future__ import annotations

import re

__all__ = ["spell_digits"]

_NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_BEFORE = r"(?<![\w.,:/$£€¥-])"
_AFTER = r"(?![\w:/%-]|[.,]\d)"
_CODE_WORDS = (
    "pin|passcode|password|code|extension|ext|account|card|confirmation|reference|order|booking|id|zip|postcode|room"
    "|digits|number|ending"
)

_APART = re.compile(rf"{_BEFORE}\d(?:[ -]\d){{2,}}{_AFTER}")
_INTERNATIONAL = re.compile(rf"(?<!\w)\+\d{{1,3}}(?:[ .-]?\(?\d{{1,4}}\)?){{2,5}}{_AFTER}")
_NATIONAL = re.compile(rf"{_BEFORE}(?:1[ .-])?\(?\d{{3}}\)?[ .-]?\d{{3}}[ .-]\d{{4}}{_AFTER}")
_LOCAL = re.compile(rf"{_BEFORE}\d{{3}}[ .-]\d{{4}}{_AFTER}")
_CARD = re.compile(rf"{_BEFORE}(?:\d{{4}}[ -]){{3}}\d{{4}}{_AFTER}")
_RUN = re.compile(rf"{_BEFORE}(?:\d{{5,}}|0\d+){_AFTER}")
_CODE = re.compile(rf"(\b(?:{_CODE_WORDS})\b[:#]?(?:\s+[^\W\d]+,?){{0,4}}\s+#?)(\d{{3,4}}){_AFTER}", re.IGNORECASE)


def spell_digits(text: str) -> str:
    """Replace digits that are read one by one with their names, by the rules above; leave all other text alone."""
    text = _APART.sub(lambda match: _names(match[0]), text)
    for pattern in (_CARD, _INTERNATIONAL, _NATIONAL, _LOCAL):
        text = pattern.sub(lambda match: _groups(match[0]), text)
    text = _RUN.sub(lambda match: _names(match[0]), text)
    return _CODE.sub(lambda match: match[1] + _names(match[2]), text)


def _names(digits: str) -> str:
    return " ".join(_NAMES[int(digit)] for digit in digits if digit.isdigit())


def _groups(number: str) -> str:
    plus = "plus " if number.startswith("+") else ""
    return plus + ", ".join(_names(group) for group in re.findall(r"\d+", number))
