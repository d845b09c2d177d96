"""Audio as a realtime transport carries it: the builders make what the measures find."""

from __future__ import annotations

import math

import numpy as np
import pytest

from voiceharness.errors import AudioError
from voiceharness.scripted.sounds import ALAW_8K, MULAW_8K, PCM_8K, PCM_16K, PCM_24K, WireFormat

__all__: list[str] = []

FORMATS = [PCM_8K, PCM_16K, PCM_24K, MULAW_8K, ALAW_8K]


@pytest.mark.parametrize("wire", FORMATS)
def test_a_duration_is_that_of_what_was_made(wire: WireFormat) -> None:
    for audio in (wire.silence(0.5), wire.tone(440, 0.5), wire.noise(0.5), wire.speech(0.5)):
        assert wire.duration(audio) == 0.5
        assert len(audio) == wire.rate // 2 * wire.sample_bytes


@pytest.mark.parametrize("wire", FORMATS)
def test_silence_has_no_level_and_a_tone_has_the_one_asked_for(wire: WireFormat) -> None:
    assert wire.level_db(wire.silence(0.1)) < -70  # A-law has no zero
    tone = wire.tone(440, 0.5, level_db=-12)
    assert wire.level_db(tone) == pytest.approx(-15.0, abs=0.2)
    assert wire.tone_level_db(tone, 440) == pytest.approx(-15.0, abs=0.2)
    assert wire.tone_level_db(tone, 1000) < -50


def test_nothing_has_no_level() -> None:
    assert PCM_8K.level_db(b"") == -math.inf
    assert PCM_8K.tone_level_db(b"", 440) == -math.inf
    assert PCM_8K.tone_level_db(PCM_8K.silence(0.1), 440) == -math.inf


def test_noise_has_its_level_and_repeats_by_its_seed() -> None:
    assert PCM_8K.level_db(PCM_8K.noise(1, level_db=-30)) == pytest.approx(-30, abs=0.2)
    assert PCM_8K.noise(1, seed=1) == PCM_8K.noise(1, seed=1) != PCM_8K.noise(1, seed=2)


def test_speech_has_its_edges_where_it_was_asked_to() -> None:
    audio = PCM_8K.silence(0.2) + PCM_8K.speech(0.6) + PCM_8K.silence(0.2)
    loud = np.abs(PCM_8K.decode(audio)) > 300
    edges = np.flatnonzero(loud)[[0, -1]] / 8000
    assert edges == pytest.approx([0.2, 0.8], abs=0.02)


@pytest.mark.parametrize("wire", [PCM_8K, PCM_24K, MULAW_8K])
def test_keys_are_heard_as_digits(wire: WireFormat) -> None:
    assert wire.digits(wire.keys("42#") + wire.silence(0.1)) == "42#"
    assert wire.digits(wire.speech(0.5)) == ""


def test_audio_converts_between_formats() -> None:
    tone = PCM_24K.tone(440, 0.5)
    narrow = PCM_24K.convert(tone, MULAW_8K)
    assert MULAW_8K.duration(narrow) == 0.5
    assert MULAW_8K.tone_level_db(narrow, 440) == pytest.approx(PCM_24K.tone_level_db(tone, 440), abs=0.3)
    assert PCM_24K.convert(tone, PCM_24K) is tone


def test_frames_are_of_one_size_and_the_last_is_filled_with_silence() -> None:
    frames = MULAW_8K.frames(MULAW_8K.tone(440, 0.05))
    assert [len(frame) for frame in frames] == [160, 160, 160]
    assert frames[-1][80:] == b"\xff" * 80
    assert len(PCM_24K.frames(PCM_24K.silence(0.04))) == 2
    assert PCM_24K.frames(b"") == []


def test_a_frame_is_a_whole_number_of_samples() -> None:
    with pytest.raises(AudioError, match="not a whole number"):
        MULAW_8K.frames(b"", frame_ms=0.3)
