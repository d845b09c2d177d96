"""Cut long audio where it is quietest, for engines that take only some seconds at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["LONGEST", "last_pause", "quiet_pieces", "quietest"]

LONGEST = 12.0
"""Longest piece, in seconds; it is cut in its second half."""

_PAUSE = 0.2
_PAUSE_RATIO = 10**-3.5


def quiet_pieces(samples: NDArray[np.int16], rate: int, longest: float = LONGEST) -> Iterator[tuple[int, int]]:
    """Yield ranges of samples, each up to ``longest`` seconds, that cover the audio without a gap."""
    limit = round(longest * rate)
    start = 0
    while len(samples) - start > limit:
        cut = start + limit // 2 + quietest(samples[start + limit // 2 : start + limit], rate)
        yield start, cut
        start = cut
    yield start, len(samples)


def last_pause(samples: NDArray[np.int16], rate: int, earliest: float) -> int | None:
    """Return the middle of the quietest 0.2 s after ``earliest`` seconds, if it is a pause: 35 dB below the loudest."""
    first = round(earliest * rate)
    loudness = _loudness(samples, rate)
    if len(loudness) <= first:
        return None
    cut = _last_minimum(loudness[first:]) + first
    return cut + round(_PAUSE * rate) // 2 if loudness[cut] < loudness.max() * _PAUSE_RATIO else None


def quietest(samples: NDArray[np.int16], rate: int) -> int:
    """Return the middle of the quietest 0.2 s, the last of equals, in samples."""
    return _last_minimum(_loudness(samples, rate)) + round(_PAUSE * rate) // 2


def _loudness(samples: NDArray[np.int16], rate: int) -> NDArray[np.float64]:
    """Sum of squares over 0.2 s, from each sample on."""
    width = round(_PAUSE * rate)
    energy = np.concatenate([[0.0], np.cumsum(np.square(samples.astype(np.float64)))])
    loudness: NDArray[np.float64] = energy[width:] - energy[:-width]
    return loudness


def _last_minimum(values: NDArray[np.float64]) -> int:
    return len(values) - 1 - int(np.argmin(values[::-1]))
