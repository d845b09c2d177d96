"""A transcriber that understands levels: each burst of a constant amplitude is the word of that amplitude."""

from __future__ import annotations

import numpy as np

from voiceharness.audio.chunk import AudioChunk
from voiceharness.events import Word
from voiceharness.speech.transcription import Transcript

__all__ = ["LevelTranscriber", "bursts"]

RATE = 8000
WORDS = {1000: "one", 2000: "two", 3000: "three", 4000: "four", 5000: "five"}


def bursts(*levels: int, length: float = 0.4, gap: float = 0.1, position: int = 0) -> AudioChunk:
    """Return one burst per level, each followed by a gap of silence (seconds)."""
    parts = [np.pad(np.full(round(length * RATE), level, np.int16), (0, round(gap * RATE))) for level in levels]
    return AudioChunk.from_samples(np.concatenate(parts), RATE, position)


class LevelTranscriber:
    """Hear the bursts that are over; the one that still sounds at the end of the audio is misheard as "hm"."""

    name = "levels"
    version = "1"

    def __init__(self) -> None:
        self.lengths: list[int] = []

    def transcribe(self, audio: AudioChunk) -> Transcript:
        self.lengths.append(len(audio))
        samples = audio.samples
        edges = np.flatnonzero(np.diff(samples, prepend=0, append=0))
        words = []
        for start, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            name = "hm" if end == len(samples) else WORDS[int(samples[start])]
            words.append(Word(name, start / audio.rate, end / audio.rate))
        return Transcript(" ".join(word.text for word in words), tuple(words))
