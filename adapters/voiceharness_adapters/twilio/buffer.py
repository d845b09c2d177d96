"""The carrier's playout buffer as a limit: ten minutes of audio, and so many marks, may wait."""

from __future__ import annotations

from typing import Final

from voiceharness.clock import NS

__all__ = ["MAX_MARKS", "MAX_SECONDS", "BufferLimit"]

MAX_SECONDS: Final = 600
"""More audio than this is discarded (Twilio warning 31931)."""

MAX_MARKS: Final = 10_000


class BufferLimit:
    """How much of the agent's audio and how many of its marks are waiting, by arithmetic."""

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self._empty_ns = 0
        self.marks = 0

    def admit(self, samples: int, now_ns: int) -> int:
        """Return how many of these samples still fit, and count them as waiting."""
        start = max(self._empty_ns, now_ns)
        room = (now_ns + MAX_SECONDS * NS - start) * self._rate // NS
        admitted = min(samples, room)
        self._empty_ns = start + admitted * NS // self._rate
        return admitted

    def clear(self, now_ns: int) -> None:
        """Forget the audio that waits."""
        self._empty_ns = now_ns
