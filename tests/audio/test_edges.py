"""Edges of clean sound."""

from __future__ import annotations

import numpy as np
import pytest

from tests.audio.signals import placed
from voiceharness.audio.edges import QUIET_DB, Span, Windows, speech_edges, utterance_edges
from voiceharness.audio.signals import tone

RATES = (8000, 11025, 16000, 22050, 24000, 44100, 48000)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("shift", [0, 1, 37])
def test_edges_of_a_tone_are_its_first_and_last_samples(rate: int, shift: int) -> None:
    start = rate // 3 + shift
    sound = tone(440, 0.25, rate)
    found = speech_edges(placed(rate, (start, sound)), rate)
    assert found is not None
    assert abs(found.onset - start) <= rate // 4000
    assert abs(found.offset - start - len(sound)) <= rate // 4000


def test_sound_35_db_below_the_loudest_is_outside() -> None:
    loud, faint = tone(500, 0.2, level_db=-10), tone(500, 0.2, level_db=-47)
    heard, clip = tone(500, 0.2, level_db=-43), placed(8000, (2000, loud), (5000, faint))
    assert speech_edges(clip, 8000) == speech_edges(placed(8000, (2000, loud)), 8000)
    louder = speech_edges(placed(8000, (2000, loud), (5000, heard)), 8000)
    assert louder is not None
    assert louder.offset > 6500


def test_a_single_click_has_edges() -> None:
    assert speech_edges(placed(8000, (4321, np.array([20000], np.int16))), 8000) == Span(4321, 4322)


@pytest.mark.parametrize("samples", [0, 1, 39, 8000])
def test_silence_has_no_edges(samples: int) -> None:
    assert speech_edges(np.zeros(samples, np.int16), 8000) is None


def test_a_law_silence_has_no_edges() -> None:
    assert speech_edges(np.full(8000, 8, np.int16), 8000) is None


@pytest.mark.parametrize("rate", [1, 150, 500])
def test_absurdly_low_rates_have_edges_too(rate: int) -> None:
    assert speech_edges(np.array([0, 0, 9000, -9000, 0], np.int16), rate) == Span(2, 4)


def test_a_sound_that_fills_its_clip_ends_with_it() -> None:
    clip = np.full(8013, 9000, np.int16)
    assert speech_edges(clip, 8000) == Span(0, 8013)


def test_faint_end_of_an_utterance_is_measured_against_the_whole() -> None:
    track = placed(24000, (4000, tone(500, 1, level_db=-6)), (14000, tone(300, 0.1, level_db=-45)))
    assert utterance_edges(track, 8000, Span(4001, 14800)).offset == pytest.approx(12000, abs=2)


def test_power_of_a_level_is_that_of_its_tone() -> None:
    windows = Windows(8000)
    powers = windows.measure(tone(1000, 0.1, level_db=QUIET_DB + 3.01 + 40))
    assert powers == pytest.approx(np.full(20, windows.power(QUIET_DB + 40)), rel=0.01)
