"""Compare what was said with what was understood, whatever the spelling.

:func:`normalize` brings both to one form: case, accents, punctuation and hyphens go; numbers become digits however they
were written, so "seven thirty", "7:30" and "730" are equal, as are "four eight two one" and "4821", "3rd" and "third",
"$45" and "forty five dollars". English number words only; other languages keep their words.

:func:`word_error_rate` is the usual figure: edits (substituted, inserted, lost words) over words of the reference.
:func:`find_phrase` finds where a phrase occurs best inside a longer transcript.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from voiceharness.speech.numbers import digits_for_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["PhraseMatch", "find_phrase", "normalize", "word_error_rate"]

_REWRITES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"['\u2019`]"), ""),  # it's -> its, o'clock -> oclock
    (re.compile(r"\b([ap])\.?\s?m\b\.?"), r"\1m"),  # p.m. -> pm
    (re.compile(r"(?<=\d)\s*([ap]m)\b"), r" \1"),  # 7pm -> 7 pm
    (re.compile(r"\b(\d{1,2})[:.]00(?=\s[ap]m\b)|\b(\d{1,2}):00\b"), r"\1\2"),  # 7:00 -> 7
    (re.compile(r"\b(\d{1,2}):(\d{2})\b|\b(\d{1,2})\.(\d{2})(?=\s[ap]m\b)"), r"\1\2\3\4"),  # 7:30, 7.30 pm -> 730
    (re.compile(r"(?<=\d),(?=\d{3}\b)"), ""),  # 1,234 -> 1234
    (re.compile(r"\$\s?(\d+)(?:\.00)?(?![\d.]*\d)"), r"\1 dollars"),
    (re.compile(r"\$\s?(\d+)\.(\d\d)\b"), r"\1 dollars \2 cents"),
    (re.compile(r"(?<=\d)\s?%"), " percent"),
    (re.compile(r"&"), " and "),
    (re.compile(r"\b2nd\b"), "second"),
    (re.compile(r"\bgood[\s-]?bye?\b"), "goodbye"),
    (re.compile(r"\bto-(?=(?:day|morrow|night)\b)"), "to"),
    (re.compile(r"\b(mm|uh)[\s-]h(?=(?:m+|uh)\b)"), r"\1h"),  # mm-hmm, uh huh
    (re.compile(r"\bok\b"), "okay"),
    (re.compile(r"(?<=\d)(?:st|nd|rd|th)\b"), ""),
    (re.compile(r"(?<=\d)(?=[^\W\d_])|(?<=[^\W\d_])(?=\d)"), " "),
)
_TOKEN = re.compile(r"\d+(?:\.\d+)?|[^\W\d_]+")
_DROPPED = frozenset({"oclock"})


def normalize(text: str) -> tuple[str, ...]:
    """Return the words of ``text`` in the form in which texts are compared."""
    text = unicodedata.normalize("NFKD", text.casefold())
    text = "".join(character for character in text if not unicodedata.combining(character))
    for pattern, replacement in _REWRITES:
        text = pattern.sub(replacement, text)
    tokens = digits_for_numbers([token for token in _TOKEN.findall(text) if token not in _DROPPED])
    return tuple(_without_and(tokens))


def _without_and(tokens: Sequence[str]) -> list[str]:
    """Drop the "and" of "3 dollars and 50 cents"."""
    return [
        token
        for index, token in enumerate(tokens)
        if not (
            token == "and" and index and tokens[index - 1] == "dollars" and "cents" in tokens[index + 1 : index + 3]
        )
    ]


def word_error_rate(reference: str, heard: str) -> float:
    """Return edits over words of the reference; 0.0 is equal, and it can pass 1.0 where much was invented.

    With no word in the reference: 0.0 when nothing was heard, else the number of words heard.
    """
    expected, actual = normalize(reference), normalize(heard)
    row = list(range(len(actual) + 1))
    for word in expected:
        row = _next_row(row, word, actual, first=row[0] + 1)
    return row[-1] / max(1, len(expected))


@dataclass(frozen=True, slots=True)
class PhraseMatch:
    """Where a phrase fits best in a transcript: normalized words ``start`` to ``end`` (one past).

    ``errors`` are the edits it takes, ``error_rate`` edits over words of the phrase.
    """

    start: int
    end: int
    errors: int
    error_rate: float


def find_phrase(phrase: str, heard: str) -> PhraseMatch:
    """Find the stretch of ``heard`` that needs the fewest edits to become ``phrase``; the first of equals.

    A phrase that is contained word for word has ``errors`` 0. A phrase without words matches at the start.
    """
    wanted, words = normalize(phrase), normalize(heard)
    # Approximate matching with a free start and a free end (P. H. Sellers, 1980): row 0 is all zeros.
    row = [0] * (len(words) + 1)
    starts = list(range(len(words) + 1))
    for word in wanted:
        before, row = row, _next_row(row, word, words, first=row[0] + 1)
        starts = _trace_starts(before, row, starts, word, words)
    end = min(range(len(row)), key=lambda index: row[index])
    return PhraseMatch(starts[end], end, row[end], row[end] / max(1, len(wanted)))


def _next_row(row: Sequence[int], word: str, words: Sequence[str], *, first: int) -> list[int]:
    """Return the next row of the edit-distance table."""
    result = [first]
    for index, other in enumerate(words):
        result.append(min(row[index] + (word != other), row[index + 1] + 1, result[index] + 1))
    return result


def _trace_starts(
    before: Sequence[int], row: Sequence[int], starts: Sequence[int], word: str, words: Sequence[str]
) -> list[int]:
    """Carry along, for each cell of a row, the word at which its best alignment starts."""
    result = [starts[0]]
    for index, other in enumerate(words):
        if row[index + 1] == before[index] + (word != other):
            result.append(starts[index])
        elif row[index + 1] == before[index + 1] + 1:
            result.append(starts[index + 1])
        else:
            result.append(result[index])
    return result
