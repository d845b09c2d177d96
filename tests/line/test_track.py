"""A party's sound on the sample clock."""

from __future__ import annotations

import numpy as np

from voiceharness.line.track import Track


def test_a_track_is_silent_where_nothing_was_written_and_grows_as_needed() -> None:
    track = Track(2)
    track.write(5, np.array([7, 8], np.int16))
    assert track.view(0, 10).tolist() == [0, 0, 0, 0, 0, 7, 8, 0, 0, 0]
    assert track.end == 7


def test_mixing_saturates() -> None:
    track = Track(4)
    track.add(0, np.array([30000, -30000], np.int16))
    track.add(0, np.array([30000, -30000], np.int16))
    assert track.view(0, 2).tolist() == [32767, -32768]


def test_a_cut_leaves_silence_that_can_be_written_again() -> None:
    track = Track(4)
    track.write(0, np.ones(8, np.int16))
    track.cut(3)
    assert track.view(0, 8).tolist() == [1, 1, 1, 0, 0, 0, 0, 0]
    track.write(6, np.full(1, 9, np.int16))
    assert track.copy(8).tolist() == [1, 1, 1, 0, 0, 0, 9, 0]


def test_a_copy_is_independent_of_the_track() -> None:
    track = Track(4)
    track.write(0, np.ones(4, np.int16))
    copy = track.copy(4)
    track.write(0, np.zeros(4, np.int16))
    assert copy.tolist() == [1, 1, 1, 1]
