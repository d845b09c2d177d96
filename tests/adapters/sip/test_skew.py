"""How far packets fall behind their timestamps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from voiceharness_adapters.sip.skew import SkewMeter

if TYPE_CHECKING:
    from collections.abc import Callable

__all__: list[str] = []

MS = 1_000_000
FRAME_MS = 20


def skew_ms(packets: int, at_ms: Callable[[int], float], sound_ms: Callable[[int], float] = lambda n: 20 * n) -> float:
    """Skew after so many packets that come at times of their own, with timestamps of their own."""
    meter = SkewMeter()
    for index in range(packets):
        meter.take(round(sound_ms(index) * MS), round(at_ms(index) * MS))
    return meter.skew_ns / MS


def test_a_sender_that_is_a_millisecond_late_with_each_frame_is_seconds_late_in_a_minute() -> None:
    """Case A48 (a): 60 s."""
    assert skew_ms(2858, lambda index: 21 * index) == pytest.approx(2857, abs=20)


def test_a_sender_with_absolute_deadlines_is_not() -> None:
    """Case A48 (b), with the jitter of a machine."""
    assert abs(skew_ms(3000, lambda index: 20 * index + (index * 7) % 15)) <= 20


def test_nothing_is_known_of_the_first_packets() -> None:
    assert skew_ms(10, lambda index: 40 * index) == 0


def test_packets_that_are_held_up_and_catch_up_are_no_skew() -> None:
    assert skew_ms(200, lambda index: 2000 if 75 <= index < 100 else 20 * index) == 0


@pytest.mark.parametrize("stamped_ms", [0, 5000], ids=["timestamps stand still", "timestamps go on"])
def test_a_pause_is_no_skew(stamped_ms: int) -> None:
    """Senders that suppress silence: by RFC 3550 their timestamps go on, by many they do not."""

    def at_ms(index: int) -> float:
        return 20 * index + (5000 if index >= 100 else 0)

    assert skew_ms(200, at_ms, lambda index: 20 * index + (stamped_ms if index >= 100 else 0)) == 0


def test_what_was_behind_before_a_pause_still_counts_after_it() -> None:
    assert skew_ms(301, lambda index: 21 * index + (5000 if index >= 150 else 0)) == pytest.approx(300, abs=30)


def test_lost_packets_are_no_skew() -> None:
    meter = SkewMeter()
    for index in range(200):
        if index % 10 != 5:
            meter.take(20 * index * MS, 20 * index * MS)
    assert meter.skew_ns == 0


def test_a_jump_of_the_timestamps_is_no_skew() -> None:
    assert skew_ms(200, lambda index: 20 * index, lambda index: 20 * index - (1680 if index >= 100 else 0)) == 0
