"""What the harness's transcriber understands of the agent, turn by turn: to be shown beside what was heard.

It is never mixed with the words that an agent sends of itself: those are a claim, these are what a listener made of the
sound, and may be misheard.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voiceharness.line.line import Line
    from voiceharness.line.word_source import WordSource
    from voiceharness.measure.turns import Turn

__all__ = ["Understood", "heard_turns"]


@dataclass(frozen=True, slots=True)
class Understood:
    """The words that were understood in the agent's sound from ``onset`` to ``offset``, in samples of the call."""

    onset: int
    offset: int
    text: str


async def heard_turns(words: WordSource, line: Line, turns: Sequence[Turn]) -> tuple[Understood, ...]:
    """Return the words of each of the agent's turns, whoever supplies them."""
    return tuple(
        [Understood(turn.onset, turn.offset, await words.text(line, turn.onset, turn.offset)) for turn in turns]
    )
