"""Packets that came later than they were due."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

import pytest

from voiceharness_adapters.sip.lateness import Late, LateWatch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__: list[str] = []

MS = 1_000_000
LOOKS_MS = 5.0

Packet = tuple[float, float]
"""Milliseconds at which it comes, and its sound's own place."""


Stalls = tuple[tuple[int, int], ...]
"""Begin and end of each, in milliseconds."""


def in_time(count: int) -> list[Packet]:
    return [(20.0 * index, 20.0 * index) for index in range(count)]


def moved(by_ms: Callable[[int], float], *, packet_ms: int = 20) -> list[Packet]:
    """Packets that come later than in time, each by as many milliseconds; none overtakes another."""
    places = [packet_ms * index for index in range(200)]
    came = accumulate((place + by_ms(index) for index, place in enumerate(places)), max)
    return list(zip(came, places, strict=True))


def found(
    packets: Iterable[Packet], *, looks_ms: float = LOOKS_MS, stalls: tuple[tuple[int, int], ...] = ()
) -> list[Late]:
    """Look at packets as they come, but not in ``stalls`` (in milliseconds)."""
    watch, coming = LateWatch(), sorted(packets)
    late, came, sound = [], 0, 0.0
    look = 0.0
    while coming:
        if not any(begin < look < end for begin, end in stalls):
            before = came
            while coming and coming[0][0] <= look:
                sound = coming.pop(0)[1]
                came += 1
            if came == before:
                watch.take_nothing(round(look * MS))
            elif told := watch.take(came, round(sound * MS), round(look * MS)):
                late.append(told)
        look += looks_ms
    return late


def test_a_steady_stream_has_none() -> None:
    assert found(in_time(300)) == []


@pytest.mark.parametrize("phase_ms", [0.0, 2.5, 4.9])
def test_jitter_under_a_packet_has_none(phase_ms: float) -> None:
    assert found(moved(lambda index: phase_ms + (index * 7) % 20 - 0.1 * ((index * 7) % 20))) == []


def test_packets_that_are_held_up_together_are_told_once_they_have_come() -> None:
    """Half a second of sound at once: 25 packets, of which the last is not late, and the one before by a packet."""
    (late,) = found(moved(lambda index: 2000 - 20 * index if 75 <= index < 100 else 0))
    assert late.packets == pytest.approx(24, abs=1)
    assert late.most_ns / MS == pytest.approx(500, abs=LOOKS_MS)
    assert late.due_ns / MS == pytest.approx(1500, abs=LOOKS_MS)


def test_packets_that_come_late_now_and_then_are_told_each_time() -> None:
    late = found(moved(lambda index: 50 if index % 10 in (3, 4, 5) else 0))
    assert [each.packets for each in late] == [4] * 20  # the one after them waits, too
    assert all(each.most_ns / MS == pytest.approx(50, abs=LOOKS_MS) for each in late)


@pytest.mark.parametrize("after_ms", [0.1, 4.9], ids=["in one look", "or in two"])
def test_packets_that_changed_places_are_not_late(after_ms: float) -> None:
    packets = enumerate(in_time(200))
    assert found((at + (20 + after_ms if index % 10 == 8 else 0), place) for index, (at, place) in packets) == []


def test_packets_that_others_overtake_are_not_counted() -> None:
    """They are out of order, which the library counts itself."""
    packets = enumerate(in_time(200))
    assert found((at + (80 if index % 10 == 5 else 0), place) for index, (at, place) in packets) == []


@pytest.mark.parametrize("lost", [range(75, 100), range(5, 200, 10)], ids=["half a second", "each tenth"])
def test_lost_packets_are_not_late(lost: range) -> None:
    assert found(packet for index, packet in enumerate(in_time(200)) if index not in lost) == []


def test_some_of_the_held_up_packets_may_be_lost() -> None:
    """Only what came can be late."""
    packets = moved(lambda index: 2000 - 20 * index if 75 <= index < 100 else 0)
    (late,) = found(packet for index, packet in enumerate(packets) if index not in range(75, 90))
    assert late.packets == pytest.approx(9, abs=1)


@pytest.mark.parametrize("stamped_ms", [0, 5000], ids=["timestamps stand still", "timestamps go on"])
def test_a_sender_that_pauses_is_not_late(stamped_ms: int) -> None:
    pause = [(at + 5000, place + stamped_ms) for at, place in in_time(200)[100:]]
    assert found(in_time(100) + pause) == []


def test_a_sender_that_is_ever_slower_is_not_late() -> None:
    """It never catches up: that is a skew."""
    assert found(moved(lambda index: index)) == []


def test_a_way_that_becomes_longer_is_not_late() -> None:
    assert found(moved(lambda index: 200 if index >= 100 else 0)) == []


def test_a_stream_that_begins_with_more_than_is_due_is_not_late() -> None:
    assert found([(max(0.0, 20.0 * index - 200), 20.0 * index) for index in range(200)]) == []


@pytest.mark.parametrize("packet_ms", [10, 30, 60])
def test_packets_of_another_length_may_be_late_by_that(packet_ms: int) -> None:
    def of(late_ms: float) -> list[Packet]:
        return moved(lambda index: late_ms if 50 <= index < 55 else 0, packet_ms=packet_ms)

    assert found(of(0.9 * packet_ms)) == []
    assert [late.packets for late in found(of(packet_ms + 2 * LOOKS_MS))] == [5]


def test_looks_that_were_held_up_accuse_nobody() -> None:
    assert found(in_time(200), stalls=((1000, 1800), (2500, 2570))) == []


def test_looks_that_are_a_tick_apart_accuse_nobody_either() -> None:
    assert found(moved(lambda index: (index * 7) % 20), looks_ms=20.0) == []
    assert found(in_time(200), looks_ms=23.0) == []


def test_a_jump_of_the_timestamps_is_not_late() -> None:
    """Case A50 (a): 13 440 units back."""
    assert found([(at, place - (1680 if at >= 1500 else 0)) for at, place in in_time(200)]) == []
    assert found([(at, place + (9000 if at >= 1500 else 0)) for at, place in in_time(200)]) == []


def test_doubled_packets_are_not_late() -> None:
    assert found(packet for packet in in_time(200) for _ in range(2)) == []


def test_keypad_events_whose_timestamp_stands_still_are_not_late() -> None:
    """RFC 4733: all packets of an event have the time of its begin; its last one comes three times."""
    event = [(20.0 * index, 1000.0) for index in range(50, 60)] + [(1180.0, 1000.0)] * 2
    assert found(in_time(50) + event + in_time(200)[60:]) == []
