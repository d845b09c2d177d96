"""Cutting long audio where it is quiet."""

from __future__ import annotations

import numpy as np

from voiceharness.speech.pieces import last_pause, quiet_pieces, quietest

__all__: list[str] = []

RATE = 1000


def _sound(*parts: tuple[float, int]) -> np.ndarray[tuple[int], np.dtype[np.int16]]:
    """Alternating samples of an amplitude, for a duration in seconds each."""
    blocks = [np.full(round(duration * RATE), amplitude) for duration, amplitude in parts]
    samples = np.concatenate(blocks)
    samples[::2] *= -1
    return samples.astype(np.int16)


def test_short_audio_is_one_piece() -> None:
    assert list(quiet_pieces(_sound((2.0, 1000)), RATE, longest=5.0)) == [(0, 2000)]


def test_long_audio_is_cut_in_its_pauses_without_a_gap() -> None:
    samples = _sound((4.0, 1000), (0.4, 0), (4.0, 1000), (0.4, 0), (3.0, 1000))
    pieces = list(quiet_pieces(samples, RATE, longest=6.0))
    assert [first for first, _ in pieces] == [0, *(last for _, last in pieces[:-1])]
    assert pieces[-1][1] == len(samples)
    assert 4000 <= pieces[0][1] <= 4400
    assert 8400 <= pieces[1][1] <= 8800


def test_quietest_is_the_middle_of_the_last_quietest_stretch() -> None:
    assert quietest(_sound((1.0, 1000), (0.2, 5), (1.0, 1000)), RATE) == 1100
    assert quietest(_sound((0.2, 5), (1.0, 1000), (0.2, 5), (0.5, 1000)), RATE) == 1300


def test_a_pause_is_far_below_the_loudest_sound() -> None:
    assert last_pause(_sound((2.5, 1000), (0.3, 5), (0.2, 1000)), RATE, 2.0) is not None
    assert last_pause(_sound((2.5, 1000), (0.3, 100), (0.2, 1000)), RATE, 2.0) is None


def test_a_pause_that_comes_early_does_not_count() -> None:
    assert last_pause(_sound((1.0, 1000), (0.3, 0), (2.0, 1000)), RATE, 2.0) is None
    assert last_pause(_sound((0.1, 1000)), RATE, 2.0) is None
