"""The worker's media clock on the line: which position of the call a tick stands for, in both directions.

Position 0 leaves in tick ``first``. As on a phone, the frame of a tick leaves when its last sample has passed; what the
worker hears in a tick was on the wire ``delay`` samples before: that is how long its jitter buffer and its loss
concealment hold sound back, and it is constant within a call. The line's present is the end of what has been heard,
by the ``usual`` delay: the measured one comes a moment later, and the line's clock must not jump.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["Ticks"]

_NS: Final = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Ticks:
    """Tick ``first`` sends position 0; a frame is ``frame`` samples at ``rate`` hertz."""

    first: int
    frame: int
    rate: int
    usual: int
    delay: int

    def sent_at(self, tick: int) -> int:
        """Return the position of the user's frame that leaves in a tick."""
        return (tick - self.first) * self.frame

    def heard_at(self, tick: int) -> int:
        """Return the position at which the first sample heard in a tick was on the wire."""
        return (tick + 1 - self.first) * self.frame - self.delay

    def due_ns(self, position: int, *, tick: int, at_ns: int) -> int:
        """Return when a position is the line's present, given the time of a tick."""
        present = (tick + 2 - self.first) * self.frame - self.usual
        return at_ns + (position - present) * _NS // self.rate

    def line_time(self, at_ns: int) -> int:
        """Return what the line's clock must be told for something that was on the wire at a time.

        On the wire a tick's frame ends at its tick; the line knows of it when it has been heard.
        """
        return at_ns + (self.usual - self.frame) * _NS // self.rate
