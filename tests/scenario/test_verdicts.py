"""When the figures of a call can be believed."""

from __future__ import annotations

import pytest

from voiceharness.line.sample_clock import ClockFit
from voiceharness.scenario.verdicts import clock_doubts


@pytest.mark.parametrize("fit", [ClockFit(0, 0, 0), ClockFit(80, 3, 3000), ClockFit(5000, 90, 20)])
def test_a_clock_that_runs_well_or_has_hardly_run_is_believed(fit: ClockFit) -> None:
    assert clock_doubts(fit) == []


@pytest.mark.parametrize(
    ("fit", "doubt"),
    [
        (ClockFit(0, 55, 3000), "positions are uncertain by 55 ms"),
        (ClockFit(-2500, 5, 3000), r"off by -2500 ppm"),
    ],
)
def test_a_clock_that_slips_is_not_believed(fit: ClockFit, doubt: str) -> None:
    (found,) = clock_doubts(fit)
    assert doubt in found
