"""What the arrivals tell about the sound on the agent's track: whose it is, and since when it was there to be heard."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from voiceharness.audio.edges import Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from voiceharness.line.record import Arrival

__all__ = ["Playout"]


class Playout:
    """The heard part of a call's arrivals, by position. Empty on a transport that has no arrivals."""

    def __init__(self, arrivals: Iterable[Arrival]) -> None:
        """Keep what was heard; a playout queue hears its arrivals one after another, so they never overlap."""
        self.heard = sorted((arrival for arrival in arrivals if arrival.heard > 0), key=lambda arrival: arrival.start)
        self._starts = [arrival.start for arrival in self.heard]

    def at(self, position: int) -> Arrival | None:
        """Find the arrival that is heard at a position."""
        index = bisect_right(self._starts, position) - 1
        if index < 0:
            return None
        arrival = self.heard[index]
        return arrival if position < arrival.start + arrival.heard else None

    def item(self, position: int) -> str | None:
        """Name the item that is heard at a position; None if it has no name."""
        arrival = self.at(position)
        return arrival.item if arrival else None

    def between(self, start: int, end: int) -> list[Arrival]:
        """List the arrivals whose first sample is heard in a stretch."""
        return self.heard[bisect_left(self._starts, start) : bisect_left(self._starts, end)]

    def holes(self, start: int, end: int) -> Iterator[Span]:
        """Find where the queue had run dry before an arrival that is heard in a stretch."""
        first = max(bisect_left(self._starts, start), 1)
        for index in range(first, bisect_left(self._starts, end)):
            before = self.heard[index - 1]
            dry = before.start + before.heard
            if dry < self._starts[index]:
                yield Span(dry, self._starts[index])
