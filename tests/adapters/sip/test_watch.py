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
    looks = flowing(20, doubled=10.0, reordered=9.0, lost=8.0, discarded=7.0)
    found = sorted(kinds(MediaWatch(1.0, started_ns=0), *looks))
    assert found == ["rtp_doubled", "rtp_late", "rtp_lost", "rtp_reordered"]


def test_disorder_that_grows_by_a_quarter_is_told_again_with_its_begin() -> None:
    watch = MediaWatch(1.0, started_ns=0)
    found: list[Finding] = []
    for index, lost in enumerate([0.0, 8.0, 9.0, 10.0, 11.0, 13.0], 1):
        found += watch.take({"received": 40.0 + 12 * index, "lost": lost}, index * QUARTER, held=False)
    assert [(each.figure, each.unit, each.duration) for each in found] == [
        (8, "packets", 0.25),
        (11, "packets", 1.0),
    ]


def test_the_end_of_the_call_tells_how_much_it_was_in_all() -> None:
    watch = MediaWatch(1.0, started_ns=0)
    list(watch.take({"received": 100.0, "lost": 20.0}, QUARTER, held=False))
    assert [each.figure for each in watch.finish({"received": 101.0, "lost": 21.0}, 2 * QUARTER)] == [21]
    assert list(watch.finish({"received": 101.0, "lost": 21.0}, 2 * QUARTER)) == []


def test_a_few_packets_of_many_are_not_worth_a_word() -> None:
    watch = MediaWatch(1.0, started_ns=0)
    assert kinds(watch, *flowing(20, lost=1.0)) == []
    assert list(watch.finish({"received": 1000.0, "lost": 19.0}, 21 * QUARTER)) == []


def test_the_size_of_a_jump_is_known_from_what_it_did_to_the_jitter() -> None:
    """RFC 3550, 6.4.1: one packet moves the jitter by a sixteenth of its own."""
    watch = MediaWatch(1.0, started_ns=0)
    list(watch.take({"received": 60.0, "jitter_last_ms": 1.0}, QUARTER, held=False))
    (jump,) = watch.take({"received": 72.0, "jitter_last_ms": 101.0}, 2 * QUARTER, held=False)
    assert (jump.figure, jump.unit) == (1.6, "s")
