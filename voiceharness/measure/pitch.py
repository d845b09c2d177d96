"""The pitch of a voice, to tell whether it is played at the rate it was made for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["voice_pitch"]

_WINDOW = 0.08
_HOP = 0.04
_RANGE_HZ = (28.0, 800.0)
_VOICED = 0.6
_NEARLY = 0.85
_LEAST_FRAMES = 8
_MOST_FRAMES = 32
_WANDERS = 0.01
_AUDIBLE = 100.0


def voice_pitch(samples: NDArray[np.int16], rate: int) -> float | None:
    """Estimate the median pitch in Hz, from 28 to 800.

    Returns None if too little of the sound is voiced (under 0.3 s) or if its pitch stands as still as that of a tone.
    """
    step = max(1, rate // 8000)
    rate, samples = rate // step, samples[::step]
    size, hop = round(_WINDOW * rate), round(_HOP * rate)
    if len(samples) < size:
        return None
    frames = sliding_window_view(samples.astype(np.float64), size)[::hop]
    frames = frames - frames.mean(axis=1, keepdims=True)
    energy = np.einsum("ij,ij->i", frames, frames)
    audible = np.flatnonzero(energy > max(float(energy.max()) / 100, size * _AUDIBLE**2))
    step = 1 + len(audible) // _MOST_FRAMES  # a median needs no more than these
    lags = _periods(frames[audible[::step]], rate)
    if step * len(lags) < _LEAST_FRAMES:
        return None
    pitches = rate / lags
    median = float(np.median(pitches))
    spread = float(np.median(np.abs(pitches - median)))
    return median if spread > _WANDERS * median else None


def _periods(frames: NDArray[np.float64], rate: int) -> NDArray[np.float64]:
    """The period in samples of each voiced frame: its first nearly highest autocorrelation, corrected for the taper.

    A parabola through the peak gives fractions: at 600 Hz a period is but 13 samples.
    """
    if not len(frames):
        return np.zeros(0)
    size = frames.shape[1]
    low, high = round(rate / _RANGE_HZ[1]), min(round(rate / _RANGE_HZ[0]), size // 2)
    spectrum = np.fft.rfft(frames, size + size // 2, axis=1)  # room enough for lags of up to half a frame
    correlation = np.fft.irfft(spectrum.real**2 + spectrum.imag**2, axis=1)[:, :high]
    correlation /= correlation[:, :1] * (1 - np.arange(high) / size)
    inside = correlation[:, low:high]
    peaks = (inside[:, 1:-1] >= inside[:, :-2]) & (inside[:, 1:-1] > inside[:, 2:])
    heights = np.where(peaks, inside[:, 1:-1], -1.0)
    best = heights.max(axis=1, initial=-1.0)
    voiced = best > _VOICED
    first = np.argmax(heights[voiced] >= _NEARLY * best[voiced, None], axis=1)
    before, top, after = (np.take_along_axis(inside[voiced], first[:, None] + n, axis=1)[:, 0] for n in range(3))
    periods: NDArray[np.float64] = low + 1 + first + (before - after) / (2 * (before - 2 * top + after))
    return periods
