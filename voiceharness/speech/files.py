"""Audio files as a source of speech equal to a synthesizer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.resample import resample
from voiceharness.audio.wav import read_wav

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["load_audio"]


def load_audio(path: str | Path, rate: int, *, channel: int | None = None, content: bytes | None = None) -> AudioChunk:
    """Read a WAV file as mono at ``rate`` (Hz), whatever its own format and rate; its silences are kept.

    Several channels are averaged, unless ``channel`` (from 0) picks one. With ``content``, which is what the file holds
    where it lies, nothing is read from this machine.

    Raises:
        AudioError: the file is missing, cannot be read, or is empty.
    """
    audio = read_wav(path if content is None else content, channel=channel, name=str(path))
    return AudioChunk.from_samples(resample(audio.samples, audio.rate, rate), rate)
