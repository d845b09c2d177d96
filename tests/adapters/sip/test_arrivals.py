"""Where audio that came over RTP belongs."""

from __future__ import annotations

import pytest

from voiceharness_adapters.sip.arrivals import TICK_NS, ArrivalMeter

__all__: list[str] = []

MS = 1_000_000


def meter(phase_ms: float, *, jitter_ms: tuple[float, ...] = (0.0,), looks_ms: float = 1.0) -> ArrivalMeter:
    """Look every millisecond at a stream whose packets come ``phase_ms`` before the ticks."""
    measuring = ArrivalMeter()
    arrivals = [(index + 1) * TICK_NS - phase_ms * MS + jitter_ms[index % len(jitter_ms)] * MS for index in range(12)]
    look = 0.0
    while not measuring.done and look < 400:
        now_ns = round(look * MS)
        tick_ns = now_ns // TICK_NS * TICK_NS
        measuring.take(sum(arrival <= now_ns for arrival in arrivals), now_ns, tick_ns)
        look += looks_ms
    return measuring


@pytest.mark.parametrize("phase_ms", [3.0, 7.5, 12.0, 17.0])
def test_a_packet_waits_for_its_tick_and_one_more(phase_ms: float) -> None:
    wait = meter(phase_ms).wait
    assert wait == pytest.approx(0.02 + phase_ms / 1000, abs=0.0011)


def test_jitter_is_averaged() -> None:
    assert meter(10.0, jitter_ms=(-1.0, 1.0, 0.0)).wait == pytest.approx(0.03, abs=0.002)


@pytest.mark.parametrize("phase_ms", [0.3, 19.8])
def test_packets_that_come_with_the_tick_cannot_be_told(phase_ms: float) -> None:
    assert meter(phase_ms, jitter_ms=(-0.4, 0.4)).wait is None


def test_looks_that_are_too_rare_do_not_count() -> None:
    assert not meter(10.0, looks_ms=7.0).done


def test_several_packets_between_two_looks_do_not_count() -> None:
    measuring = ArrivalMeter()
    for look in range(20):
        measuring.take(3 * look, look * MS, 0)
    assert not measuring.done
