"""What a device loses is counted if it mattered, and told once it is too much."""

from __future__ import annotations

import numpy as np
import pytest

from voiceharness.clock import NS
from voiceharness.errors import DeviceError
from voiceharness_adapters.sound_card.health import DeviceHealth, SoundingTicks
from voiceharness_adapters.sound_card.stream import Block

RATE = 48000
BLOCK = 480


def block(tick: int, *, period: float = 0.01, **told: bool) -> Block:
    return Block(tick, b"", tick * 0.01, at_ns=round(tick * period * NS), **told)


def test_ticks_with_sound_are_known_in_order_and_then_forgotten() -> None:
    sounding = SoundingTicks()
    for tick in range(5):
        sounding.note(tick, np.full(4, tick % 2, np.int16))
    assert [sounding.at(tick) for tick in range(6)] == [False, True, False, True, False, False]
    assert not sounding.at(1)


def test_sound_that_comes_too_late_is_a_loss_and_silence_is_none() -> None:
    health = DeviceHealth(RATE, BLOCK, "the agent's")
    for tick in range(20):
        health.take(block(tick, starved=True), sounding=tick >= 17)
    assert health.lost("starved") == 3 * BLOCK
    (reason,) = health.doubts()
    assert reason.startswith("3 blocks of the agent's sound were not played in time")
    assert "latency_ms" in reason


def test_two_late_blocks_are_told_but_no_doubt() -> None:
    health = DeviceHealth(RATE, BLOCK)
    for tick in range(4):
        health.take(block(tick, starved=tick > 1), sounding=True)
    assert health.summary() == "starved at 0.020 s: 480 samples; starved at 0.030 s: 480 samples"
    assert not health.doubts()


def test_underflow_told_by_the_driver_is_a_loss() -> None:
    health = DeviceHealth(RATE, BLOCK)
    for tick in range(6):
        health.take(block(tick, underflow=tick > 1), sounding=False)
    assert health.summary() == "underflow 4 times from 0.020 s on: 1920 samples"
    assert health.doubts()


@pytest.mark.parametrize(("period", "share"), [(0.04, "0.25"), (0.0141, "0.71")])
def test_too_few_samples_are_an_error_once_it_is_sure(period: float, share: str) -> None:
    """Case B45: a path that brings a quarter of its samples."""
    health = DeviceHealth(RATE, BLOCK)
    health.take(block(0, period=period), sounding=False)
    health.take(block(1, period=period), sounding=False)
    health.check_count()
    for tick in range(2, 200):
        health.take(block(tick, period=period), sounding=False)
    with pytest.raises(DeviceError, match=f"sample count {share} of expected"):
        health.check_count()


def test_a_device_that_is_only_a_little_slow_goes_on() -> None:
    health = DeviceHealth(RATE, BLOCK)
    for tick in range(1000):
        health.take(block(tick, period=0.0125), sounding=False)
        health.check_count()
