"""Which frames are lost, late, doubled or out of order."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from voiceharness.errors import OptionError
from voiceharness.impairment.packets import Duplicate, Fate, Jitter, Loss, Packets, Reorder
from voiceharness.impairment.path import Direction, OneWay
from voiceharness.impairment.source import from_track

FRAMES = 3000


def lost(loss: Loss, seed: int = 7, frames: int = FRAMES) -> list[int]:
    packets = Packets([loss], seed)
    return [frame for frame in range(frames) if packets.fate(frame).lost]


def test_random_loss_loses_its_share_and_the_same_frames_each_time() -> None:
    """Case B62: 5 % of a minute of frames, seed 7."""
    first = lost(Loss(0.05))
    assert len(first) == pytest.approx(150, abs=30)
    assert first == lost(Loss(0.05))
    assert first != lost(Loss(0.05), seed=8)


def test_bursts_are_as_long_as_asked_and_the_share_stays() -> None:
    gone = np.zeros(30000, bool)
    gone[lost(Loss(0.1, burst=5.0), frames=30000)] = True
    bursts = int(np.count_nonzero(np.diff(gone.astype(int)) == 1))
    assert gone.mean() == pytest.approx(0.1, abs=0.02)
    assert gone.sum() / bursts == pytest.approx(5.0, abs=0.5)


def test_a_fate_does_not_depend_on_the_order_of_asking() -> None:
    backwards, forwards = Packets([Loss(0.2, 3.0), Jitter(0.1)], 1), Packets([Loss(0.2, 3.0), Jitter(0.1)], 1)
    assert [backwards.fate(frame) for frame in reversed(range(200))] == [forwards.fate(frame) for frame in range(200)][
        ::-1
    ]


def test_jitter_spreads_over_its_range_and_what_exceeds_the_buffer_is_lost_to_the_user() -> None:
    packets = Packets([Jitter(0.1, buffer=0.06)], 1)
    delays = [packets.fate(frame).delay for frame in range(FRAMES)]
    assert 0 <= min(delays) < 0.005
    assert 0.095 < max(delays) <= 0.1
    missing = sum(packets.lost_to_a_buffer(frame) == "jitter" for frame in range(FRAMES))
    assert missing / FRAMES == pytest.approx(0.4, abs=0.03)


def test_nothing_happens_to_packets_of_a_clean_line() -> None:
    packets = Packets([], 1)
    assert packets.idle
    assert packets.fate(5) == Fate()


@pytest.mark.parametrize(
    "bad",
    [lambda: Loss(1.5), lambda: Loss(0.1, burst=0.5), lambda: Jitter(3.0), lambda: Reorder(-1), lambda: Duplicate(2)],
)
def test_amounts_that_cannot_be_are_refused(bad: object) -> None:
    with pytest.raises(OptionError):
        bad()  # type: ignore[operator] # each is a function


SILENT = from_track(lambda start, end: np.zeros(end - start, np.int16))
COUNTING = from_track(lambda start, end: (np.arange(start, end) // 160).astype(np.int16))


def heard(*packets: Reorder | Duplicate | Loss) -> list[int]:
    way = Direction(OneWay((), packets), COUNTING, SILENT, rate=8000, frame=160, seed=1)
    return [int(way.read_with_losses(frame * 160, frame * 160 + 160)[80]) for frame in range(1, 60)]


def test_frames_out_of_order_change_places() -> None:
    order = heard(Reorder(0.2))
    swaps = [(order[index], order[index + 1]) for index in range(len(order) - 1) if order[index] > order[index + 1]]
    assert swaps
    assert all(first == second + 1 for first, second in swaps)


def test_a_doubled_frame_is_heard_twice() -> None:
    order = heard(Duplicate(0.2))
    assert any(order[index] == order[index + 1] for index in range(len(order) - 1))
    assert all(second - first in (0, 1, 2) for first, second in itertools.pairwise(order))


def test_a_lost_frame_is_silence() -> None:
    assert heard(Loss(0.3)).count(0) == pytest.approx(18, abs=8)


def test_what_is_not_heard_as_it_was_sent_is_listed_with_its_place() -> None:
    """Case B27: every injected fault, with its place."""
    way = Direction(OneWay((), (Loss(0.1), Jitter(0.08))), COUNTING, SILENT, rate=8000, frame=160, seed=1)
    listed = way.unheard(300 * 160)
    silent = [frame * 160 for frame in range(1, 300) if not way.read_with_losses(frame * 160, frame * 160 + 160).any()]
    assert [place for place, _ in listed if place] == silent
    assert {kind for _, kind in listed} == {"loss", "jitter"}
    assert way.unheard(100 * 160) == [each for each in listed if each[0] < 100 * 160]


def test_doubled_and_swapped_packets_are_listed() -> None:
    way = Direction(OneWay((), (Reorder(0.2),)), COUNTING, SILENT, rate=8000, frame=160, seed=1)
    assert {kind for _, kind in way.unheard(60 * 160)} == {"reorder"}
    assert Direction(OneWay(), COUNTING, SILENT, rate=8000, frame=160, seed=1).unheard(9600) == []
