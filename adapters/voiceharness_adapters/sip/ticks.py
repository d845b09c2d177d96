"""The worker's media clock on the line: which position of the call a tick stands for, in both directions.

A frame of the user must be at the worker before its tick, so it is asked for ``lead`` ticks ahead. Position 0 is the
first frame that is asked for. As on a phone, the frame of a tick leaves when its last sample has passed; what the
worker hears in a tick was on the wire ``delay`` samples before: that is how long its jitter buffer and its loss
concealment hold sound back, and it is constant within a call.
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
    lead: int
    delay: int

    def asked_at(self, tick: int) -> int:
        """Return the position of the user's frame that is asked for in a tick."""
        return (tick + self.lead - self.first) * self.frame

    def heard_at(self, tick: int) -> int:
        """Return the position at which the first sample heard in a tick was on the wire."""
        return (tick + 1 - self.first) * self.frame - self.delay

    def line_time(self, at_ns: int) -> int:
        """Return what the line's clock must be told for something that happened at a time.

        The line takes the position that is asked for as the present, which is ``lead - 1`` ticks early.
        """
        return at_ns - (self.lead - 1) * self.frame * _NS // self.rate

    def time_of(self, position: int, *, tick: int, at_ns: int) -> int:
        """Return when the line's clock stood at a position, given the time of a tick."""
        return at_ns - (self.asked_at(tick) - position) * _NS // self.rate
