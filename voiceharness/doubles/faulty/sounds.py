"""What the attendant and its user say: sound made of arithmetic, with a pitch, a rhythm and words."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from voiceharness.audio import signals
from voiceharness.audio.chunk import AudioChunk
from voiceharness.events import Word

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Sentence", "cough", "murmur", "question", "sentence", "tagged", "voice"]

LEVEL_DB: Final = -23.0
_PITCH_HZ: Final = (115.0, 190.0)
_HIGHEST_HZ: Final = 3300.0
_FORMANTS_HZ: Final = ((500.0, 1500.0), (700.0, 1200.0), (350.0, 2100.0))
_FORMANT_WIDTH_HZ: Final = 250.0
_GLIDE: Final = 0.12
_BREATH: Final = 0.01
_RAMP: Final = 0.02
_WORD: Final = (0.25, 0.45)
_PAUSE: Final = 0.06
_VOCABULARY: Final = (
    "we",
    "can",
    "see",
    "you",
    "on",
    "that",
    "day",
    "at",
    "ten",
    "or",
    "four",
    "which",
    "suits",
    "best",
)


@dataclass(frozen=True, slots=True, eq=False)
class Sentence:
    """Something to say: int16 samples at ``rate``, and the words in them, timed from the first sample."""

    samples: NDArray[np.int16]
    rate: int
    words: tuple[Word, ...] = ()

    @property
    def duration(self) -> float:
        """Length in seconds."""
        return len(self.samples) / self.rate


def voice(seconds: float, rate: int, seed: int) -> NDArray[np.int16]:
    """Make a word without a meaning: a voice whose pitch glides, with two formants and some breath."""
    draw = random.Random(seed)
    count = round(seconds * rate)
    times = np.arange(count) / rate
    pitch = draw.uniform(*_PITCH_HZ)
    phase = 2 * np.pi * pitch * (times + _GLIDE * np.sin(2 * np.pi * times / seconds) * seconds / (2 * np.pi))
    formants = draw.choice(_FORMANTS_HZ)
    sound = _BREATH * signals.gaussian(count, seed)
    wave = harmonic = np.exp(1j * phase)
    for number in range(1, int(_HIGHEST_HZ / (pitch * (1 + _GLIDE))) + 1):
        nearness = sum(np.exp(-(((number * pitch - hz) / _FORMANT_WIDTH_HZ) ** 2)) for hz in formants)
        sound += (0.1 + nearness) / number**0.5 * (harmonic * np.exp(1j * number**2)).imag
        harmonic = harmonic * wave
    ramp = np.minimum(1, (np.minimum(np.arange(count), np.arange(count)[::-1]) + 0.5) / (_RAMP * rate))
    shaped = sound * ramp
    scale = signals.FULL_SCALE * 10 ** (LEVEL_DB / 20) / np.sqrt(np.mean(np.square(shaped)))
    whole: NDArray[np.int16] = np.clip(np.rint(scale * shaped), -32768, 32767).astype(np.int16)
    return whole


def sentence(words: int, rate: int, seed: int) -> Sentence:
    """Make a sentence of so many words."""
    draw = random.Random(seed)
    pause = np.zeros(round(_PAUSE * rate), np.int16)
    pieces: list[NDArray[np.int16]] = []
    told: list[Word] = []
    at = 0.0
    for index in range(words):
        sound = voice(draw.uniform(*_WORD), rate, draw.randrange(2**32))
        pieces += [sound, pause] if index < words - 1 else [sound]
        told.append(Word(draw.choice(_VOCABULARY), at, at + len(sound) / rate))
        at += (len(sound) + len(pause)) / rate
    return Sentence(np.concatenate(pieces), rate, tuple(told))


def tagged(hz: float, rate: int) -> Sentence:
    """Make an answer that is one tone, so that it tells what it answers."""
    return Sentence(signals.tone(hz, 1.0, rate, level_db=-12), rate)


def question(draw: random.Random, rate: int, seconds: tuple[float, float] = (0.8, 1.8)) -> AudioChunk:
    """Make something the user says, of a random length."""
    return AudioChunk.from_samples(signals.speech_like(draw.uniform(*seconds), rate, seed=draw.randrange(2**32)), rate)


def murmur(draw: random.Random, rate: int) -> AudioChunk:
    """Make a listener's "mm-hmm"."""
    return question(draw, rate, (0.2, 0.3))


def cough(draw: random.Random, rate: int) -> AudioChunk:
    """Make a cough: a burst of noise."""
    noise = signals.white_noise(draw.uniform(0.2, 0.3), rate, level_db=-15, seed=draw.randrange(2**32))
    return AudioChunk.from_samples(noise, rate)
