"""Where a sound begins and ends: power in 5 ms windows, and edges relative to the loudest of them.

An edge is found in three steps, each finer than the one before: windows on the track's 5 ms grid, windows of the same
length every millisecond, and the first sample inside such a window that reaches the threshold's amplitude. The last
step matters for synthetic sound: a 5 ms window already passes when one sample of a loud tone has entered it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["EDGE_DB", "QUIET_DB", "Span", "Windows", "speech_edges", "utterance_edges"]

EDGE_DB = 35.0
"""A sound's edges are where it is this far below its loudest 5 ms."""

QUIET_DB = -60.0
"""Below this level (dB re full scale, RMS) a window is silence, whatever else is on the track."""

_WINDOWS_PER_SECOND = 200
_HOPS_PER_SECOND = 1000
_FULL_SCALE = 32768.0


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of sound on a track, in samples: ``onset`` is its first, ``offset`` the one after its last."""

    onset: int
    offset: int

    def __len__(self) -> int:
        """Number of samples."""
        return self.offset - self.onset


@dataclass(frozen=True, slots=True)
class Windows:
    """The 5 ms windows of a track at ``rate``: their size, and levels turned into sums of squares."""

    rate: int

    @property
    def size(self) -> int:
        """Samples in one window."""
        return max(self.rate // _WINDOWS_PER_SECOND, 1)

    @property
    def hop(self) -> int:
        """Samples in one millisecond, the step of the finer windows."""
        return max(self.rate // _HOPS_PER_SECOND, 1)

    def count(self, seconds: float) -> int:
        """Whole windows in a duration, to the nearest."""
        return round(seconds * self.rate / self.size)

    def power(self, level_db: float) -> float:
        """Sum of squares of one window at an RMS level in dB re full scale."""
        return float(self.size * _FULL_SCALE**2 * 10 ** (level_db / 10))

    def measure(self, samples: NDArray[np.int16]) -> NDArray[np.float64]:
        """Sum of squares of each window; ``samples`` are whole windows. Exact: the sums fit float64's 53 bits."""
        framed = samples.reshape(-1, self.size).astype(np.float64)
        powers: NDArray[np.float64] = np.einsum("ij,ij->i", framed, framed)
        return powers

    def edges(self, samples: NDArray[np.int16], powers: NDArray[np.float64], limit: float) -> Span:
        """Find the first and last sound above ``limit`` (a sum of squares that some window of ``powers`` exceeds)."""
        onset = self._first_above(samples, powers, limit)
        offset = len(samples) - self._first_above(samples[::-1], powers[::-1], limit)
        return Span(onset, offset)

    def _first_above(self, samples: NDArray[np.int16], powers: NDArray[np.float64], limit: float) -> int:
        # A window between two of the grid has no more power than both together, so one of them has half of it.
        first = max(int(np.argmax(powers >= limit / 2)) - 1, 0)
        last = int(np.argmax(powers > limit)) + 1
        squares = np.square(samples[first * self.size : last * self.size].astype(np.float64))
        sums = np.concatenate(([0.0], np.cumsum(squares)))
        loud = (sums[self.size :] - sums[: -self.size])[:: self.hop] > limit
        start = int(np.argmax(loud)) * self.hop
        within = squares[start : start + self.size] >= limit / self.size
        return first * self.size + start + int(np.argmax(within))


def speech_edges(samples: NDArray[np.int16], rate: int) -> Span | None:
    """Find where the sound of a clean clip begins and ends: the truth that latencies are measured against.

    The edges are the first and last 5 ms above the loudest 5 ms minus 35 dB, in samples from the start of the clip.
    Returns None if nothing in it is louder than -60 dB re full scale.
    """
    windows = Windows(rate)
    padded = np.pad(samples, (0, -len(samples) % windows.size))
    powers = windows.measure(padded)
    peak = powers.max(initial=0.0)
    if peak <= windows.power(QUIET_DB):
        return None
    limit = max(float(peak) / 10 ** (EDGE_DB / 10), windows.power(QUIET_DB))
    return windows.edges(padded, powers, limit)


def utterance_edges(samples: NDArray[np.int16], rate: int, span: Span) -> Span:
    """Find the edges of several segments of a clean track taken as one utterance.

    ``span`` runs from the first segment's onset to the last one's offset. A weak last word has edges of its own as a
    segment; measured against the utterance's loudest 5 ms, as `speech_edges` does for a clip, they lie further inside.
    """
    found = speech_edges(samples[span.onset : span.offset], rate)
    return Span(span.onset + found.onset, span.onset + found.offset) if found else span
