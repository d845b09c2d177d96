"""Text that any terminal and any XML parser takes, whatever was said on the call."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

__all__ = ["fitted", "printable"]

_UNPRINTABLE: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""Control characters but tab and line feed, lone surrogates, and what XML 1.0 (section 2.2) excludes besides."""


def printable(text: str) -> str:
    """Replace what is no printable character by U+FFFD, one for one."""
    return _UNPRINTABLE.sub("\ufffd", text)


def fitted(text: str, width: int, *, more: str = "…") -> str:
    """Make one printable line of a text, cut to the columns that a terminal has; ``more`` ends one that was cut."""
    line = " ".join(printable(text).splitlines()).expandtabs(4)
    if _columns(line) <= width:
        return line
    room = width - len(more)
    while _columns(line) > room:
        line = line[:-1]
    return line + more


def _columns(line: str) -> int:
    """Count the columns of a line: wide characters take two, combining ones none."""
    return sum(
        0 if unicodedata.combining(each) else 2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in line
    )
