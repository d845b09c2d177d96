"""Sound by position: the shape that all sound impairments share.

A source answers with the samples of any stretch of a track. An impairment turns a source into another one. Because
each sample depends on its position (and the seed) alone, it does not matter in which pieces, how often, or in which
order a track is read: noise goes on over the whole call, and a stretch that was read ahead of time and then flushed
is simply read again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np

from voiceharness.audio.mix import saturated

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

Samples: TypeAlias = "NDArray[np.float64]"

__all__ = ["Context", "Samples", "SoundImpairment", "Source", "from_track", "rounded"]


class Source(Protocol):
    """The samples from ``start`` to ``end`` of a track, as floats in 16-bit steps; zero before position 0."""

    def __call__(self, start: int, end: int) -> Samples:
        """Return the samples of a stretch."""
        ...


@dataclass(frozen=True, slots=True)
class Context:
    """What an impairment needs to know beside its own sound.

    ``other`` is the other party's track as it is heard, which an echo returns; ``seed`` is this impairment's own.
    """

    rate: int
    seed: int
    other: Source


class SoundImpairment(Protocol):
    """Something that changes the sound of one direction."""

    def over(self, source: Source, context: Context) -> Source:
        """Return the source with this impairment on it."""
        ...


def from_track(view: Callable[[int, int], NDArray[np.int16]]) -> Source:
    """Make a source of a track's ``view``; what lies before position 0 is silence."""

    def read(start: int, end: int) -> Samples:
        if start >= 0:
            return view(start, end).astype(np.float64)
        lead = min(-start, end - start)
        return np.concatenate([np.zeros(lead), view(0, max(0, end)).astype(np.float64)])

    return read


def rounded(samples: Samples) -> NDArray[np.int16]:
    """Round to 16-bit samples; what exceeds full scale saturates."""
    return saturated(samples)
