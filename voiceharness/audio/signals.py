"""Sounds made of arithmetic: the same bytes from the same arguments, on every machine and numpy version.

Randomness is splitmix64 on a counter, in integers. Filter weights are rounded to binary fractions so that sums are
exact, and only the last step rounds to 16 bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from voiceharness.errors import AudioError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["FULL_SCALE", "click", "gaussian", "random_words", "speech_like", "tone", "white_noise"]

FULL_SCALE = 32768.0
"""Amplitude of 0 dB, in steps of a 16-bit sample."""

_BAND_HZ = (300.0, 3400.0)
_SYLLABLES_PER_SECOND = 4
_RAMP = 0.02
_WEIGHT_SCALE = 2.0**16


def random_words(count: int, seed: int, first: int = 0) -> NDArray[np.uint64]:
    """Draw 64-bit random words: splitmix64 (Steele, Lea and Flood, 2014) from the start that ``seed`` names.

    ``first`` skips words, at no cost: word n is a function of the seed and n alone.
    """
    step = np.uint64(0x9E3779B97F4A7C15)
    # The seed is mixed before use, so that neighbouring seeds are not shifted copies of each other.
    start = _mixed(np.array([seed & 0xFFFFFFFFFFFFFFFF], np.uint64) * step + step)
    return _mixed(start + np.arange(first + 1, first + count + 1, dtype=np.uint64) * step)


def gaussian(count: int, seed: int, first: int = 0) -> NDArray[np.float64]:
    """Draw bell-shaped noise of unit variance: the sum of four 16-bit integers, within 3.5 of zero.

    ``first`` skips values, at no cost.
    """
    fields = random_words(count, seed, first).astype("<u8", copy=False).view("<u2").reshape(-1, 4)
    sums = fields.astype(np.int64).sum(axis=1)
    scaled: NDArray[np.float64] = (sums - 2 * 0xFFFF) / np.sqrt((2.0**32 - 1) / 3)
    return scaled


def tone(hz: float, seconds: float, rate: int = 8000, *, level_db: float = -6.0) -> NDArray[np.int16]:
    """Make a sine from phase 0 with its peak at ``level_db`` re full scale."""
    times = np.arange(round(seconds * rate)) / rate
    return _rounded(FULL_SCALE * 10 ** (level_db / 20) * np.sin(2 * np.pi * hz * times))


def white_noise(seconds: float, rate: int = 8000, *, level_db: float, seed: int) -> NDArray[np.int16]:
    """Make bell-shaped white noise with its RMS at ``level_db`` re full scale."""
    return _rounded(FULL_SCALE * 10 ** (level_db / 20) * gaussian(round(seconds * rate), seed))


def speech_like(seconds: float, rate: int = 8000, *, level_db: float = -20.0, seed: int) -> NDArray[np.int16]:
    """Make noise of the telephone band with the rhythm of syllables: sound that stands for speech.

    300 to 3400 Hz at an RMS of ``level_db``, modulated in full depth at 4 Hz, or as near to it as lets the sound begin
    and end at full level, with ramps of 20 ms. So its edges are where they are asked to be.
    """
    count = round(seconds * rate)
    if not count:
        return np.zeros(0, np.int16)
    taps = _band_pass(rate)
    noise = np.rint(gaussian(count + len(taps) - 1, seed) * _WEIGHT_SCALE)
    carrier = np.convolve(noise, taps, mode="valid") / _WEIGHT_SCALE
    places = np.arange(count) + 0.5
    cycles = round(_SYLLABLES_PER_SECOND * seconds)
    syllables = (1 + np.cos(2 * np.pi * cycles * places / count)) / 2
    ramp = np.clip(np.minimum(places, count - places) / (_RAMP * rate), 0, 1)
    shaped = carrier * syllables * ramp
    scale = FULL_SCALE * 10 ** (level_db / 20) / np.sqrt(np.mean(np.square(shaped)))
    return _rounded(scale * shaped)


def click(rate: int = 8000, *, level_db: float = -6.0) -> NDArray[np.int16]:
    """Make a click: 1 ms at a constant ``level_db`` re full scale."""
    return _rounded(np.full(rate // 1000, FULL_SCALE * 10 ** (level_db / 20)))


def _mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def _band_pass(rate: int) -> NDArray[np.float64]:
    """Taps of a band-pass over 20 ms, in steps of 1/65536."""
    if rate < 2 * _BAND_HZ[1]:
        raise AudioError(f"speech-like sound needs a rate of at least {2 * _BAND_HZ[1]:.0f} Hz, not {rate}")
    half = rate // 100
    times = np.arange(-half, half + 1) / rate
    low, high = (2 * hz / rate * np.sinc(2 * hz * times) for hz in _BAND_HZ)
    return np.rint((high - low) * np.hanning(2 * half + 1) * _WEIGHT_SCALE)


def _rounded(samples: NDArray[np.float64]) -> NDArray[np.int16]:
    whole: NDArray[np.int16] = np.clip(np.rint(samples), -32768, 32767).astype(np.int16)
    return whole
