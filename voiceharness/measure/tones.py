"""Sounds that are nothing but one tone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["frequency", "peak_place", "pure_tone", "rate_factor"]

_PEEK = 0.05
_PURITY = 0.9


def frequency(samples: NDArray[np.int16], rate: int) -> tuple[float, float]:
    """Find the strongest tone: its frequency in Hz and its share of the energy, from 0 to 1 (0, 0 of silence).

    With half a second of a clean tone the error is below 0.1 Hz (a parabola through the logarithm of the peak).
    """
    if len(samples) < 16:
        return 0.0, 0.0
    size = 1 << (len(samples) - 1).bit_length()
    power = np.abs(np.fft.rfft(samples * np.hanning(len(samples)), 2 * size)) ** 2
    power[:4] = 0
    peak, energy = int(np.argmax(power)), float(power.sum())
    if energy == 0.0 or not 0 < peak < len(power) - 1:
        return 0.0, 0.0
    place = peak_place(power, peak)
    width = max(3, -(-6 * size // len(samples)))
    share = float(power[max(0, peak - width) : peak + width + 1].sum()) / energy
    return place * rate / (2 * size), share


def peak_place(power: NDArray[np.float64], peak: int) -> float:
    """Return where between the bins of a spectrum a peak lies: a parabola through the logarithm of three of them.

    At either end of the spectrum, and where it is flat, that is the bin itself.
    """
    if not 0 < peak < len(power) - 1:
        return float(peak)
    low, top, high = np.log(power[peak - 1 : peak + 2] + 1e-30)
    bend = low - 2 * top + high
    return peak + 0.5 * float(low - high) / float(bend) if bend < 0 else float(peak)


def pure_tone(samples: NDArray[np.int16], rate: int) -> float | None:
    """Return the frequency of a sound that is one tone; None of any other sound. The first 50 ms often tell."""
    for part in (samples[: round(_PEEK * rate)], samples[: rate // 2]):
        found, share = frequency(part, rate)
        if share < _PURITY:
            return None
    return found


def rate_factor(samples: NDArray[np.int16], rate: int, expected_hz: float) -> float | None:
    """Return by which factor a known tone is played too fast (above 1) or too slow; None if no tone is heard."""
    found = pure_tone(samples, rate)
    return None if found is None else found / expected_hz
