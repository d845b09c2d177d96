"""What waits for its tick on baresip: no frame of it moves, whatever is missing, and whenever it comes."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest

from voiceharness_adapters.sip.baresip_worker.reserve import FRAME_NS, GONE, Reserve

__all__: list[str] = []

SIZE = 4
LOOK_NS = FRAME_NS // 2


def frames(*numbers: int) -> bytes:
    return b"".join(number.to_bytes(SIZE, "big") for number in numbers)


@dataclass(slots=True)
class Ticks:
    """Ticks of a reserve, one after another; frames come just before a tick."""

    reserve: Reserve = field(default_factory=lambda: Reserve(SIZE))
    now_ns: int = 0

    def played(self, *arrivals: tuple[int, ...]) -> list[int]:
        """Return the frames heard in ticks before each of which something came; 0: none was."""
        heard = []
        for numbers in arrivals:
            self.reserve.put(frames(*numbers), self.now_ns)
            heard.append(int.from_bytes(self.reserve.take(self.now_ns), "big"))
            self.now_ns += FRAME_NS
        return heard


def flowing() -> Ticks:
    ticks = Ticks()
    assert ticks.played((1,), (2,), (3,)) == [0, 1, 2]
    return ticks


def test_one_frame_waits_behind_the_one_that_is_heard() -> None:
    assert flowing().played((4,), (5,), (6,)) == [3, 4, 5]


def test_a_frame_that_never_came_leaves_its_place_empty_and_is_counted() -> None:
    ticks = flowing()
    assert ticks.played((), (5,), (6,), (7,)) == [3, 0, 5, 6]
    assert (ticks.reserve.lost, ticks.reserve.late) == (1, 0)


def test_a_frame_that_is_a_little_late_is_heard_in_its_place() -> None:
    ticks = flowing()
    assert ticks.played((), (4, 5), (6,), (7,)) == [3, 4, 5, 6]
    assert (ticks.reserve.lost, ticks.reserve.late) == (0, 0)


def test_frames_that_come_after_their_place_has_been_heard_are_dropped() -> None:
    ticks = flowing()
    assert ticks.played((), (), (), (4, 5, 6, 7), (8,)) == [3, 0, 0, 6, 7]
    assert (ticks.reserve.lost, ticks.reserve.late, ticks.reserve.heard) == (0, 2, 5)


def test_an_agent_that_pauses_moves_nothing_that_comes_after() -> None:
    assert flowing().played(*[()] * 5, (4,), (5,), (6,)) == [3, 0, 0, 0, 0, 0, 4, 5]


def test_ticks_that_were_late_find_each_its_frame() -> None:
    ticks = flowing()
    reserve, due_ns = ticks.reserve, ticks.now_ns
    reserve.put(frames(4, 5, 6, 7), due_ns + 3 * FRAME_NS)
    heard = [reserve.take(due_ns + late * FRAME_NS) for late in range(4)]
    assert heard == [frames(number) for number in (3, 4, 5, 6)]
    assert (reserve.lost, reserve.late) == (0, 0)


def test_an_agent_that_was_late_when_it_began_is_caught_up_with() -> None:
    ticks = flowing()
    assert ticks.played((4, 5), *[(number,) for number in range(6, 90)])[-1] == 88
    assert ticks.reserve.late == 1


def test_a_burst_that_the_agent_makes_up_for_costs_nothing() -> None:
    ticks = flowing()
    heard = ticks.played((4, 5), (6,), (7,), (), (8,), *[(number,) for number in range(9, 90)])
    assert [number for number in heard if number] == list(range(3, 89))
    assert ticks.reserve.late == 0


def test_an_agent_that_stops_and_begins_again_begins_anew() -> None:
    ticks = flowing()
    assert set(ticks.played(*[()] * (GONE + 3))) == {3, 0}
    assert ticks.played((9,), (10,), (11,)) == [0, 9, 10]
    assert ticks.reserve.begun == 2
    assert ticks.reserve.lost == 0


def test_frames_are_found_however_they_are_cut() -> None:
    reserve = Reserve(SIZE)
    for byte in frames(1):
        reserve.put(bytes([byte]), 0)
    reserve.put(frames(2)[:3], FRAME_NS)
    assert reserve.take(FRAME_NS) == frames(1)


def test_another_stream_is_waited_for_again() -> None:
    ticks = flowing()
    ticks.reserve.restart()
    assert ticks.played((9,), (10,)) == [0, 9]


def heard_of(came_ns: list[int], *, packet: int = 1) -> tuple[Reserve, list[int]]:
    """Hear numbered frames that come at these times, ``packet`` at once, looked at twice in each tick."""
    reserve, heard, index = Reserve(SIZE), [], 0
    for look in range(2 * len(came_ns) * packet + 12):
        now_ns = look * LOOK_NS
        while index < len(came_ns) and came_ns[index] <= now_ns:
            reserve.put(frames(*range(packet * index + 1, packet * (index + 1) + 1)), now_ns)
            index += 1
        if look % 2 == 0:
            heard.append(int.from_bytes(reserve.take(now_ns), "big"))
    return reserve, heard


def in_order(heard: list[int]) -> bool:
    """Whether all is heard without a gap, from its first frame on."""
    first = next(index for index, number in enumerate(heard) if number)
    last = max(index for index, number in enumerate(heard) if number)
    return heard[first : last + 1] == list(range(1, last - first + 2))


@pytest.mark.parametrize("phase_ms", range(20))
@pytest.mark.parametrize("jitter_ms", [0, 1, 5, 9])
def test_whenever_between_ticks_frames_come_none_is_missed(phase_ms: int, jitter_ms: int) -> None:
    """What arrives as a tick looks may come before one look and after the next."""
    chance = random.Random(100 * phase_ms + jitter_ms)
    late = [chance.uniform(0, jitter_ms) for _ in range(300)]
    reserve, heard = heard_of([round((phase_ms + late[n]) * 1e6) + n * FRAME_NS for n in range(300)])
    assert in_order(heard)
    assert max(heard) == 300
    assert (reserve.lost, reserve.late) == (0, 0)


@pytest.mark.parametrize("lost", [{50}, {50, 51}, {50, 60, 70, 80}])
@pytest.mark.parametrize("phase_ms", [0, 5, 10, 15, 19])
def test_lost_frames_move_no_other_whatever_the_phase(phase_ms: int, lost: set[int]) -> None:
    chance = random.Random(phase_ms)
    came = {n: round((phase_ms + chance.uniform(0, 2)) * 1e6) + n * FRAME_NS for n in range(200)}
    kept = [n for n in range(200) if n not in lost]
    reserve, heard = heard_of([came[n] for n in kept])
    first = next(index for index, number in enumerate(heard) if number)
    by_slot = heard[first : first + 200]
    assert [place for place, number in enumerate(by_slot) if not number] == sorted(lost)
    assert (reserve.lost, reserve.late) == (len(lost), 0)


@pytest.mark.parametrize("per_million", [-1000, 1000])
def test_clocks_that_drift_apart_cost_a_frame_now_and_then(per_million: int) -> None:
    """Half a minute of a very bad clock: 30 ms of drift."""
    reserve, heard = heard_of([n * (FRAME_NS + FRAME_NS * per_million // 1_000_000) for n in range(1500)])
    assert reserve.heard >= 1498
    assert reserve.late + reserve.lost <= 2
    assert sum(number == 0 for number in heard[5:1490]) <= 2


def test_packets_of_30_ms_are_heard_whole() -> None:
    reserve, heard = Reserve(SIZE), []
    sound = frames(*range(1, 301))
    packet, index = 3 * SIZE // 2, 0
    for look in range(620):
        now_ns = look * LOOK_NS
        while index * 3 * LOOK_NS <= now_ns:
            reserve.put(sound[index * packet : (index + 1) * packet], now_ns)
            index += 1
        if look % 2 == 0:
            heard.append(int.from_bytes(reserve.take(now_ns), "big"))
    assert in_order(heard)
    assert max(heard) == 300
