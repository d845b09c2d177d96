"""Audio between engines and the line: sample formats, rates, and files as a source equal to speech."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["resampled", "to_float", "to_pcm16"]


def to_pcm16(samples: NDArray[np.float32]) -> NDArray[np.int16]:
    """Round samples in -1..1 to 16 bits; louder ones are clipped."""
    return np.clip(np.rint(samples * 32768.0), -32768, 32767).astype(np.int16)


def to_float(samples: NDArray[np.int16]) -> NDArray[np.float32]:
    """Scale 16-bit samples to -1..1."""
    return samples.astype(np.float32) / np.float32(32768.0)


def resampled(samples: NDArray[np.float32], rate: int, new_rate: int) -> NDArray[np.float32]:
    """Return a whole clip at another rate, with no delay."""
    from scipy.signal import resample_poly

    if rate == new_rate:
        return samples
    common = gcd(rate, new_rate)
    result: NDArray[np.float32] = resample_poly(samples, new_rate // common, rate // common).astype(np.float32)
    return result
