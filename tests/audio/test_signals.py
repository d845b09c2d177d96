"""Sounds made of arithmetic."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np
import pytest

from voiceharness.audio.edges import speech_edges
from voiceharness.audio.mix import level_db
from voiceharness.audio.signals import click, gaussian, random_words, speech_like, tone, white_noise
from voiceharness.audio.vad import find_segments
from voiceharness.errors import AudioError

if TYPE_CHECKING:
    from numpy.typing import NDArray


def fingerprint(samples: NDArray[np.int16]) -> str:
    return hashlib.sha256(samples.astype("<i2").tobytes()).hexdigest()[:16]


def test_random_words_are_splitmix64() -> None:
    def mixed(word: int) -> int:
        word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        word = (word ^ word >> 27) * 0x94D049BB133111EB % 2**64
        return word ^ word >> 31

    golden = 0x9E3779B97F4A7C15
    start = mixed((42 * golden + golden) % 2**64)
    expected = [mixed((start + place * golden) % 2**64) for place in range(1, 6)]
    assert random_words(5, 42).tolist() == expected


def test_neighbouring_seeds_are_different_noise() -> None:
    """Case B56."""
    one, other = (white_noise(1, level_db=-20, seed=seed) for seed in (42, 43))
    assert np.mean(one != other) > 0.4
    spectrum = np.fft.rfft(one) * np.conj(np.fft.rfft(other))
    correlation = np.fft.irfft(spectrum / np.abs(spectrum))
    assert np.abs(correlation).max() < 0.1, "one seed's noise is another's, shifted"


def test_noise_is_white_and_bell_shaped() -> None:
    noise = gaussian(200_000, 7)
    assert noise.mean() == pytest.approx(0, abs=0.01)
    assert noise.std() == pytest.approx(1, abs=0.01)
    assert np.mean(np.abs(noise) < 1) == pytest.approx(0.683, abs=0.02)
    assert np.corrcoef(noise[1:], noise[:-1])[0, 1] == pytest.approx(0, abs=0.01)


def test_bytes_are_the_same_everywhere() -> None:
    """Case B56."""
    assert fingerprint(white_noise(1, level_db=-20, seed=42)) == "0f77c59f84dcca2c"
    assert fingerprint(white_noise(1, level_db=-20, seed=43)) == "a9cae195bd870965"
    assert fingerprint(speech_like(1, seed=42)) == "5acde22a5ee5dc85"
    assert fingerprint(tone(440, 1)) == "123833dfac946602"


@pytest.mark.parametrize("rate", [8000, 16000, 48000])
@pytest.mark.parametrize("seconds", [0.06, 0.2, 0.3125, 1.0, 3.1, 7.0])
def test_speech_like_sound_begins_and_ends_where_asked(rate: int, seconds: float) -> None:
    sound = speech_like(seconds, rate, seed=3)
    assert len(sound) == round(seconds * rate)
    assert level_db(sound) == pytest.approx(-20, abs=0.1)
    edges = speech_edges(sound, rate)
    assert edges is not None
    assert edges.onset < 0.003 * rate
    assert len(sound) - edges.offset < 0.003 * rate
    (heard,) = find_segments(np.pad(sound, rate), rate)
    assert abs(heard.onset - rate - edges.onset) <= rate // 1000
    assert abs(heard.offset - rate - edges.offset) <= rate // 1000


def test_speech_like_sound_is_in_the_telephone_band() -> None:
    power = np.square(np.abs(np.fft.rfft(speech_like(4, 16000, seed=1))))
    hz = np.fft.rfftfreq(64000, 1 / 16000)
    assert power[(hz > 250) & (hz < 3450)].sum() / power.sum() > 0.99


def test_tone_has_its_peak_at_the_level() -> None:
    assert tone(1000, 0.5, level_db=-6).max() == pytest.approx(32768 * 10**-0.3, abs=1)
    assert len(tone(1000, 0.5, 44100)) == 22050


def test_click_lasts_a_millisecond() -> None:
    assert click(16000, level_db=0).tolist() == [32767] * 16


def test_nothing_asked_is_nothing_made() -> None:
    assert len(speech_like(0, seed=1)) == len(tone(440, 0)) == len(random_words(0, 1)) == 0


def test_band_above_nyquist_is_refused() -> None:
    with pytest.raises(AudioError, match="6800 Hz, not 6000"):
        speech_like(1, 6000, seed=1)
