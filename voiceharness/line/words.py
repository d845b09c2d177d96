"""The agent's words on the sample clock: which were heard, and when the n-th will have been.

A word counts when its audio has been heard. Transports give words relative to their item's audio; this module maps
them through the pieces in which that audio was played, so a flush, a gap or a late chunk moves or removes them too.

Text without times is spread over its item's audio, once the item is complete. Until then the audio so far may be a
fraction of what the text so far will take, so its words are placed as fast as people read aloud, and a word beyond the
audio has no place yet.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from voiceharness.events import Word, Words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from voiceharness.line.record import Arrival

__all__ = ["READING_PACE", "HeardWord", "WordTrack", "spread"]

READING_PACE: Final = 14.0
"""Letters a second: English read aloud, pauses included (some 170 words a minute)."""


@dataclass(frozen=True, slots=True, order=True)
class HeardWord:
    """A word at its place on the agent's track; ``end`` is one past its last sample."""

    start: int
    end: int
    text: str
    item: str | None = None
    estimated: bool = False


class WordTrack:
    """The words an agent's transport delivered, and where their items were played."""

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self._items: dict[str | None, _Item] = {}

    def add_words(self, event: Words) -> None:
        """Take in words, timed or not; for one item they only ever add up."""
        item = self._items.setdefault(event.item, _Item())
        item.timed.extend(event.words)
        if event.text:
            item.text = f"{item.text}{event.text}"

    def complete(self, item: str | None) -> None:
        """Take note that an item's audio and text are complete."""
        self._items.setdefault(item, _Item()).is_complete = True

    def placed(self, arrivals: Iterable[Arrival]) -> list[HeardWord]:
        """Return all words whose audio is (or is going to be) heard, in order of their audio."""
        if not self._items:
            return []
        pieces: dict[str | None, list[Arrival]] = {}
        for piece in arrivals:
            if piece.item in self._items:
                pieces.setdefault(piece.item, []).append(piece)
        words = (
            word for name, item in self._items.items() for word in _place(name, item, pieces.get(name, ()), self._rate)
        )
        return sorted(words)


@dataclass(slots=True)
class _Item:
    timed: list[Word] = field(default_factory=list)
    text: str = ""
    is_complete: bool = False

    def words(self, duration: float) -> list[Word]:
        if self.timed:
            return self.timed
        letters = sum(map(len, self.text.split()))
        return list(spread(self.text, duration if self.is_complete else letters / READING_PACE))


def _place(name: str | None, item: _Item, pieces: Iterable[Arrival], rate: int) -> Iterable[HeardWord]:
    pieces = list(pieces)
    total = sum(piece.samples for piece in pieces)
    for word in item.words(total / rate):
        start, end = (_position(pieces, round(seconds * rate)) for seconds in (word.start, word.end))
        if end is not None:
            yield HeardWord(end if start is None else start, end, word.text, name, word.estimated)


def _position(pieces: list[Arrival], offset: int) -> int | None:
    """Map an offset in an item's audio to the track; None if that audio has not arrived, or was flushed."""
    passed = 0
    for piece in pieces:
        if offset <= passed + piece.samples:
            within = offset - passed
            return piece.start + within if within <= piece.heard else None
        passed += piece.samples
    return None


def spread(text: str, duration: float) -> Iterable[Word]:
    """Spread the words of a text evenly, by their letters, over a duration in seconds; they are marked estimated."""
    words = text.split()
    letters = sum(len(word) for word in words)
    spoken = 0
    for word in words:
        start = duration * spoken / letters
        spoken += len(word)
        yield replace(Word(word, start, duration * spoken / letters), estimated=True)
