"""Faults of answering: too late, ever later, not at all, to the wrong turn, or only in the agent's own belief."""

from __future__ import annotations

from itertools import pairwise, zip_longest
from typing import TYPE_CHECKING, Final

from voiceharness.audio.edges import Span
from voiceharness.measure.finding import Finding, finding, moment
from voiceharness.measure.spans import gaps
from voiceharness.measure.utterances import integer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from voiceharness.line.record import CallRecord
    from voiceharness.measure.metrics import Metrics

__all__ = [
    "DETECTORS",
    "claimed_speaking_but_silent",
    "dead_air",
    "farewell_cut",
    "growing_latency",
    "hangup_too_early",
    "stale_answer",
]

DEAD_AIR: Final = 4.0
"""Seconds of silence after which a user who asked something thinks that the line is dead."""

CLAIM: Final = 1.0
"""Seconds for which an agent may say that it speaks without being heard."""

_GROWTH: Final = 0.5
_GROWING_TURNS: Final = 4
_JITTER: Final = 0.05
_CUT: Final = 0.3


def dead_air(record: CallRecord, metrics: Metrics) -> Iterator[Finding]:
    """The user waited for an answer in silence."""
    asked = {turn.offset for turn in metrics.user_turns}
    for silence in metrics.silences:
        if silence.duration >= DEAD_AIR and silence.onset in asked:
            yield finding(
                "dead_air",
                Span(silence.onset, silence.offset),
                silence.duration,
                "s",
                f"the user had spoken until {moment(record, silence.onset)} and then heard nothing for "
                f"{silence.duration:.2f} s",
            )


def growing_latency(record: CallRecord, metrics: Metrics) -> Iterator[Finding]:
    """Each answer came later than the one before."""
    answered = [(metrics.user_turns[each.turn], each.latency) for each in metrics.exchanges if each.latency is not None]
    latencies = [latency for _, latency in answered]
    if len(latencies) < _GROWING_TURNS or latencies[-1] < max(2 * latencies[0], latencies[0] + _GROWTH):
        return
    if all(after >= before - _JITTER for before, after in pairwise(latencies)):
        yield finding(
            "growing_latency",
            Span(answered[0][0].onset, answered[-1][0].offset),
            latencies[-1] - latencies[0],
            "s",
            f"over {len(latencies)} turns the response latency grew from {latencies[0]:.2f} s to {latencies[-1]:.2f} s",
        )


def stale_answer(record: CallRecord, metrics: Metrics) -> Iterator[Finding]:
    """What came as the answer to a turn answers an earlier one."""
    for exchange in metrics.exchanges:
        if exchange.stale is not None:
            answer = metrics.agent_turns[exchange.stale]
            yield finding(
                "stale_answer",
                answer.span,
                exchange.lag,
                "turns",
                f"the agent's turn at {moment(record, answer.onset)} answers what the user said {exchange.lag} "
                f"turn{'s' * (exchange.lag > 1)} before; the turn that ended at "
                f"{moment(record, metrics.user_turns[exchange.turn].offset)} has no answer",
            )


def claimed_speaking_but_silent(record: CallRecord, metrics: Metrics) -> Iterator[Finding]:
    """The agent said that it was speaking, and nothing was heard."""
    for start, end in _claims(record, metrics):
        for silent in gaps(metrics.segments, start, end):
            length = len(silent) / record.rate
            if length > CLAIM:
                yield finding(
                    "claimed_speaking_but_silent",
                    silent,
                    length,
                    "s",
                    f"the agent claimed to be speaking from {moment(record, start)}, but nothing was heard from "
                    f"{moment(record, silent.onset)} to {moment(record, silent.offset)}",
                )


def _claims(record: CallRecord, metrics: Metrics) -> Iterator[tuple[int, int]]:
    """Each stretch for which the agent claims to speak; one that is never taken back ends with its last sound."""
    claims = list(record.of_kind("state_claimed"))
    for claim, after in zip_longest(claims, claims[1:]):
        if claim.data.get("state") != "speaking":
            continue
        if after is not None:
            yield claim.at, after.at
        else:
            last = max((segment.offset for segment in metrics.segments), default=0)
            yield claim.at, last if last > claim.at else len(record.agent)


def farewell_cut(record: CallRecord, metrics: Metrics) -> Iterator[Finding]:
    """The agent hung up before what it had sent was heard."""
    flushed = max((event.at for event in record.of_kind("flush")), default=-1)
    for event in record.of_kind("hangup"):
        if event.data.get("by") != "agent":
            continue
        lost = [
            a for a in record.arrivals if a.heard < a.samples and a.at >= flushed and a.start + a.samples > event.at
        ]
        unheard = sum(a.samples - a.heard for a in lost) / record.rate
        if unheard >= _CUT:
            sent = sum(a.samples for a in lost) / record.rate
            yield finding(
                "farewell_cut",
                Span(min(a.start for a in lost), event.at),
                unheard,
                "s",
                f"the agent hung up at {moment(record, event.at)} with {unheard:.2f} s still to be heard of the "
                f"{sent:.2f} s it had just sent",
            )


def hangup_too_early(record: CallRecord, metrics: Metrics) -> Iterator[Finding]:
    """The agent hung up while the user was speaking."""
    said = list(record.of_kind("user_utterance"))
    for event in record.of_kind("hangup"):
        for utterance in said if event.data.get("by") == "agent" else ():
            onset, offset = (integer(utterance.data, name, utterance.at) for name in ("onset", "offset"))
            if onset < event.at < offset:
                unsaid = (offset - event.at) / record.rate
                yield finding(
                    "hangup_too_early",
                    Span(onset, event.at),
                    unsaid,
                    "s",
                    f"the agent hung up at {moment(record, event.at)}, in the middle of what the user had begun to say "
                    f"at {moment(record, onset)}; {unsaid:.2f} s were not said",
                )


DETECTORS: Final = (
    dead_air,
    growing_latency,
    stale_answer,
    claimed_speaking_but_silent,
    farewell_cut,
    hangup_too_early,
)
