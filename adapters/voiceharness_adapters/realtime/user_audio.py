"""The user's audio on its way into a realtime transport."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from voiceharness.audio.resample import Resampler

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from voiceharness.scripted.sounds import WireFormat

__all__ = ["SHORTEST_COMMIT", "UserAudio"]

SHORTEST_COMMIT: Final = 0.1
"""Seconds of audio below which realtime APIs refuse a commit."""


class UserAudio:
    """Brings the user's frames from the line's rate to the transport's format, and knows what a commit has to take.

    A commit needs audio to go with it. With ``commits``, each frame therefore waits for the next one, or for the end of
    the user's turn, whichever comes first: nobody at the far side acts on audio that was not committed, so nothing is
    late. Without, frames go out as they come, but for the 2.5 ms that the resampler looks ahead.
    """

    def __init__(self, rate: int, wire: WireFormat, *, commits: bool) -> None:
        self._wire = wire
        self._resampler = Resampler(rate, wire.rate)
        self._commits = commits
        self._waiting = np.zeros(0, np.int16)
        self._sent = 0

    def push(self, samples: NDArray[np.int16]) -> bytes:
        """Take a frame and return what goes out now."""
        ready = self._resampler.push(samples)
        if self._commits:
            ready, self._waiting = self._waiting, ready
            self._sent += len(ready)
        return self._wire.encode(ready)

    def commit(self) -> bytes | None:
        """Return the audio that goes out with a commit: silence makes up what it is short of.

        None if nothing was said since the last one.
        """
        rest = np.concatenate((self._waiting, self._resampler.flush()))
        self._waiting = self._waiting[:0]
        waiting, self._sent = self._sent + len(rest), 0
        if not waiting:
            return None
        short = round(SHORTEST_COMMIT * self._wire.rate) - waiting
        return self._wire.encode(np.pad(rest, (0, max(0, short))))
