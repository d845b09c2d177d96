"""Waiting for one turn of the agent, decided on heard sound alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from voiceharness.line.bell import NOTHING

if TYPE_CHECKING:
    from voiceharness.line.line import Line

__all__ = ["HeardTurn", "TurnOutcome", "hear_turn", "turn_over"]

TurnOutcome = Literal["heard", "overlapped", "no_answer", "empty", "turn_too_long", "call_ended"]

EMPTY_TURN_GRACE = 0.25
"""Seconds that audio may come after the transport said that the turn is complete."""


@dataclass(frozen=True, slots=True)
class HeardTurn:
    """What became of a wait for the agent.

    ``onset`` and ``offset`` are positions of its first and last sound (equal if there was none).

    * ``heard``: it began at or after the asked position, and ended in silence.
    * ``overlapped``: nothing began after it, but speech that had begun before went on into it.
    * ``no_answer``: no sound in time. ``empty``: the transport said that the turn is complete, with no sound.
    * ``turn_too_long``: the wait ended, the turn did not. ``call_ended``: the call ended before the turn did.
    """

    outcome: TurnOutcome
    onset: int
    offset: int

    @property
    def has_speech(self) -> bool:
        """Whether there was any sound of the agent."""
        return self.offset > self.onset


async def hear_turn(line: Line, *, since: int, within: float, tail: float, cap: float) -> HeardTurn:
    """Wait for the first turn that begins at or after ``since``, then for its end; see ``Line.hear``."""
    deadline = line.now + line.settings.samples(within)
    downlink = line.downlink
    empty_after = line.settings.samples(EMPTY_TURN_GRACE)

    def beginning() -> int | None:
        onset, done = downlink.next_onset(since), downlink.empty_turn_after(since)
        return done + empty_after if onset is None and done is not None else onset

    began = await line.until(beginning, deadline=deadline, on=("onset", "words"))
    onset = downlink.next_onset(since)
    if began is None or onset is None or onset > line.now:
        return _nothing_began(line, since, empty=began is not None)
    return await _until_silence(line, onset, line.settings.samples(tail), line.settings.samples(cap))


def _nothing_began(line: Line, since: int, *, empty: bool) -> HeardTurn:
    carried_over = line.downlink.onset_after(since)
    if carried_over is not None and carried_over <= line.now:
        offset = (line.downlink.silence_after(since, line.settings.samples(line.adapter.tail_silence)) or (since, 0))[0]
        return HeardTurn("overlapped", carried_over, min(offset, line.now))
    if line.ended is not None:
        return HeardTurn("call_ended", line.ended.at, line.ended.at)
    return HeardTurn("empty" if empty else "no_answer", line.now, line.now)


async def turn_over(line: Line, onset: int, *, tail: int, deadline: int) -> int | None:
    """Wait until a silence of ``tail`` after the turn that began at ``onset`` is over, and return where that is.

    None if the deadline comes first, or the call ends.
    """

    def over() -> int | None:
        silence = line.downlink.silence_after(onset, tail)
        return None if silence is None else silence[1]

    return await line.until(over, deadline=deadline, on=NOTHING)


async def _until_silence(line: Line, onset: int, tail: int, cap: int) -> HeardTurn:
    ended = await turn_over(line, onset, tail=tail, deadline=onset + cap)
    silence = line.downlink.silence_after(onset, tail)
    offset = onset if silence is None else min(silence[0], line.now)
    if ended is not None:
        return HeardTurn("heard", onset, offset)
    if line.ended is not None:
        return HeardTurn("call_ended", onset, offset)
    line.downlink.leave_unfinished(onset, tail)
    return HeardTurn("turn_too_long", onset, offset)
