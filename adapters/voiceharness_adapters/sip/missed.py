"""Ticks that a media clock left out: it was so far behind that it gave them up instead of catching up.

pjsua2's clock gives up what is more than half a second behind (pjmedia/clock_thread.c), and makes up for less in a
burst. Then its ticks are late for a moment, but soon on time again; what it gave up stays behind for ever. It looks
only after the first late tick, so half a second and a tick are still made up for.
"""

from __future__ import annotations

from typing import Final

__all__ = ["MissedTicks"]

TICK_NS: Final = 20_000_000
GIVEN_UP_NS: Final = 540_000_000
"""So late the clock does not catch up: half a second, a tick, and the way from its thread to here."""

LASTING_NS: Final = 100_000_000
SAME_PACE: Final = 3
"""Ticks at their usual distance, after which whatever is behind stays so."""


class MissedTicks:
    """Fed with the time of every tick, in nanoseconds."""

    def __init__(self) -> None:
        self._due_ns: int | None = None
        self._before_ns = 0
        self._paced = 0

    def take(self, at_ns: int) -> int:
        """Take a tick; return how many before it were left out, as far as that was not told yet."""
        if self._due_ns is None:
            self._due_ns = at_ns
        is_paced = 0.75 * TICK_NS <= at_ns - self._before_ns <= 2 * TICK_NS
        self._before_ns = at_ns
        self._paced = self._paced + 1 if is_paced else 0
        late_ns = at_ns - self._due_ns
        stays_behind = late_ns > LASTING_NS and self._paced >= SAME_PACE
        missed = late_ns // TICK_NS if late_ns > GIVEN_UP_NS or stays_behind else 0
        self._due_ns = min(self._due_ns + missed * TICK_NS, at_ns) + TICK_NS
        return missed
