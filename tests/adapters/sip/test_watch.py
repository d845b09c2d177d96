"""Faults of the media that a peer sends."""

from __future__ import annotations

from voiceharness.clock import NS
from voiceharness_adapters.sip.watch import Finding, MediaWatch

__all__: list[str] = []

QUARTER = NS // 4


def kinds(watch: MediaWatch, *looks: dict[str, float], held: bool = False, start: int = 1) -> list[str]:
    """Kinds of what is found in looks a quarter of a second apart."""
    found: list[Finding] = []
    for index, stats in enumerate(looks, start):
        found += watch.take(stats, index * QUARTER, held=held)
    return [finding.kind for finding in found]


def flowing(count: int, **more: float) -> list[dict[str, float]]:
    return [{"received": 12.0 * (index + 1), **more} for index in range(count)]


def test_a_steady_stream_has_no_finding() -> None:
    assert kinds(MediaWatch(1.0, started_ns=0), *flowing(40, jitter_last_ms=0.4)) == []


def test_no_packet_at_all_is_found_once() -> None:
    watch = MediaWatch(1.0, started_ns=0)
    assert kinds(watch, *[{}] * 20) == ["no_rtp"]
    assert watch.silent


def test_a_stream_that_stops_is_one_way_audio_once_per_stop() -> None:
    watch = MediaWatch(1.0, started_ns=0)
    stop = [{"received": 96.0}] * 8
    assert kinds(watch, *flowing(8), *stop) == ["one_way_audio"]
    assert kinds(watch, {"received": 120.0}, *[{"received": 120.0}] * 8, start=20) == ["one_way_audio"]


def test_a_held_call_may_be_silent() -> None:
    assert kinds(MediaWatch(1.0, started_ns=0), *[{"received": 12.0}] * 20, held=True) == []


def test_without_a_timeout_silence_is_never_too_long() -> None:
    assert kinds(MediaWatch(0.0, started_ns=0), *[{}] * 20) == []


def test_jitter_that_rises_at_once_is_a_jump_of_the_timestamps() -> None:
    looks = [*flowing(5, jitter_last_ms=1.0), {"received": 80.0, "jitter_last_ms": 105.0}]
    looks.append({"received": 92.0, "jitter_last_ms": 60.0})
    assert kinds(MediaWatch(1.0, started_ns=0), *looks) == ["rtp_timestamp_jump"]


def test_each_kind_of_disorder_is_found_once() -> None:
    looks = flowing(20, doubled=10.0, reordered=9.0, lost=8.0)
    assert sorted(kinds(MediaWatch(1.0, started_ns=0), *looks)) == ["rtp_doubled", "rtp_lost", "rtp_reordered"]
