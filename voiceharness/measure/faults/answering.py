"""Faults of answering: too late, ever later, not at all, to the wrong turn, or only in the agent's own belief."""

from __future__ import annotations

from itertools import pairwise, zip_longest
from typing import TYPE_CHECKING, Final

from voiceharness.audio.edges import Span
from voiceharness.measure.finding import Finding, finding, moment
from voiceharness.measure.spans import gaps

if TYPE_CHECKING:
    from collections.abc import Iterator

    from voiceharness.line.record import CallRecord
    from voiceharness.measure.metrics import Metrics

__all__ = [
    "DETECTORS",
    "claimed_speaking_but_silent",
    "dead_air",
    "growing_latency",
    "stale_answer",
]

DEAD_AIR: Final = 4.0
"""Seconds of silence after which a user who asked something thinks that the line is dead."""

CLAIM: Final = 1.0
"""Seconds for which an agent may say that it speaks without being heard."""

_GROWTH: Final = 0.5
_GROWING_TURNS: Final = 4
_JITTER: Final = 0.05


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


DETECTORS: Final = (dead_air, growing_latency, stale_answer, claimed_speaking_but_silent)
