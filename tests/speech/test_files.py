"""Audio files as a source of speech."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from voiceharness.audio.wav import wav_bytes, write_wav
from voiceharness.errors import AudioError
from voiceharness.speech.files import load_audio

if TYPE_CHECKING:
    from pathlib import Path

__all__: list[str] = []


def _tone(rate: int) -> np.ndarray[tuple[int], np.dtype[np.int16]]:
    """A tone of 500 Hz from 0.25 to 0.75 s of one second."""
    time = np.arange(rate) / rate
    return (8000 * np.sin(2 * np.pi * 500 * time) * ((time >= 0.25) & (time < 0.75))).astype(np.int16)


@pytest.mark.parametrize("file_rate", [8000, 11025, 16000, 44100, 48000])
def test_file_of_any_rate_comes_at_the_line_rate_and_in_time(tmp_path: Path, file_rate: int) -> None:
    write_wav(tmp_path / "tone.wav", _tone(file_rate), file_rate)
    audio = load_audio(tmp_path / "tone.wav", 8000)
    assert (audio.rate, len(audio)) == (8000, 8000)
    difference = audio.samples[2100:5900].astype(float) - _tone(8000)[2100:5900]
    assert np.abs(difference).max() < 80


def test_a_file_that_lies_elsewhere_is_read_from_its_content_and_called_by_its_name() -> None:
    content = wav_bytes(_tone(16000), 16000)
    assert len(load_audio("elsewhere/tone.wav", 8000, content=content)) == 8000
    with pytest.raises(AudioError, match=r"^elsewhere/tone\.wav: not a WAV file"):
        load_audio("elsewhere/tone.wav", 8000, content=b"tone")
    with pytest.raises(AudioError, match=r"^elsewhere/tone\.wav: no channel 1"):
        load_audio("elsewhere/tone.wav", 8000, channel=1, content=content)


def test_one_channel_can_be_picked(tmp_path: Path) -> None:
    left = _tone(8000)
    write_wav(tmp_path / "stereo.wav", np.stack([left, np.zeros_like(left)], axis=1), 8000)
    assert np.array_equal(load_audio(tmp_path / "stereo.wav", 8000, channel=0).samples, left)
    assert np.abs(load_audio(tmp_path / "stereo.wav", 8000).samples).max() == pytest.approx(4000, abs=1)


def test_missing_file_is_an_audio_error(tmp_path: Path) -> None:
    with pytest.raises(AudioError, match=r"none\.wav"):
        load_audio(tmp_path / "none.wav", 8000)
