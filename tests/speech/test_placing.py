"""Silence cut around speech, words kept where they sound."""

from __future__ import annotations

import numpy as np
import pytest

from voiceharness.audio.signals import tone
from voiceharness.events import Word
from voiceharness.speech.placing import LONGEST_PAUSE, MARGIN, cut_silence

__all__: list[str] = []

RATE = 8000


def _clip() -> np.ndarray[tuple[int], np.dtype[np.int16]]:
    """Silence, a tone from 0.5 to 0.9 s, silence, a tone from 1.2 to 1.5 s, silence to 2 s."""
    time = np.arange(2 * RATE) / RATE
    sounding = ((time >= 0.5) & (time < 0.9)) | ((time >= 1.2) & (time < 1.5))
    return (np.sin(2 * np.pi * 500 * time) * sounding * 8000).astype(np.int16)


def test_speech_starts_and_ends_with_the_margin() -> None:
    speech = cut_silence(_clip(), [], RATE)
    assert speech is not None
    assert speech.audio.duration == pytest.approx(1.0 + 2 * MARGIN, abs=0.002)


def test_words_move_with_the_sound_and_end_with_it() -> None:
    speech = cut_silence(_clip(), [Word("one", 0.45, 1.15), Word("two", 1.2, 1.9)], RATE)
    assert speech is not None
    edges = [edge for word in speech.words for edge in (word.start, word.end)]
    assert edges == pytest.approx([MARGIN, MARGIN + 0.4, MARGIN + 0.7, MARGIN + 1.0], abs=0.002)


def test_words_that_overlap_are_put_in_order() -> None:
    speech = cut_silence(_clip(), [Word("one", 0.5, 0.8), Word("two", 0.6, 0.9, estimated=True)], RATE)
    assert speech is not None
    assert speech.words[1].start >= speech.words[0].end
    assert speech.estimated


def test_silence_is_no_speech() -> None:
    assert cut_silence(np.zeros(RATE, np.int16), [], RATE) is None


def test_a_pause_between_sentences_is_shortened_and_the_words_move_with_it() -> None:
    sound, pause = tone(440, 0.5), np.zeros(round(0.9 * RATE), np.int16)
    words = [Word("one", 0.0, 0.5), Word("two", 1.4, 1.9)]
    speech = cut_silence(np.concatenate([sound, pause, sound]), words, RATE)
    assert speech is not None
    assert speech.audio.duration == pytest.approx(0.5 + LONGEST_PAUSE + 0.5, abs=0.01)
    assert [round(word.start, 2) for word in speech.words] == [0.0, 0.9]
    assert [round(word.end, 2) for word in speech.words] == [0.5, 1.4]


def test_a_short_pause_is_kept() -> None:
    samples = np.concatenate([tone(440, 0.5), np.zeros(round(0.3 * RATE), np.int16), tone(440, 0.5)])
    speech = cut_silence(samples, [], RATE)
    assert speech is not None
    assert speech.audio.duration == pytest.approx(1.3, abs=0.001)
