"""What was found in a call, for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voiceharness.measure import measure
from voiceharness.measure.faults import find_faults

if TYPE_CHECKING:
    from tests.measure.calls import Call
    from voiceharness.measure.finding import Finding

__all__ = ["faults", "interval", "kinds", "only"]


def faults(call: Call) -> tuple[Finding, ...]:
    record = call.record()
    return find_faults(record, measure(record))


def kinds(call: Call) -> list[str]:
    return [finding.kind for finding in faults(call)]


def only(call: Call, kind: str) -> Finding:
    """The one finding of a call, which is of this kind."""
    found = faults(call)
    assert [finding.kind for finding in found] == [kind], found
    return found[0]


def interval(finding: Finding, rate: int = 8000) -> list[object]:
    """Start and end in seconds."""
    return [finding.start / rate, finding.end / rate]
