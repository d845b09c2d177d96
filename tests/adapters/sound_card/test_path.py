"""The user's own words found again: where, how surely, and what that says of the path."""

from __future__ import annotations

import numpy as np
import pytest

from voiceharness.audio.signals import speech_like, tone, white_noise
from voiceharness_adapters.sound_card.health import path_doubts
from voiceharness_adapters.sound_card.path import PathFollower, Slip, locate

RATE = 8000
BLOCK = 80


def followed(sent: np.ndarray, heard: np.ndarray, rate: int = RATE) -> PathFollower:
    """Give both tracks to a follower in blocks of 10 ms."""
    path = PathFollower(rate)
    block = rate // 100
    for start in range(0, min(len(sent), len(heard)) - block + 1, block):
        path.sent(sent[start : start + block])
        path.heard(heard[start : start + block])
    return path


def late(samples: np.ndarray, by: int) -> np.ndarray:
    return np.concatenate((np.zeros(by, np.int16), samples))


@pytest.mark.parametrize("by", [0, 1, 137, 400, 2400])
def test_shift_is_found_to_the_sample(by: int) -> None:
    words = speech_like(3.0, seed=1)
    path = followed(np.append(words, np.zeros(RATE, np.int16)), late(words, by))
    assert path.shift == pytest.approx(by, abs=0.05)
    assert not path.slips


def test_shift_is_found_in_noise_and_at_another_level() -> None:
    words = speech_like(3.0, seed=2)
    heard = (late(words, 300)[: len(words)] * 0.2).astype(np.int16) + white_noise(3.0, level_db=-50, seed=3)
    assert followed(words, heard).shift == pytest.approx(300, abs=0.5)


def test_shift_is_found_at_a_higher_line_rate() -> None:
    words = speech_like(3.0, 48000, seed=4)
    assert followed(words, late(words, 1440), 48000).shift == pytest.approx(1440, abs=6)


@pytest.mark.parametrize("sound", [np.zeros(3 * RATE, np.int16), tone(400, 3.0)], ids=["silence", "a tone"])
def test_sound_that_fits_anywhere_is_no_find(sound: np.ndarray) -> None:
    assert followed(sound, late(sound, 100)).shift is None


def test_other_speech_is_no_find() -> None:
    assert followed(speech_like(3.0, seed=5), speech_like(3.0, seed=6)).shift is None


def test_slip_is_found_with_its_size() -> None:
    words = speech_like(6.0, seed=7)
    heard = np.concatenate((late(words, 200)[: 3 * RATE], np.zeros(160, np.int16), words[3 * RATE - 200 :]))
    path = followed(np.append(words, np.zeros(RATE, np.int16)), heard)
    assert [slip.seconds for slip in path.slips] == [pytest.approx(0.020, abs=0.0002)]
    assert path.slips[0].position == pytest.approx(3 * RATE, abs=0.5 * RATE)


def test_drift_is_told_once_there_is_enough_of_it() -> None:
    path = PathFollower(RATE)
    assert path.drift_ppm is None
    words = speech_like(20.0, seed=8).astype(float)
    places = np.arange(len(words)) / (1 + 150e-6)
    heard = np.interp(places, np.arange(len(words)), words).astype(np.int16)
    found = followed(words.astype(np.int16), late(heard, 100))
    assert found.drift_ppm == pytest.approx(150, abs=20)
    assert not path_doubts(found)


def test_slips_that_sum_up_are_a_doubt() -> None:
    path = PathFollower(RATE)
    path.slips += [Slip(8000, 0.015), Slip(16000, -0.012)]
    assert path_doubts(path) == (
        "the sound path slipped without the driver telling: +15.0 ms at 1.00 s, -12.0 ms at 2.00 s",
    )


def test_nothing_is_found_in_less_than_the_template() -> None:
    assert locate(np.ones(10), np.ones(5), 1) is None
    assert locate(np.zeros(5), np.ones(10), 1) is None
