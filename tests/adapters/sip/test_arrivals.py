"""How long sound waits in a worker's buffer."""

from __future__ import annotations

import pytest

from voiceharness_adapters.sip.arrivals import TICK_NS, ArrivalMeter

__all__: list[str] = []

MS = 1_000_000


def meter(
    phase_ms: float,
    *,
    held: int = 1,
    jitter_ms: tuple[float, ...] = (0.0,),
    packet_ms: int = 20,
    looks_ms: float = 1.0,
    until_ms: int = 400,
) -> ArrivalMeter:
    """Look at a stream whose packets come ``phase_ms`` before ticks, and wait for ``held`` more: true for any phase."""
    measuring = ArrivalMeter(5, started_ns=0)
    first_ns = 10 * TICK_NS - phase_ms * MS
    arrivals = [first_ns + index * packet_ms * MS + jitter_ms[index % len(jitter_ms)] * MS for index in range(60)]
    look = 0.0
    while not measuring.done and look < until_ms:
        now_ns = round(look * MS)
        tick = now_ns // TICK_NS
        came = sum(arrival <= now_ns for arrival in arrivals)
        taken_ns = max(0, tick - 9 - held) * TICK_NS
        measuring.take(came, max(0, came * packet_ms * MS - taken_ns), now_ns, tick * TICK_NS)
        look += looks_ms
    return measuring


@pytest.mark.parametrize("phase_ms", [0.2, 3.0, 7.5, 12.0, 17.0, 19.9])
@pytest.mark.parametrize("held", [1, 2, 5])
def test_a_packet_waits_for_its_tick_and_those_that_it_is_held(phase_ms: float, held: int) -> None:
    wait = meter(phase_ms, held=held).wait
    assert wait == pytest.approx(0.02 * held + phase_ms / 1000, abs=0.0011)


@pytest.mark.parametrize("phase_ms", [0.1, 10.0, 19.9])
def test_jitter_is_averaged_even_where_packets_come_with_the_tick(phase_ms: float) -> None:
    wait = meter(phase_ms, jitter_ms=(-1.0, 1.0, 0.0)).wait
    assert wait == pytest.approx(0.02 + phase_ms / 1000, abs=0.002)


def test_packets_of_another_length_are_told_by_what_they_add() -> None:
    assert meter(10.0, held=2, packet_ms=40, until_ms=2000).wait == pytest.approx(0.05, abs=0.0011)


def test_looks_that_are_too_rare_do_not_count() -> None:
    assert not meter(10.0, looks_ms=7.0).done


def test_several_packets_between_two_looks_do_not_count() -> None:
    measuring = ArrivalMeter(5, started_ns=0)
    for look in range(20):
        measuring.take(3 * look, 0, look * MS, look * MS // TICK_NS)
    assert not measuring.done
    assert measuring.wait is None


def test_ticks_for_which_nothing_came_do_not_count() -> None:
    measuring = ArrivalMeter(5, started_ns=0)
    for look in range(400):
        measuring.take(int(look > 30), 0, look * MS, look // 20 * TICK_NS)
    assert not measuring.done


def test_looks_are_hurried_while_packets_come_and_the_first_after_a_pause_is_told() -> None:
    measuring = ArrivalMeter(5, started_ns=0)
    assert measuring.is_hurried(50 * MS)
    assert not measuring.is_hurried(150 * MS)
    told = [measuring.take(packets, 0, at_ms * MS, 0) for packets, at_ms in [(0, 140), (0, 150), (1, 155), (2, 175)]]
    assert told == [False, False, True, False]
    assert measuring.is_hurried(200 * MS)
