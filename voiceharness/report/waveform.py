"""A track as a row of characters, one for each stretch of time, as high as it is loud there."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ASCII_LEVELS", "BLOCKS", "waveform"]

BLOCKS: Final = " ▁▂▃▄▅▆▇█"
ASCII_LEVELS: Final = " .:-=+*#@"

_QUIETEST_DB: Final = -54.0
"""Below this level (of full scale) a stretch is shown as silence."""


def waveform(track: NDArray[np.int16], columns: int, *, levels: str = BLOCKS) -> str:
    """Draw int16 samples in a number of columns; the height is the peak on a scale of decibels."""
    edges = np.linspace(0, len(track), columns + 1).round().astype(int)
    peaks = np.array([_peak(track[start:end]) for start, end in pairwise(edges)])
    decibels = 20 * np.log10(np.maximum(peaks, 1.0) / 32768)
    steps = len(levels) - 1
    heights = np.ceil((decibels / -_QUIETEST_DB + 1) * steps).clip(0, steps).astype(int)
    return "".join(levels[height] for height in heights)


def _peak(samples: NDArray[np.int16]) -> float:
    return float(np.abs(samples.astype(np.int32)).max()) if len(samples) else 0.0
