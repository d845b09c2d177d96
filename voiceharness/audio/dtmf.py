"""Keypad tones: making them (ITU-T Q.23) and finding them in sound within the limits of ITU-T Q.24.

Theory of operation
-------------------
Every 5 ms the last 20 ms, tapered, are correlated with the eight frequencies. A window is a *hit* for a key if one low
and one high frequency stand 6 dB out of their groups, hold most of the window's power, and are loud enough. A digit is
a run of hits for one key, with holes of at most `_BRIDGED` windows (interruptions of 10 ms do not end a digit, pauses
of 40 ms do). Its edges are where the two tones' amplitude passes half its best value: there the edge is in the middle
of the window. It counts if it is long enough and its twist (high tone against low) is in bounds.

Weights are rounded to binary fractions, so all sums are exact and results do not depend on how sound was cut in chunks.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from voiceharness.audio.signals import FULL_SCALE
from voiceharness.errors import AudioError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["KEYS", "Digit", "DtmfDetector", "detect", "generate"]

KEYS = "123A456B789C*0#D"
"""The keypad, row by row: a key's row has its low frequency, its column the high one."""

_LOW_HZ = (697, 770, 852, 941)
_HIGH_HZ = (1209, 1336, 1477, 1633)

_WINDOWS_PER_SECOND = 50
_HOPS_PER_SECOND = 200
_WEIGHT_SCALE = 2.0**20
_PURITY = 0.65
_DOMINANCE = 10 ** (6 / 10)
_MIN_LEVEL_DB = -37.0
_MIN_DURATION = 0.028
_TWIST_DB = (-8.5, 4.5)
_BRIDGED = 3
_EDGE_WINDOWS = 3


@dataclass(frozen=True, slots=True)
class Digit:
    """A key heard on a track: the position of its onset and its duration, in samples."""

    key: str
    onset: int
    duration_samples: int


def generate(
    digits: str,
    rate: int = 8000,
    *,
    tone_ms: float = 100.0,
    gap_ms: float = 100.0,
    level_db: float = -10.0,
    twist_db: float = 0.0,
) -> NDArray[np.int16]:
    """Make the tones of digits, with gaps between them but none at the ends.

    ``level_db`` is the RMS of both tones together re full scale, ``twist_db`` the high tone's level over the low one's.

    Raises:
        AudioError: if a digit is none of 0-9, *, #, A-D, or the tones would exceed full scale.
    """
    tone = np.arange(round(tone_ms * rate / 1000)) * (2 * np.pi / rate)
    gap = np.zeros(round(gap_ms * rate / 1000), np.int16)
    low = FULL_SCALE * 10 ** (level_db / 20) * np.sqrt(2 / (1 + 10 ** (twist_db / 10)))
    high = low * 10 ** (twist_db / 20)
    if low + high >= FULL_SCALE:
        raise AudioError(f"tones at {level_db:g} dB with a twist of {twist_db:g} dB exceed full scale; lower the level")
    parts = []
    for digit in digits:
        if digit not in KEYS:
            raise AudioError(f"{digit!r} in {digits!r} is no key; keys are 0-9, *, # and A-D")
        row, column = divmod(KEYS.index(digit), 4)
        both = low * np.sin(_LOW_HZ[row] * tone) + high * np.sin(_HIGH_HZ[column] * tone)
        parts += [np.rint(both).astype(np.int16), gap]
    return np.concatenate(parts[:-1]) if parts else gap[:0]


def detect(samples: NDArray[np.int16], rate: int = 8000) -> list[Digit]:
    """Find the digits in a whole track."""
    detector = DtmfDetector(rate)
    return detector.push(samples) + detector.flush()


class DtmfDetector:
    """Find digits in a stream; each is reported when about 40 ms without a key's tones have followed."""

    def __init__(self, rate: int = 8000) -> None:
        """Listen from position 0 of a track at a rate in Hz."""
        self._bank = _bank(rate)
        self._samples = np.zeros(0, np.int16)
        self._powers, self._hits = self._bank.measure(self._samples)
        self._dropped = 0  # windows forgotten, before the first kept
        self._restart()

    def push(self, samples: NDArray[np.int16]) -> list[Digit]:
        """Take samples and return the digits that are certain now."""
        self._samples = np.concatenate((self._samples, samples))
        powers, hits = self._bank.measure(self._samples)
        self._samples = self._samples[len(hits) * self._bank.hop :]
        self._powers = np.concatenate((self._powers, powers))
        self._hits = np.concatenate((self._hits, hits))
        found = np.flatnonzero(self._hits >= 0)
        since = len(self._hits) - 1 - int(found[-1]) if len(found) else len(self._hits)
        if len(found) and since <= _BRIDGED + _EDGE_WINDOWS:
            return []
        digits = [digit for run in _runs(self._hits) if (digit := self._digit(*run))]
        self._drop(len(self._hits) - _EDGE_WINDOWS)
        return digits

    def flush(self) -> list[Digit]:
        """Return the digits left, as if silence followed, and begin a new track at position 0."""
        silent_windows = _BRIDGED + _EDGE_WINDOWS + 1
        digits = self.push(np.zeros(self._bank.size + silent_windows * self._bank.hop, np.int16))
        self._restart()
        return digits

    def _restart(self) -> None:
        # Window n ends n hops into the track: the first ones begin before it, in silence.
        self._samples = np.zeros(self._bank.size, np.int16)
        self._powers, self._hits = self._bank.measure(self._samples[:0])
        self._dropped = 0

    def _drop(self, windows: int) -> None:
        """Forget decided windows, but for the few that the next digit's onset may need."""
        windows = max(windows, 0)
        self._powers, self._hits = self._powers[windows:], self._hits[windows:]
        self._dropped += windows

    def _digit(self, first: int, last: int) -> Digit | None:
        """The digit of a run of hits from window ``first`` to ``last``, if it is one within the limits."""
        row, column = divmod(int(self._hits[first]), 4)
        low, high = self._powers[:, row], self._powers[:, 4 + column]
        twist_db = 10 * np.log10(high[first : last + 1].sum() / low[first : last + 1].sum())
        if not _TWIST_DB[0] <= twist_db <= _TWIST_DB[1]:
            return None
        amplitudes = np.sqrt(low + high)
        half = float(amplitudes[first : last + 1].max()) / 2
        onset, offset = _edge(amplitudes, first, -1, half), _edge(amplitudes, last, 1, half)
        duration = (offset - onset) * self._bank.hop
        if duration < _MIN_DURATION * self._bank.rate:
            return None
        middle = (self._dropped + onset) * self._bank.hop - self._bank.size / 2
        return Digit(KEYS[4 * row + column], max(round(middle), 0), round(duration))


@dataclass(frozen=True, slots=True)
class _Bank:
    """Tapered windows of 20 ms and what is measured in them.

    ``tones`` turns a window into cosine and sine parts of the eight frequencies; ``taper`` holds the squared taper.
    """

    rate: int
    tones: NDArray[np.float64]
    taper: NDArray[np.float64]

    @property
    def size(self) -> int:
        """Samples in a window."""
        return len(self.taper)

    @property
    def hop(self) -> int:
        """Samples from one window to the next."""
        return self.rate // _HOPS_PER_SECOND

    def measure(self, samples: NDArray[np.int16]) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
        """Power of each frequency in each whole window, and the index of the key that is a hit there, or -1."""
        count = max((len(samples) - self.size) // self.hop, -1) + 1
        powers, hits = np.zeros((count, 8)), np.full(count, -1, np.int8)
        if not count or not samples.any():
            return powers, hits
        windows = sliding_window_view(samples, self.size)[:: self.hop].astype(np.float64)
        parts = (windows @ self.tones).reshape(count, 8, 2)
        powers = np.square(parts).sum(axis=2)
        totals = np.square(windows) @ self.taper
        return powers, _hits(powers, totals)


@cache
def _bank(rate: int) -> _Bank:
    if rate <= 2 * _HIGH_HZ[-1] or rate % _HOPS_PER_SECOND:
        raise AudioError(f"keypad tones need a rate of at least 4000 Hz and whole samples in 5 ms, not {rate} Hz")
    size = rate // _WINDOWS_PER_SECOND
    taper = np.hamming(size)
    angles = 2 * np.pi / rate * np.outer(np.arange(size), _LOW_HZ + _HIGH_HZ)
    tones = np.stack((np.cos(angles), np.sin(angles)), axis=2) * taper[:, np.newaxis, np.newaxis]
    # Scaled so that a tone has the same power among the tones as in the total.
    tones *= np.sqrt(2) / taper.sum()
    squared = np.square(taper) / np.square(taper).sum()
    return _Bank(rate, _exact(tones.reshape(size, 16)), _exact(squared))


def _exact(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    rounded: NDArray[np.float64] = np.rint(weights * _WEIGHT_SCALE) / _WEIGHT_SCALE
    return rounded


def _hits(powers: NDArray[np.float64], totals: NDArray[np.float64]) -> NDArray[np.int8]:
    """Which key each window is a hit for, or -1."""
    ranked = np.sort(powers.reshape(-1, 2, 4), axis=2)
    strongest, second = ranked[:, :, 3], ranked[:, :, 2]
    both = strongest.sum(axis=1)
    loud = both >= FULL_SCALE**2 * 10 ** (_MIN_LEVEL_DB / 10)
    clear = (strongest >= _DOMINANCE * second).all(axis=1)
    keys = 4 * powers[:, :4].argmax(axis=1) + powers[:, 4:].argmax(axis=1)
    return np.where(loud & clear & (both >= _PURITY * totals), keys, -1).astype(np.int8)


def _runs(hits: NDArray[np.int8]) -> list[tuple[int, int]]:
    """First and last window of each run of hits for one key, short holes bridged."""
    places = np.flatnonzero(hits >= 0)
    if not len(places):
        return []
    splits = np.flatnonzero((np.diff(hits[places]) != 0) | (np.diff(places) > _BRIDGED + 1))
    firsts = places[np.concatenate(([0], splits + 1))]
    lasts = places[np.concatenate((splits, [len(places) - 1]))]
    return list(zip(firsts.tolist(), lasts.tolist(), strict=True))


def _edge(amplitudes: NDArray[np.float64], place: int, step: int, half: float) -> float:
    """Where the amplitude passes ``half`` near the window ``place``, in windows; outward is the way of ``step``."""
    while amplitudes[place] < half:
        place -= step
    for outer in range(place + step, place + (_EDGE_WINDOWS + 1) * step, step):
        if 0 <= outer < len(amplitudes) and amplitudes[outer] < half:
            inside, outside = float(amplitudes[outer - step]), float(amplitudes[outer])
            return outer - step + step * (inside - half) / (inside - outside)
    return place
