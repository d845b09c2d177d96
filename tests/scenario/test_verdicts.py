"""When the figures of a call can be believed."""

from __future__ import annotations

import pytest

from voiceharness.audio.edges import Span
from voiceharness.clock import NS, Stall
from voiceharness.line.sample_clock import ClockFit, SampleClock
from voiceharness.scenario.verdicts import clock_doubts, misplaced_sound


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


SPOKEN = [Span(8000, 16_000)]
"""From 1 to 2 s."""


def doubts(delay: Stall) -> list[str]:
    return list(misplaced_sound([delay], SPOKEN, SampleClock(start_ns=5 * NS, rate=8000), frame=160))


@pytest.mark.parametrize("seconds", [0.98, 1.5, 2.01])
def test_sound_that_the_loop_was_late_for_is_not_believed(seconds: float) -> None:
    (doubt,) = doubts(Stall(5 * NS + round(seconds * NS), 0.045))
    assert f"0.045 s late at {seconds:.3f} s" in doubt
    assert "misplaced by up to 0.065 s" in doubt


@pytest.mark.parametrize("seconds", [0.5, 2.1])
def test_a_loop_that_is_late_while_nobody_speaks_displaces_nothing(seconds: float) -> None:
    assert doubts(Stall(5 * NS + round(seconds * NS), 0.045)) == []
