"""Talks that answer wrongly: late, ever later, twice, always the same, to the wrong turn, or only in their belief."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from voiceharness.doubles.faulty.attendant import Talk
from voiceharness.doubles.faulty.sounds import Sentence, sentence

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from voiceharness.events import AgentState

__all__ = [
    "AnswersLater",
    "AnswersTwice",
    "ClaimsToSpeak",
    "KeepsSilent",
    "LagsBehind",
    "RepeatsPrompt",
]

_SLOW: Final = 5.0
_GROWTH: Final = 0.5
_AGAIN: Final = 1.0
_AHEAD: Final = 1.8


class KeepsSilent(Talk):
    """Takes five seconds to answer."""

    thinking = _SLOW


class AnswersLater(Talk):
    """Takes longer with each turn."""

    def answer(self, heard: NDArray[np.int16]) -> None:
        """Answer, and be slower next time."""
        super().answer(heard)
        self.thinking += _GROWTH


class AnswersTwice(Talk):
    """Says each answer a second time: two responses were made to one turn."""

    def answer(self, heard: NDArray[np.int16]) -> None:
        """Answer, and say the same again."""
        super().answer(heard)
        assert self.item is not None  # it is being said
        told = self.item.sentence
        self.after(self.left + _AGAIN, "again", lambda: self.say(told))


class RepeatsPrompt(Talk):
    """Asks the same whatever the user says."""

    def next_sentence(self) -> Sentence:
        """Return the one sentence it knows."""
        return sentence(8, self.rate, 1)


class LagsBehind(Talk):
    """Answers what the user said a turn before."""

    _before: NDArray[np.int16] | None = None

    def answer(self, heard: NDArray[np.int16]) -> None:
        """Answer the turn before; the first one itself."""
        super().answer(heard if self._before is None else self._before)
        self._before = heard


class ClaimsToSpeak(Talk):
    """Says that it speaks when it has only begun to think."""

    thinking = _AHEAD

    def claim(self, state: AgentState) -> None:
        """Claim to speak from the end of the user's turn on."""
        super().claim("speaking" if state == "thinking" else state)
