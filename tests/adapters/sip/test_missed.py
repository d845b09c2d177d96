"""Ticks that a media clock left out."""

from __future__ import annotations

import pytest

from voiceharness_adapters.sip.missed import MissedTicks

__all__: list[str] = []

MS = 1_000_000


def missed(*at_ms: float) -> list[int]:
    """Ticks missed before each tick."""
    ticks = MissedTicks()
    return [ticks.take(round(at * MS)) for at in at_ms]


def clock(count: int, start: float = 0.0) -> list[float]:
    return [start + 20.0 * index for index in range(count)]


def test_a_clock_that_keeps_time_misses_none() -> None:
    assert not any(missed(*clock(500)))


def test_a_clock_that_wavers_misses_none() -> None:
    assert not any(missed(*(at + (index * 7) % 15 for index, at in enumerate(clock(500)))))


@pytest.mark.parametrize("stall_ms", [40, 100, 400, 520])
def test_a_clock_that_catches_up_misses_none(stall_ms: int) -> None:
    """What was due during the stall comes in a burst after it."""
    late = [max(at, 1000.0 + stall_ms + 0.1 * index) if at >= 1000 else at for index, at in enumerate(clock(200))]
    assert not any(missed(*late))


@pytest.mark.parametrize("stall_ms", [600, 1200, 5000])
def test_a_clock_that_gives_ticks_up_tells_them_with_the_first_one_after(stall_ms: int) -> None:
    """Case A48: five seconds are 250 of them."""
    found = missed(*clock(50), *clock(200, 980.0 + stall_ms))
    assert found[50] == pytest.approx(stall_ms / 20 - 1, abs=1)
    assert sum(found) == found[50]


def test_ticks_that_were_given_up_little_by_little_are_told_once_the_clock_has_its_pace_again() -> None:
    found = missed(*clock(50), *clock(200, 1200.0))
    assert sum(found) == 10
    assert found.index(10) in range(51, 56)


def test_each_stall_is_told() -> None:
    found = missed(*clock(50), *clock(50, 2000.0), *clock(50, 4000.0))
    assert sum(found) == 100
