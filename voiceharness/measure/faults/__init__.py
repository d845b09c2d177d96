"""Faults of the agent, found in the record of a call: one module for each theme, one function for each kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from voiceharness.measure.faults import answering, floor, flush, history, keys, pacing, seams, sound

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeAlias

    from voiceharness.line.record import CallRecord
    from voiceharness.measure.finding import Finding
    from voiceharness.measure.metrics import Metrics

    Detector: TypeAlias = Callable[[CallRecord, Metrics], Iterable[Finding]]

__all__ = ["DETECTORS", "find_faults"]

DETECTORS: Final[tuple[Detector, ...]] = (
    *flush.DETECTORS,
    *floor.DETECTORS,
    *answering.DETECTORS,
    *sound.DETECTORS,
    *seams.DETECTORS,
    *pacing.DETECTORS,
    *keys.DETECTORS,
    *history.DETECTORS,
)
"""Every detector: it takes a record and its metrics, and yields findings."""


def find_faults(record: CallRecord, metrics: Metrics) -> tuple[Finding, ...]:
    """Look for every kind of fault; findings are in order of their start."""
    found = (finding for detector in DETECTORS for finding in detector(record, metrics))
    return tuple(sorted(found, key=lambda finding: (finding.start, finding.kind)))
