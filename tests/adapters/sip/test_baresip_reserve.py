"""What waits for its tick on baresip: no frame of it moves, whatever is missing."""

from __future__ import annotations

from voiceharness_adapters.sip.baresip_worker.reserve import GONE, Reserve

__all__: list[str] = []

FRAME = 4


def frames(*numbers: int) -> bytes:
    return b"".join(bytes([number]) * FRAME for number in numbers)


def played(reserve: Reserve, *arrivals: tuple[int, ...], behind: int = 0) -> list[int]:
    """The frames heard in ticks before each of which something came; 0: none was."""
    heard = []
    for numbers in arrivals:
        reserve.put(frames(*numbers))
        heard.append(int.from_bytes(reserve.take(behind)[:1], "big"))
    return heard


def flowing() -> Reserve:
    reserve = Reserve(FRAME)
    assert played(reserve, (1,), (2,), (3,)) == [0, 1, 2]
    return reserve


def test_one_frame_waits_behind_the_one_that_is_heard() -> None:
    assert played(flowing(), (4,), (5,), (6,)) == [3, 4, 5]


def test_a_frame_that_never_came_leaves_its_place_empty_and_is_counted() -> None:
    reserve = flowing()
    assert played(reserve, (), (5,), (6,), (7,)) == [3, 0, 5, 6]
    assert (reserve.lost, reserve.late) == (1, 0)


def test_a_frame_that_is_a_little_late_is_heard_in_its_place() -> None:
    reserve = flowing()
    assert played(reserve, (), (4, 5), (6,), (7,)) == [3, 4, 5, 6]
    assert (reserve.lost, reserve.late) == (0, 0)


def test_frames_that_come_after_their_place_has_been_heard_are_dropped() -> None:
    reserve = flowing()
    assert played(reserve, (), (), (), (4, 5, 6, 7), (8,)) == [3, 0, 0, 6, 7]
    assert (reserve.lost, reserve.late, reserve.heard) == (0, 2, 5)


def test_an_agent_that_pauses_moves_nothing_that_comes_after() -> None:
    reserve = flowing()
    assert played(reserve, *[()] * 5, (4,), (5,), (6,)) == [3, 0, 0, 0, 0, 0, 4, 5]


def test_ticks_that_were_late_catch_up() -> None:
    reserve = flowing()
    reserve.put(frames(4, 5, 6, 7))
    assert [reserve.take(behind)[0] for behind in (3, 2, 1, 0)] == [3, 4, 5, 6]
    assert (reserve.lost, reserve.late) == (0, 0)


def test_an_agent_that_was_late_when_it_began_is_caught_up_with() -> None:
    reserve = flowing()
    assert played(reserve, (4, 5), *[(number,) for number in range(6, 60)])[-1] == 58
    assert reserve.late == 1


def test_an_agent_that_stops_and_begins_again_begins_anew() -> None:
    reserve = flowing()
    assert set(played(reserve, *[()] * (GONE + 3))) == {3, 0}
    assert played(reserve, (9,), (10,), (11,)) == [0, 9, 10]
    assert reserve.begun == 2
    assert reserve.lost == 0


def test_frames_are_found_however_they_are_cut() -> None:
    reserve = Reserve(FRAME)
    for byte in frames(1, 2):
        reserve.put(bytes([byte]))
    assert reserve.take(0) == frames(1)


def test_another_stream_is_waited_for_again() -> None:
    reserve = flowing()
    reserve.restart()
    assert played(reserve, (9,), (10,)) == [0, 9]
