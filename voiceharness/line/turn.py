"""Waiting for one turn of the agent, decided on heard sound alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from voiceharness.line.bell import NOTHING

if TYPE_CHECKING:
    from voiceharness.line.line import Line

__all__ = ["Answer", "HeardTurn", "TurnOutcome", "hear_turn", "turn_over"]

TurnOutcome = Literal["heard", "overlapped", "no_answer", "empty", "turn_too_long", "call_ended"]

EMPTY_TURN_GRACE = 0.25
"""Seconds that audio may come after the transport said that the turn is complete."""

EARLIEST_ANSWER = 0.5
"""Seconds before the user's end at which an eager agent begins to answer; what began before is no answer to it all."""

EARLY_ANSWER = 1.0
"""Seconds that an early answer goes on after the user's end; a shorter one is a backchannel."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What is taken as the agent's answer: its first turn that begins at or after ``since``, the user's offset.

    An eager agent answers just before the user has ended. Speech that begins then, after ``asked``, the user's onset,
    out of a silence that ends a turn, and goes on for a while after ``since``, is an early answer.
    """

    since: int
    asked: int

    def certain(self, line: Line) -> int | None:
        """Return the position at which it is certain that an answer has begun, if that is known."""
        onset = line.downlink.next_onset(self.since)
        if onset is not None or self._early_onset(line) is None:
            return onset
        return self.since + line.settings.samples(EARLY_ANSWER)

    def onset(self, line: Line) -> int | None:
        """Return where the answer began, if it has, and is certain."""
        certain = self.certain(line)
        if certain is None or certain > line.now:
            return None
        return self._early_onset(line) if line.downlink.next_onset(self.since) is None else certain

    def _early_onset(self, line: Line) -> int | None:
        if self.asked >= self.since:
            return None
        tail = line.settings.samples(line.adapter.tail_silence)
        over = line.downlink.silence_after(self.since, tail)
        if over is None or over[0] < self.since + line.settings.samples(EARLY_ANSWER):
            return None
        began = line.downlink.turn_onset(self.since, tail)
        earliest = max(self.asked, self.since - line.settings.samples(EARLIEST_ANSWER))
        return began if began is not None and began >= earliest else None


@dataclass(frozen=True, slots=True)
class HeardTurn:
    """What became of a wait for the agent.

    ``onset`` and ``offset`` are positions of its first and last sound (equal if there was none).

    * ``heard``: it began at or after the asked position (or is an early answer), and ended in silence.
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


async def hear_turn(line: Line, *, answer: Answer, within: float, tail: float, cap: float) -> HeardTurn:
    """Wait for the agent's answer, then for its end; see ``Line.hear``."""
    deadline = line.now + line.settings.samples(within)
    empty_after = line.settings.samples(EMPTY_TURN_GRACE)

    def beginning() -> int | None:
        certain, done = answer.certain(line), line.downlink.empty_turn_after(answer.since)
        return done + empty_after if certain is None and done is not None else certain

    began = await line.until(beginning, deadline=deadline, on=("onset", "words"))
    onset = answer.onset(line)
    if began is None or onset is None:
        return _nothing_began(line, answer.since, empty=began is not None)
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
