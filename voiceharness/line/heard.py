"""What is heard of the agent: its played track, with what the line does to it on the way to the user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from voiceharness.line.track import Track

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

__all__ = ["HeardAsPlayed", "HeardImpaired", "HeardTrack"]


class HeardTrack(Protocol):
    """The agent's track as the user hears it."""

    def view(self, start: int, end: int) -> NDArray[np.int16]:
        """Return a stretch, without a copy; valid until the next call."""

    def forget_from(self, position: int) -> None:
        """Take note that the played track changed from a position on."""


class HeardAsPlayed:
    """A clean line: what is heard is what is played."""

    def __init__(self, played: Track) -> None:
        self._played = played

    def view(self, start: int, end: int) -> NDArray[np.int16]:
        """Return a stretch of the played track."""
        return self._played.view(start, end)

    def forget_from(self, position: int) -> None:
        """Nothing is remembered."""


class HeardImpaired:
    """A bad line: each stretch is computed once, and again from where the played track changed."""

    def __init__(self, read: Callable[[int, int], NDArray[np.int16]], capacity: int) -> None:
        self._read = read
        self._track = Track(capacity)
        self._known = 0

    def view(self, start: int, end: int) -> NDArray[np.int16]:
        """Return a stretch of the impaired track."""
        if end > self._known:
            self._track.write(self._known, self._read(self._known, end))
            self._known = end
        return self._track.view(start, end)

    def forget_from(self, position: int) -> None:
        """Compute what follows a position again when it is asked for."""
        if position < self._known:
            self._track.cut(position)
            self._known = position
