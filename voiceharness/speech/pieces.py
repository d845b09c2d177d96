"""Cut long audio where it is quietest, for engines that take only some seconds at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["LONGEST", "quiet_pieces", "quietest"]

LONGEST = 12.0
"""Longest piece, in seconds; it is cut in its second half."""

_PAUSE = 0.2


def quiet_pieces(samples: NDArray[np.int16], rate: int, longest: float = LONGEST) -> Iterator[tuple[int, int]]:
    """Yield ranges of samples, each up to ``longest`` seconds, that cover the audio without a gap."""
    limit = round(longest * rate)
    start = 0
    while len(samples) - start > limit:
        cut = start + limit // 2 + quietest(samples[start + limit // 2 : start + limit], rate)
        yield start, cut
        start = cut
    yield start, len(samples)


def quietest(samples: NDArray[np.int16], rate: int) -> int:
    """Return the middle of the quietest 0.2 s, the last of equals, in samples."""
    width = round(_PAUSE * rate)
    energy = np.concatenate([[0.0], np.cumsum(np.square(samples.astype(np.float64)))])
    loudness = energy[width:] - energy[:-width]
    return len(loudness) - 1 - int(np.argmin(loudness[::-1])) + width // 2
