"""Talks that remember wrongly what was heard, or which keys were pressed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from voiceharness.doubles.faulty.attendant import Item, Talk

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "DoublesKeys",
    "ForgetsWords",
    "HearsKeysInSpeech",
    "LosesKeys",
    "ReadsKeysLate",
    "RemembersUnheardWords",
    "TruncatesElsewhere",
]

_FORGOTTEN: Final = 3
_UNHEARD: Final = 0.6
_LATE: Final = 3.0


class ForgetsWords(Talk):
    """Keeps a history that lacks the last words that were heard."""

    def remember(self, item: Item, heard: float) -> None:
        """Forget the last words of what was heard."""
        words = [word for word in item.sentence.words if word.end <= heard]
        super().remember(item, words[-_FORGOTTEN - 1].end if len(words) > _FORGOTTEN else 0.0)


class RemembersUnheardWords(Talk):
    """Keeps all words of what was cut in its history."""

    def remember(self, item: Item, heard: float) -> None:
        """Remember everything."""
        super().remember(item, item.sentence.duration)


class TruncatesElsewhere(Talk):
    """Tells that more was heard of an item than was."""

    def truncate(self, item: Item, heard: float) -> None:
        """Tell a wrong place."""
        super().truncate(item, heard + _UNHEARD)


class LosesKeys(Talk):
    """Loses the second key of a number."""

    def read_back(self, digits: str) -> None:
        """Read back what is left."""
        super().read_back(digits[:1] + digits[2:])


class DoublesKeys(Talk):
    """Takes the second key of a number twice."""

    def read_back(self, digits: str) -> None:
        """Read back one more."""
        super().read_back(digits[:2] + digits[1:])


class HearsKeysInSpeech(Talk):
    """Takes something else for a key that nobody pressed."""

    def read_back(self, digits: str) -> None:
        """Read back one that is not among them."""
        unpressed = min(set("0123456789") - set(digits))
        super().read_back(digits[:2] + unpressed + digits[2:])


class ReadsKeysLate(Talk):
    """Reads keys back seconds late."""

    def read_back(self, digits: str) -> None:
        """Read them back later."""
        read_back: Callable[[str], None] = super().read_back
        self.after(_LATE, "read back", lambda: read_back(digits))
