"""The map between the loop's time and media positions."""

from __future__ import annotations

import pytest

from voiceharness.line.sample_clock import SampleClock

NS = 1_000_000_000


def test_a_line_that_keeps_time_itself_converts_exactly() -> None:
    clock = SampleClock(5 * NS, 8000)
    assert clock.position_at(5 * NS) == 0
    assert clock.position_at(6 * NS) == 8000
    for position in (0, 1, 7, 160, 8001, 28_800_000):
        assert clock.position_at(clock.time_of(position)) == position


def test_a_time_of_a_position_is_never_before_it() -> None:
    clock = SampleClock(0, 44100)
    assert clock.time_of(1) * 44100 >= NS


def test_a_transports_clock_is_followed_and_its_drift_reported() -> None:
    """A tick that runs 200 ppm fast, for a minute."""
    clock = SampleClock(0, 8000)
    for tick in range(3000):
        clock.observe(tick * 160, round(tick * 0.02 * NS / 1.0002))
    fit = clock.fit()
    assert fit.drift_ppm == pytest.approx(200, abs=1)
    assert fit.residual_ms < 0.1
    assert fit.observations == 3000
    assert clock.position_at(60 * NS) == pytest.approx(480096, abs=1)
    assert clock.position_at(clock.time_of(480000)) == pytest.approx(480000, abs=1)


def test_jitter_of_the_tick_shows_as_residual() -> None:
    clock = SampleClock(0, 8000)
    for tick in range(1000):
        clock.observe(tick * 160, round((tick * 0.02 + (0.001 if tick % 2 else -0.001)) * NS))
    assert clock.fit().residual_ms == pytest.approx(1.0, rel=0.05)


def test_without_observations_there_is_no_drift() -> None:
    assert SampleClock(0, 8000).fit().drift_ppm == 0.0


def test_observations_that_come_together_bend_no_time() -> None:
    """A transport that fills its buffer asks for two frames within microseconds: that is no rate."""
    clock = SampleClock(0, 8000)
    clock.observe(0, 1_000)
    clock.observe(160, 51_000)
    assert clock.position_at(NS) == pytest.approx(8000, abs=160)
    assert clock.time_of(8000) / NS == pytest.approx(1.0, abs=0.02)
