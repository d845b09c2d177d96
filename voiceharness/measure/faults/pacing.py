"""Faults of sending: holes in the sound, and a queue that never drains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from voiceharness.audio.edges import Span
from voiceharness.measure.disturbance import Disturbance
from voiceharness.measure.finding import Finding, finding, moment
from voiceharness.measure.playout import Playout

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from voiceharness.line.record import Arrival, CallRecord
    from voiceharness.measure.metrics import Metrics

__all__ = ["DETECTORS", "backlog", "media_gap", "pacing_drift"]

GAP: Final = (0.005, 0.25)
"""Seconds that a hole lasts: shorter ones are not heard, longer ones are a pause."""

DRIFT: Final = (0.1, 0.02)
"""Seconds, and share of a turn, by which an agent that paces itself may fall behind."""

BACKLOG: Final = 0.5
"""Seconds by which everything is heard late."""

_NOTICED: Final = 0.02
_ABRUPT: Final = 0.25
_EDGE: Final = 0.002
_LAST: Final = 0.03  # what a filter still held back when the sound had ended may come after a hole
_LASTING: Final = 5.0
_SETTLED: Final = 2.0
_STEADY: Final = 0.1
_NEARLY_ALL: Final = (1, 99)  # the last of a resampled sound may be stamped late


def media_gap(record: CallRecord, metrics: Metrics) -> Iterator[Finding]:
    """Audio was missing in mid-sound: the queue ran dry, or packets were lost."""
    playout = Playout(record.arrivals)
    for turn in metrics.agent_turns:
        holes = [hole for part in turn.parts for hole in _holes(record, playout, part)]
        missing = sum(map(len, holes)) / record.rate
        if missing >= _NOTICED:
            yield finding(
                "media_gap",
                Span(holes[0].onset, holes[-1].offset),
                missing,
                "s",
                f"the agent's sound broke off {len(holes)} time{'s' * (len(holes) > 1)} between "
                f"{moment(record, holes[0].onset)} and {moment(record, holes[-1].offset)}: {1000 * missing:.0f} ms of "
                f"audio did not come in time",
            )


def _holes(record: CallRecord, playout: Playout, part: Span) -> list[Span]:
    """Holes within a stretch of sound that broke it off: it was loud right before and right after."""
    shortest, longest = (seconds * record.rate for seconds in GAP)
    end = part.offset - round(_LAST * record.rate)
    found = [hole for hole in playout.holes(part.onset + 1, end) if shortest <= len(hole) <= longest]
    if not found:
        return []
    sound = record.agent[part.onset : part.offset].astype(np.float64)
    loud = _ABRUPT * float(np.sqrt(np.mean(sound**2)))
    edge = round(_EDGE * record.rate)
    disturbance = Disturbance.of(record)
    return [
        hole
        for hole in found
        if np.abs(record.agent[hole.onset - edge : hole.onset]).max(initial=0) > loud
        and np.abs(record.agent[hole.offset : hole.offset + edge]).max(initial=0) > loud
        and not disturbance.excuses(hole.onset, hole.offset)
    ]


def pacing_drift(record: CallRecord, metrics: Metrics) -> Iterator[Finding]:
    """Each frame comes a little later than the one before it ends: unheard one by one, seconds in the end."""
    playout = Playout(record.arrivals)
    for turn in metrics.agent_turns:
        small = [hole for hole in playout.holes(turn.onset + 1, turn.offset) if len(hole) < GAP[0] * record.rate]
        behind = sum(map(len, small)) / record.rate
        if behind >= max(DRIFT[0], DRIFT[1] * len(turn.span) / record.rate):
            yield finding(
                "pacing_drift",
                turn.span,
                behind,
                "s",
                f"from {moment(record, turn.onset)} to {moment(record, turn.offset)} the agent sent too slowly: "
                f"{len(small)} holes of less than {1000 * GAP[0]:.0f} ms add up to {behind:.2f} s",
                severity="warning",
            )


def backlog(record: CallRecord, metrics: Metrics) -> Iterator[Finding]:
    """Audio comes in real time, and all of it is heard late, because an early burst is never worked off."""
    for run in _runs(Playout(record.arrivals).heard):
        at = np.array([arrival.at for arrival in run]) / record.rate
        waiting = np.array([arrival.start - arrival.at for arrival in run]) / record.rate
        settled = at >= at[0] + _SETTLED
        if at[-1] - at[0] < _LASTING + _SETTLED:
            continue
        least, most = np.percentile(waiting[settled], _NEARLY_ALL)
        if least < BACKLOG or most - least > _STEADY:
            continue  # worked off; or faster than real time: a long answer that is sent as it is made
        delay = float(np.median(waiting[settled]))
        yield finding(
            "backlog",
            Span(run[0].start, run[-1].start + run[-1].heard),
            delay,
            "s",
            f"from {moment(record, int((at[0] + _SETTLED) * record.rate))} on the agent sent in real time but "
            f"everything was heard {delay:.2f} s late, for {at[-1] - at[0] - _SETTLED:.0f} s: the queue never drained",
        )


def _runs(heard: Sequence[Arrival]) -> Iterator[list[Arrival]]:
    """Arrivals that are heard without a hole between them."""
    run: list[Arrival] = []
    for arrival in heard:
        if run and arrival.start != run[-1].start + run[-1].heard:
            yield run
            run = []
        run.append(arrival)
    if run:
        yield run


DETECTORS: Final = (media_gap, pacing_drift, backlog)
