"""What the attendant and its user say."""

from __future__ import annotations

import random

import numpy as np
import pytest

from voiceharness.audio.mix import level_db
from voiceharness.doubles.faulty.sounds import cough, murmur, question, sentence, tagged, voice
from voiceharness.measure.pitch import voice_pitch
from voiceharness.measure.predictability import prediction_gains
from voiceharness.measure.tones import pure_tone


@pytest.mark.parametrize("rate", [8000, 16000, 48000])
@pytest.mark.parametrize("seed", range(5))
def test_a_voice_has_a_pitch_and_is_predictable(rate: int, seed: int) -> None:
    sound = voice(1.0, rate, seed)
    pitch = voice_pitch(sound, rate)
    assert pitch is not None
    assert 95 < pitch < 215
    assert prediction_gains(sound, rate // 2).min() > 5
    assert level_db(sound) == pytest.approx(-23, abs=0.1)


def test_the_same_seed_is_the_same_voice() -> None:
    assert np.array_equal(voice(0.5, 8000, 7), voice(0.5, 8000, 7))
    assert not np.array_equal(voice(0.5, 8000, 7), voice(0.5, 8000, 8))


def test_a_sentence_tells_where_its_words_are() -> None:
    told = sentence(6, 8000, 3)
    assert len(told.words) == 6
    assert told.words[-1].end == pytest.approx(told.duration)
    for before, after in zip(told.words, told.words[1:], strict=False):
        pause = told.samples[round(before.end * 8000) : round(after.start * 8000)]
        assert len(pause) == 480
        assert not pause.any()


def test_a_tagged_answer_is_one_tone() -> None:
    assert pure_tone(tagged(700, 8000).samples, 8000) == pytest.approx(700, abs=1)


def test_questions_are_longer_than_murmurs_and_coughs() -> None:
    draw = random.Random(1)
    assert all(0.8 <= question(draw, 8000).duration <= 1.8 for _ in range(10))
    assert all(0.2 <= short(draw, 8000).duration <= 0.3 for short in (murmur, cough) for _ in range(10))
