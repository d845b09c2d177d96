"""The one audio value of voiceharness: a run of mono 16-bit samples at a stated rate."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from voiceharness.errors import AudioError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["AudioChunk"]


@dataclass(frozen=True, slots=True)
class AudioChunk:
    """Mono linear PCM, 16 bit, little-endian.

    ``pcm`` holds whole samples. ``position`` is the index of the first sample on the track it belongs to, counted at
    ``rate`` (None: wherever it lands). ``item`` names the agent's utterance it is part of, where the transport has one.
    ``at_ns`` is when it arrived, on the loop's clock in nanoseconds (None: not stamped); it is no part of equality.
    """

    pcm: bytes
    rate: int = 8000
    position: int | None = None
    item: str | None = None
    at_ns: int | None = field(default=None, compare=False)

    @classmethod
    def from_samples(
        cls, samples: NDArray[np.int16], rate: int = 8000, position: int | None = None, item: str | None = None
    ) -> AudioChunk:
        """Make a chunk of a one-dimensional int16 array.

        Raises:
            AudioError: if the array is not one-dimensional int16.
        """
        if samples.dtype != np.int16 or samples.ndim != 1:
            raise AudioError(f"a chunk takes a one-dimensional int16 array, not {samples.dtype} of {samples.ndim} axes")
        return cls(samples.astype("<i2", copy=False).tobytes(), rate, position, item)

    @property
    def samples(self) -> NDArray[np.int16]:
        """The samples as a read-only int16 array that shares this chunk's memory."""
        return np.frombuffer(self.pcm, dtype="<i2")

    def __len__(self) -> int:
        """Number of samples."""
        return len(self.pcm) // 2

    @property
    def duration(self) -> float:
        """Length in seconds."""
        return len(self) / self.rate

    def __repr__(self) -> str:
        place = "" if self.position is None else f" at {self.position}"
        item = "" if self.item is None else f" of {self.item}"
        return f"<AudioChunk {len(self)} samples at {self.rate} Hz{place}{item}>"
