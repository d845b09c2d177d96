"""How predictable sound is, decoded rightly and wrongly."""

from __future__ import annotations

import numpy as np
import pytest

from tests.measure.calls import noise, silence, spoken, tone
from voiceharness.audio import g711
from voiceharness.measure.predictability import Miscoding, prediction_gains, repaired_gains

BLOCK = 4000


def test_tones_are_predictable_and_noise_is_not() -> None:
    assert prediction_gains(tone(997, 1), BLOCK).min() > 30
    assert prediction_gains(noise(1), BLOCK).max() < 0.1
    assert prediction_gains(spoken("agent_offer"), BLOCK).max() > 6


def test_silence_is_nothing_to_predict() -> None:
    assert prediction_gains(silence(1), BLOCK).tolist() == [0, 0]


def test_only_whole_blocks_count() -> None:
    assert prediction_gains(tone(440, 1.2), BLOCK).shape == (2,)
    assert prediction_gains(silence(0), BLOCK).shape == (0,)


def test_right_sound_loses_by_any_repair() -> None:
    sound = tone(997, 1)
    assert all((gains < prediction_gains(sound, BLOCK)).all() for gains in repaired_gains(sound, BLOCK).values())


@pytest.mark.parametrize(
    ("miscoding", "sent", "heard"), [("mulaw_as_alaw", "mulaw", "alaw"), ("alaw_as_mulaw", "alaw", "mulaw")]
)
def test_the_right_repair_brings_a_wrong_law_back(miscoding: Miscoding, sent: g711.Law, heard: g711.Law) -> None:
    """Case A38."""
    wrong = np.frombuffer(g711.decode(g711.encode(tone(997, 1).tobytes(), sent), heard), "<i2")
    assert (repaired_gains(wrong, BLOCK)[miscoding] - prediction_gains(wrong, BLOCK)).min() > 10


@pytest.mark.parametrize("late", [0, 1])
def test_raw_samples_are_found_at_either_phase(late: int) -> None:
    """Case A36: nobody says at which of two codes a sample begins."""
    raw = np.frombuffer(g711.decode(bytes(late) + tone(440, 1).tobytes()), "<i2")[: 2 * BLOCK]
    assert repaired_gains(raw, BLOCK)["pcm16_as_mulaw"].min() > 15
