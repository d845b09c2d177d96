"""Alignment, distortion ratio, frequency."""

from __future__ import annotations

import numpy as np
import pytest

from tests.audio.signals import placed, snr_db
from voiceharness.audio import g711
from voiceharness.audio.mix import add_noise
from voiceharness.audio.quality import align, si_sdr, tone_hz
from voiceharness.audio.resample import resample
from voiceharness.audio.signals import speech_like, tone
from voiceharness.errors import AudioError

SPEECH = speech_like(0.4, seed=11)


@pytest.mark.parametrize("noise_db", [None, 20, 10, 0])
def test_clip_is_found_where_it_is(noise_db: float | None) -> None:
    track = placed(80_000, (12_345, SPEECH), (50_000, speech_like(2, level_db=-10, seed=12)))
    if noise_db is not None:
        track[8000:24_000] = add_noise(track[8000:24_000], 8000, snr_db=noise_db, seed=1)
    found = align(SPEECH, track, 8000)
    assert found is not None
    assert found.position == pytest.approx(12_345, abs=0.2)
    assert found.correlation > 0.6


def test_position_is_found_to_a_fraction_of_a_sample() -> None:
    fine = placed(48_000, (7002, resample(SPEECH, 8000, 48_000)))
    found = align(SPEECH, resample(fine, 48_000, 8000), 8000)
    assert found is not None
    assert found.position == pytest.approx(7002 / 6, abs=0.05)


def test_clip_that_is_not_there_is_not_found() -> None:
    assert align(SPEECH, speech_like(4, seed=99), 8000) is None
    assert align(SPEECH, np.zeros(8000, np.int16), 8000) is None


def test_track_shorter_than_the_clip_is_searched_too() -> None:
    found = align(SPEECH, SPEECH[:3000], 8000)
    assert found is not None
    assert found.position == pytest.approx(0, abs=0.1)


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        (np.zeros(8000, np.int16), "silent"),
        (speech_like(0.1, seed=1), "0.1 s; 0.2 s are needed"),
        (np.zeros(0, np.int16), "0 s"),
    ],
    ids=["silent", "short", "empty"],
)
def test_unusable_reference_has_no_score_but_a_reason(reference: np.ndarray, reason: str) -> None:
    """Case B31 (a) to (c), for the scores of this package."""
    score = si_sdr(reference, SPEECH, 8000)
    assert score.value is None
    assert score.reason is not None
    assert reason in score.reason
    assert align(reference, SPEECH, 8000) is None


def test_nothing_heard_has_no_score() -> None:
    assert si_sdr(SPEECH, np.zeros_like(SPEECH), 8000).reason == "nothing was heard"


@pytest.mark.parametrize("noise_db", [20, 10, 0])
def test_ratio_is_that_of_the_noise(noise_db: float) -> None:
    sound = tone(440, 1)
    value = si_sdr(sound, add_noise(sound, 8000, snr_db=noise_db, seed=3), 8000).value
    assert value == pytest.approx(noise_db, abs=0.5)


def test_ratio_ignores_gain_and_feels_the_codec() -> None:
    """Case A38 (a), by this measure."""
    sound = tone(997, 1)
    sent = g711.encode(sound.tobytes())
    right = np.frombuffer(g711.decode(sent), "<i2")
    wrong = np.frombuffer(g711.decode(sent, "alaw"), "<i2")
    assert si_sdr(sound, (sound // 2).astype(np.int16), 8000).value == pytest.approx(80, abs=15)
    assert si_sdr(sound, right, 8000).value == pytest.approx(snr_db(sound, right), abs=0.01)
    wrong_value = si_sdr(sound, wrong, 8000).value
    assert wrong_value is not None
    assert wrong_value < 2


def test_identical_clips_have_no_distortion() -> None:
    assert si_sdr(SPEECH, SPEECH, 8000).value == np.inf


@pytest.mark.parametrize("rate", [8000, 16_000, 48_000])
@pytest.mark.parametrize("hz", [100.0, 440.3, 997, 3333.3])
def test_frequency_of_a_tone(hz: float, rate: int) -> None:
    assert tone_hz(tone(hz, 0.2, rate), rate) == pytest.approx(hz, abs=0.2)


def test_silence_has_no_frequency() -> None:
    with pytest.raises(AudioError, match="100 silent samples"):
        tone_hz(np.zeros(100, np.int16), 8000)
