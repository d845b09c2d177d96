"""What several tests of this package need beside the package's own signals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["placed", "snr_db", "white"]


def white(seconds: float, level_db: float, rate: int = 8000, seed: int = 1) -> NDArray[np.int16]:
    """Gaussian noise whose RMS is at ``level_db`` re full scale."""
    noise = np.random.default_rng(seed).normal(0, 32768 * 10 ** (level_db / 20), round(seconds * rate))
    return np.round(noise).astype(np.int16)


def placed(length: int, *clips: tuple[int, NDArray[np.int16]]) -> NDArray[np.int16]:
    """A silent track with clips added at positions."""
    track = np.zeros(length, np.int16)
    for position, clip in clips:
        track[position : position + len(clip)] += clip
    return track


def snr_db(reference: NDArray[np.int16], heard: NDArray[np.int16]) -> float:
    """Ratio of the reference to what is left after the best gain, in dB."""
    wanted, got = reference.astype(np.float64), heard.astype(np.float64)
    scaled = got * (wanted @ got / (got @ got))
    return float(10 * np.log10(wanted @ wanted / (np.sum((wanted - scaled) ** 2) + 1e-9)))
