"""Which turn of the agent answers which turn of the user, and how late.

The answer is the first agent turn that begins at or after the user's offset and before the user's next turn. Speech of
an item that had begun before is no answer. Where the sound itself says what it answers (both turns are pure tones, as
in tests of an agent that lags behind) the tone decides: the answer to an earlier turn is not taken for this one's.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from voiceharness.measure.spans import intersections, total
from voiceharness.measure.tones import pure_tone

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voiceharness.audio.edges import Span
    from voiceharness.line.record import CallRecord
    from voiceharness.measure.turns import Conversation, Turn

__all__ = ["Exchange", "pair"]

_SAME_TONE = 0.02


@dataclass(frozen=True, slots=True)
class Exchange:
    """A user turn and what came of it.

    ``answer`` is the index of the agent turn that answers it, ``latency`` the seconds from the user's offset to that
    turn's onset; both None if it was never answered. ``overlap``: seconds of it during which the agent was heard.
    ``stale``: index of an agent turn that came as its answer but answers an earlier turn, ``lag`` turns ago.
    """

    turn: int
    answer: int | None
    latency: float | None
    overlap: float
    stale: int | None = None
    lag: int = 0


def pair(record: CallRecord, conversation: Conversation) -> tuple[Exchange, ...]:
    """Find the answer to each user turn."""
    user, agent = conversation.user, conversation.agent
    tags = _Tags.of(record, conversation)
    exchanges = []
    for index, (turn, after) in enumerate(zip_longest(user, user[1:])):
        answer = _first_answer(turn, after.onset if after else len(record.user), agent)
        overlap = total(intersections(turn.parts, conversation.segments)) / record.rate
        lag = 0 if answer is None else tags.lag(index, answer)
        if answer is None or lag:
            exchanges.append(Exchange(index, None, None, overlap, answer, lag))
        else:
            exchanges.append(Exchange(index, answer, (agent[answer].onset - turn.offset) / record.rate, overlap))
    return tuple(exchanges)


def _first_answer(turn: Turn, end: int, agent: Sequence[Turn]) -> int | None:
    begun = {before.item for before in agent if before.onset < turn.offset and before.item is not None}
    for index, candidate in enumerate(agent):
        if turn.offset <= candidate.onset < end and candidate.item not in begun:
            return index
    return None


@dataclass(frozen=True, slots=True)
class _Tags:
    """The tones of turns that are nothing but a tone, in Hz."""

    user: tuple[float | None, ...]
    agent: tuple[float | None, ...]

    @classmethod
    def of(cls, record: CallRecord, conversation: Conversation) -> _Tags:
        user = tuple(pure_tone(record.user[_samples(turn.span)], record.rate) for turn in conversation.user)
        if sum(tag is not None for tag in user) < 2:
            return cls(user, (None,) * len(conversation.agent))
        return cls(
            user, tuple(pure_tone(record.agent[_samples(turn.span)], record.rate) for turn in conversation.agent)
        )

    def lag(self, index: int, answer: int) -> int:
        """How many turns ago the user said what an agent turn answers; 0 if it is this one, or nothing tells."""
        tag = self.agent[answer]
        for back in range(index + 1):
            said = self.user[index - back]
            if tag is not None and said is not None and abs(tag / said - 1) < _SAME_TONE:
                return back
        return 0


def _samples(span: Span) -> slice:
    return slice(span.onset, span.offset)
