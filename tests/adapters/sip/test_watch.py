"""Faults of the media that a peer sends."""

from __future__ import annotations

import pytest

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


def late(watch: MediaWatch, packets: int, most_ms: int, at: float) -> list[Finding]:
    """What is found in packets that came late, at a time in seconds."""
    at_ns, most_ns = round(at * NS), most_ms * 1_000_000
    return list(watch.take_late(packets, most_ns, at_ns - most_ns, at_ns))


def test_packets_that_were_held_up_for_long_are_told_however_few_they_are() -> None:
    watch = MediaWatch(1.0, started_ns=0)
    kinds(watch, {"received": 100_000.0})
    (found,) = late(watch, 3, 120, 1.0)
    assert (found.kind, found.figure, found.unit, found.duration) == ("rtp_late", 3, "packets", 0.12)
    assert found.detail == "3 packets came later than they were due, the latest by 120 ms"


def test_a_little_late_is_worth_a_word_only_if_it_is_often() -> None:
    watch = MediaWatch(1.0, started_ns=0)
    found: list[Finding] = []
    for second in range(1, 10):
        kinds(watch, {"received": 100.0 * second}, start=4 * second)
        found += late(watch, 1, 40, second)
    assert found == []
    for second in range(10, 20):
        kinds(watch, {"received": 100.0 * second}, start=4 * second)
        found += late(watch, 5, 40, second)
    assert {each.kind for each in found} == {"rtp_late"}
    assert 1 <= len(found) < 10


def test_packets_that_were_late_much_earlier_are_another_stretch() -> None:
    watch = MediaWatch(1.0, started_ns=0)
    assert [each.figure for each in late(watch, 20, 400, 1.0)] == [20]
    assert [each.figure for each in late(watch, 10, 200, 9.0)] == [10]


def test_late_packets_that_grow_by_less_than_a_quarter_are_told_at_the_end() -> None:
    watch = MediaWatch(1.0, started_ns=0)
    assert [each.figure for each in late(watch, 20, 400, 1.0)] == [20]
    assert late(watch, 4, 400, 2.0) == []
    assert [each.figure for each in watch.finish({}, 3 * NS)] == [24]
    assert list(watch.finish({}, 3 * NS)) == []


def test_packets_that_fall_behind_their_timestamps_are_told_from_the_limit_on() -> None:
    """Case A48."""
    watch = MediaWatch(1.0, started_ns=0)
    found: list[Finding] = []
    for index in range(1, 13):
        stats = {"received": 12.0 * index, "skew_ms": 12.5 * index}
        found += watch.take(stats, index * QUARTER, held=False)
    assert [(each.kind, each.figure, each.unit) for each in found] == [
        ("rtp_clock_skew", 0.1, "s"),
        ("rtp_clock_skew", 0.1375, "s"),
    ]
    assert [each.figure for each in watch.finish({"skew_ms": 150.0}, 13 * QUARTER)] == [0.15]


@pytest.mark.parametrize("skew_ms", [-400.0, 0.0, 20.0, 99.0])
def test_packets_that_keep_their_time_are_not(skew_ms: float) -> None:
    assert kinds(MediaWatch(1.0, started_ns=0), *flowing(20, skew_ms=skew_ms)) == []


SOURCE = Finding("rtp_source_changed", "another source")
NUMBERS = Finding("rtp_sequence_jump", "the sequence numbers jumped")


@pytest.mark.parametrize("faults", [(SOURCE, NUMBERS), (NUMBERS, SOURCE)], ids=["source first", "numbers first"])
def test_numbers_that_jump_with_their_source_are_one_news(faults: tuple[Finding, ...]) -> None:
    watch = MediaWatch(1.0, started_ns=0)
    told = [each for index, fault in enumerate(faults) for each in watch.take_fault(fault, 20_000_000 * index)]
    assert [each.kind for each in told] == ["rtp_source_changed"]
    assert kinds(watch, *flowing(4)) == []


def test_numbers_that_jump_alone_are_told_with_the_next_statistics_and_their_own_time() -> None:
    watch = MediaWatch(1.0, started_ns=0)
    assert list(watch.take_fault(NUMBERS, QUARTER)) == []
    (found,) = watch.take({}, 2 * QUARTER, held=False)
    assert (found.kind, found.duration) == ("rtp_sequence_jump", 0.25)


def test_numbers_that_jump_at_the_end_of_the_call_are_told() -> None:
    watch = MediaWatch(1.0, started_ns=0)
    assert list(watch.take_fault(NUMBERS, QUARTER)) == []
    assert [each.kind for each in watch.finish({}, 2 * QUARTER)] == ["rtp_sequence_jump"]


def test_timestamps_of_a_new_source_are_its_own() -> None:
    looks = [*flowing(5, jitter_last_ms=1.0), {"received": 80.0, "jitter_last_ms": 105.0}]
    watch = MediaWatch(1.0, started_ns=0)
    assert list(watch.take_fault(SOURCE, 5 * QUARTER)) == [SOURCE]
    assert kinds(watch, *looks) == []


def test_the_size_of_a_jump_is_known_from_what_it_did_to_the_jitter() -> None:
    """RFC 3550, 6.4.1: one packet moves the jitter by a sixteenth of its own."""
    watch = MediaWatch(1.0, started_ns=0)
    list(watch.take({"received": 60.0, "jitter_last_ms": 1.0}, QUARTER, held=False))
    (jump,) = watch.take({"received": 72.0, "jitter_last_ms": 101.0}, 2 * QUARTER, held=False)
    assert (jump.figure, jump.unit) == (1.6, "s")
