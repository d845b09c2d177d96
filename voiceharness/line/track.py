"""One party's sound on the sample clock: a buffer that grows, silent wherever nothing was written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Track"]


class Track:
    """An int16 track from position 0. ``end`` is one past the last sample that was written."""

    def __init__(self, capacity: int) -> None:
        self._samples: NDArray[np.int16] = np.zeros(max(1, capacity), np.int16)
        self.end = 0

    def write(self, start: int, samples: NDArray[np.int16]) -> None:
        """Put samples at a position, over what is there."""
        end = start + len(samples)
        self._reserve(end)
        self._samples[start:end] = samples
        self.end = max(self.end, end)

    def add(self, start: int, samples: NDArray[np.int16]) -> None:
        """Mix samples in at a position; sums beyond full scale saturate."""
        end = start + len(samples)
        self._reserve(end)
        mixed = self._samples[start:end].astype(np.int32) + samples
        self._samples[start:end] = np.clip(mixed, -32768, 32767)
        self.end = max(self.end, end)

    def cut(self, end: int) -> None:
        """Silence everything from a position on."""
        if end < self.end:
            self._samples[end : self.end] = 0
            self.end = end

    def view(self, start: int, end: int) -> NDArray[np.int16]:
        """Return the samples from ``start`` to ``end``, without a copy; valid until the next write."""
        self._reserve(end)
        return self._samples[start:end]

    def copy(self, samples: int) -> NDArray[np.int16]:
        """Return the first samples of the track, as an array of its own."""
        self._reserve(samples)
        return self._samples[:samples].copy()

    def _reserve(self, end: int) -> None:
        if end > len(self._samples):
            grown = np.zeros(max(end, 2 * len(self._samples)), np.int16)
            grown[: self.end] = self._samples[: self.end]
            self._samples = grown
