"""Faults of who gives way to whom: yielding to a listener, to an echo, or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from voiceharness.audio.edges import Span
from voiceharness.measure.disturbance import Disturbance
from voiceharness.measure.faults.flush import HARDLY
from voiceharness.measure.finding import Finding, finding, moment
from voiceharness.measure.spans import intersections, total
from voiceharness.measure.utterances import integer, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from voiceharness.line.record import CallRecord
    from voiceharness.measure.barge_ins import BargeIn
    from voiceharness.measure.metrics import Metrics
    from voiceharness.measure.turns import Turn

__all__ = ["DETECTORS", "false_yield", "self_interruption", "stopped_not_resumed", "talking_over_user"]

GONE_AFTER: Final = 4.0
"""Seconds of silence after which an agent that paused will not go on."""

PAUSE: Final = 2.0
"""Seconds an agent may pause for a sound that was not meant for it."""

TOGETHER: Final = 0.7
"""Seconds within which two who begin to speak have begun together; neither talks over the other."""

_REACTION: Final = 1.0
_ACTIVE: Final = 1.5
_OVERLAP: Final = 0.3
_FADE: Final = 0.005
_FADED_DB: Final = -15.0


def stopped_not_resumed(record: CallRecord, metrics: Metrics) -> Iterator[Finding]:
    """A cough or a listener's "mm-hmm" stopped the agent for good."""
    for barge_in, turn in _stopped_for_nothing(record, metrics):
        end = _resumption(record, metrics, turn)[1]
        silent = (end - turn.offset) / record.rate
        if silent >= GONE_AFTER:
            yield finding(
                "stopped_not_resumed",
                Span(turn.offset, end),
                silent,
                "s",
                f"the agent stopped at {moment(record, turn.offset)} for {_named(barge_in)}, which was not meant as a "
                f"turn, and never went on: {silent:.2f} s of silence",
            )


def false_yield(record: CallRecord, metrics: Metrics) -> Iterator[Finding]:
    """The agent gave up its turn to words of a listener."""
    for barge_in, turn in _stopped_for_nothing(record, metrics):
        resumed, end = _resumption(record, metrics, turn)
        pause = (end - turn.offset) / record.rate
        goes_on = resumed is not None and pause <= PAUSE and (resumed.item == turn.item or resumed.item is None)
        if barge_in.intent == "backchannel" and _was_cut(record, barge_in, turn) and not goes_on:
            yield finding(
                "false_yield",
                Span(barge_in.onset, turn.offset),
                (turn.offset - barge_in.onset) / record.rate,
                "s",
                f"the agent gave up its turn at {moment(record, turn.offset)} after {_named(barge_in)}"
                f"{_words_heard(record, turn)}; a listener's word does not ask for the floor",
            )


def self_interruption(record: CallRecord, metrics: Metrics) -> Iterator[Finding]:
    """The agent cut itself off though the user was silent: it heard its own echo, or noise.

    The evidence is a flush or, from an agent that paces itself, the claim that its item was cut in mid-turn.
    """
    impaired = {event.data.get("kind") for event in record.of_kind("impaired")}
    for at, dropped in _self_cuts(record):
        heard = any(
            turn.onset + HARDLY * record.rate < at <= turn.offset + record.rate // 5 for turn in metrics.agent_turns
        )
        if not heard or _user_was_active(record, metrics, at):
            continue
        because = "its own echo was fed back to it" if "echo" in impaired else "nothing had been said to it"
        yield finding(
            "self_interruption",
            Span(at, min(at + dropped, len(record.agent))),
            dropped / record.rate,
            "s",
            f"the agent cut itself off at {moment(record, at)} while the user was silent, and dropped "
            f"{dropped / record.rate:.2f} s of its speech; {because}",
        )


def _self_cuts(record: CallRecord) -> Iterator[tuple[int, int]]:
    """Where the agent gave up its speech, and how many samples of it were dropped, as far as is known."""
    flushes = [event.at for event in record.of_kind("flush")]
    for event in record.of_kind("flush"):
        if (cut := integer(event.data, "cut", 0)) > 0:
            yield event.at, cut
    for event in record.of_kind("truncation_claimed"):
        if all(abs(event.at - flush) > record.rate // 2 for flush in flushes):
            yield event.at, 0


def talking_over_user(record: CallRecord, metrics: Metrics) -> Iterator[Finding]:
    """The agent began a turn while the user was in the middle of an utterance."""
    together, least = TOGETHER * record.rate, _OVERLAP * record.rate
    for turn in metrics.agent_turns:
        for said in metrics.utterances:
            if not said.onset + together < turn.onset < said.offset - least or not said.spoken or said.intent != "turn":
                continue
            both = total(intersections([said.span], turn.parts))
            if both >= least:
                yield finding(
                    "talking_over_user",
                    Span(turn.onset, min(turn.offset, said.offset)),
                    both / record.rate,
                    "s",
                    f"the agent began to speak at {moment(record, turn.onset)}, while the user spoke from "
                    f"{moment(record, said.onset)} to {moment(record, said.offset)}",
                    severity="warning",
                )


def _stopped_for_nothing(record: CallRecord, metrics: Metrics) -> Iterator[tuple[BargeIn, Turn]]:
    """Turns that ended soon after a sound that left the agent the floor, and were not complete."""
    for barge_in in metrics.barge_ins:
        if barge_in.intent == "turn" or barge_in.turn is None:
            continue
        turn = metrics.agent_turns[barge_in.turn]
        stopped = turn.offset <= barge_in.offset + _REACTION * record.rate
        if stopped and not _complete(record, barge_in, turn) and not _hung_up(record, turn):
            yield barge_in, turn


def _complete(record: CallRecord, barge_in: BargeIn, turn: Turn) -> bool:
    """Whether the transport said that the turn was complete, and all of it was heard."""
    done = (event for event in record.of_kind("turn_done") if event.data.get("item") in (turn.item, None))
    said = any(turn.onset <= event.at <= turn.offset + record.rate // 4 for event in done)
    return said and barge_in.flush is None and not _lost(record, turn)


def _was_cut(record: CallRecord, barge_in: BargeIn, turn: Turn) -> bool:
    """Whether the turn certainly did not end by itself: it was flushed, or its sound breaks off where speech fades."""
    if barge_in.flush is not None or _lost(record, turn):
        return True
    if Disturbance.of(record).excuses(turn.offset, turn.offset + round(_FADE * record.rate)):
        return False  # its end was lost on the line
    sound = record.agent[turn.parts[-1].onset : turn.offset].astype(np.float64)
    end = sound[-round(_FADE * record.rate) :]
    return float(np.mean(end**2)) > 10 ** (_FADED_DB / 10) * float(np.mean(sound**2))


def _lost(record: CallRecord, turn: Turn) -> bool:
    """Whether part of what was sent of the turn was never heard."""
    return any(a.heard < a.samples and turn.onset <= a.start + a.heard <= turn.offset + 1 for a in record.arrivals)


def _hung_up(record: CallRecord, turn: Turn) -> bool:
    return any(event.at <= turn.offset + record.rate // 5 for event in record.of_kind("hangup"))


def _resumption(record: CallRecord, metrics: Metrics, turn: Turn) -> tuple[Turn | None, int]:
    """The agent's next turn, if the user says nothing before it, and where the silence after a turn ends."""
    asked = min((user.onset for user in metrics.user_turns if user.onset > turn.offset), default=len(record.agent))
    after = next((each for each in metrics.agent_turns if each.onset >= turn.offset), None)
    return (after, after.onset) if after is not None and after.onset <= asked else (None, asked)


def _named(barge_in: BargeIn) -> str:
    return f'the user\'s "{barge_in.text}"' if barge_in.text else "a sound of the user"


def _words_heard(record: CallRecord, turn: Turn) -> str:
    heard = (event for event in record.of_kind("word_heard") if turn.onset < event.at <= turn.offset)
    words = [text_of(event.data, "text") for event in heard]
    return f', {len(words)} words into it ("… {words[-1]}")' if words else ""


def _user_was_active(record: CallRecord, metrics: Metrics, position: int) -> bool:
    since = position - round(_ACTIVE * record.rate)
    said = any(utterance.onset <= position and utterance.offset >= since for utterance in metrics.utterances)
    return said or any(since <= event.at <= position for event in record.of_kind("interrupt_signal", "barge_in"))


DETECTORS: Final = (stopped_not_resumed, false_yield, self_interruption, talking_over_user)
