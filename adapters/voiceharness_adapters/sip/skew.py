"""How far the time of a sender's packets falls behind their timestamps (RFC 3550, 5.1: a clock that keeps time).

A sender that waits a frame's time after the work of each frame is a little later with every packet, and its timestamps
do not show it: whoever plays what it sends runs out of sound, or is seconds late in the end.
"""

from __future__ import annotations

from collections import deque
from typing import Final

__all__ = ["SkewMeter"]

SEVERAL: Final = 10
"""Packets, of which the least delayed says how far apart time and timestamps are: single ones may be late."""

SETTLING_NS: Final = 300_000_000
"""The same for the first ones after a pause, which may come all at once."""

PAUSE_NS: Final = 200_000_000
"""A sender that is silent for longer pauses, and counts from there."""


class SkewMeter:
    """Fed with the sound that came so far by its timestamps, and the time, in nanoseconds, whenever sound came."""

    def __init__(self) -> None:
        self._before_ns = 0
        self._news_ns: int | None = None
        self._sound_ns = 0
        self._begun_ns = 0
        self._first_ns = 0
        self._recent: deque[int] = deque(maxlen=SEVERAL)

    @property
    def skew_ns(self) -> int:
        """By how much later than at first sound comes, by its timestamps; pauses and jumps aside."""
        return self._before_ns + self._since

    @property
    def _since(self) -> int:
        """The same, since the latest pause."""
        return min(self._recent) - self._first_ns if self._recent else 0

    def take(self, sound_ns: int, at_ns: int) -> None:
        """Take what came."""
        paused = self._news_ns is None or at_ns - self._news_ns > PAUSE_NS
        if paused or abs(sound_ns - self._sound_ns) > PAUSE_NS:
            self._before_ns += self._since
            self._begun_ns, self._first_ns = at_ns, at_ns - sound_ns
            self._recent.clear()
        self._news_ns, self._sound_ns = at_ns, sound_ns
        self._recent.append(at_ns - sound_ns)
        if at_ns - self._begun_ns <= SETTLING_NS:
            self._first_ns = min(self._first_ns, at_ns - sound_ns)
