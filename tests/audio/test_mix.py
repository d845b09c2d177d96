"""Levels, gain and mixing."""

from __future__ import annotations

import numpy as np
import pytest

from tests.audio.signals import placed
from voiceharness.audio.mix import active_level_db, add_noise, amplify, level_db, mix_into
from voiceharness.audio.signals import tone
from voiceharness.errors import AudioError


def test_level_of_a_tone_is_3_db_under_its_peak() -> None:
    assert level_db(tone(440, 1, level_db=-6)) == pytest.approx(-9.01, abs=0.01)


@pytest.mark.parametrize("samples", [0, 100])
def test_silence_has_no_level(samples: int) -> None:
    assert level_db(np.zeros(samples, np.int16)) == -np.inf
    assert active_level_db(np.zeros(samples, np.int16), 8000) == -np.inf


def test_active_level_leaves_pauses_out() -> None:
    track = placed(80_000, (40_000, tone(440, 1, level_db=-6)))
    assert active_level_db(track, 8000) == pytest.approx(-9.01, abs=0.05)
    assert level_db(track) == pytest.approx(-19.01, abs=0.05)


def test_gain_changes_the_level_and_saturates() -> None:
    sound = tone(440, 1, level_db=-6)
    assert level_db(amplify(sound, -12)) == pytest.approx(level_db(sound) - 12, abs=0.01)
    assert amplify(sound, 12).max() == 32767
    assert amplify(sound, 12).min() == -32768


def test_mixing_adds_at_the_position_and_saturates() -> None:
    track = np.full(10, 30_000, np.int16)
    mix_into(track, np.array([100, 9000, -100], np.int16), 4)
    assert track.tolist() == [30_000] * 4 + [30_100, 32_767, 29_900] + [30_000] * 3
    mix_into(track, np.full(10, -32768, np.int16), 0)
    mix_into(track, np.full(10, -32768, np.int16), 0)
    assert track.tolist() == [-32768] * 10


@pytest.mark.parametrize("position", [-1, 8])
def test_clip_outside_the_track_is_refused(position: int) -> None:
    with pytest.raises(AudioError, match=f"3 samples at {position}.*track of 10"):
        mix_into(np.zeros(10, np.int16), np.zeros(3, np.int16), position)


@pytest.mark.parametrize("snr_db", [0, 10, 20, 30])
def test_noise_is_at_its_ratio_to_the_sound_not_to_the_pauses(snr_db: float) -> None:
    track = placed(80_000, (40_000, tone(440, 1, level_db=-20)))
    noise = add_noise(track, 8000, snr_db=snr_db, seed=5) - track
    assert level_db(noise) == pytest.approx(-23.01 - snr_db, abs=0.1)


def test_noise_depends_on_the_seed_alone() -> None:
    track = tone(440, 1, level_db=-20)
    assert np.array_equal(add_noise(track, 8000, snr_db=20, seed=5), add_noise(track, 8000, snr_db=20, seed=5))
    assert not np.array_equal(add_noise(track, 8000, snr_db=20, seed=5), add_noise(track, 8000, snr_db=20, seed=6))


def test_silence_has_no_ratio() -> None:
    with pytest.raises(AudioError, match="80 silent samples"):
        add_noise(np.zeros(80, np.int16), 8000, snr_db=20, seed=5)
