"""How long received sound waits in a worker: measured when a stream begins, and again when its buffer ran dry.

The library does not tell when a packet came; but how many have come, asked every millisecond, does. And it tells how
much sound still waits after a tick of the media clock. The latest packet is the end of that, so what the tick took had
waited for the time since that packet came, for what still waits, and for a tick less what is in a packet. That holds
wherever between two ticks packets come: one that comes just after a tick makes the time shorter and the rest longer.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import Final

__all__ = ["ArrivalMeter"]

TICK_NS: Final = 20_000_000
_CLOSE_NS: Final = 3_000_000
_FLOWING_NS: Final = 100_000_000
_SLACK_NS: Final = 5_000_000


@dataclass(frozen=True, slots=True)
class _Look:
    packets: int
    waiting_ns: int
    at_ns: int
    tick_ns: int


class ArrivalMeter:
    """Fed with looks: packets so far, sound that waits, the time, and the time of the latest tick; in nanoseconds.

    ``enough`` is how many ticks must be measured.
    """

    def __init__(self, enough: int, *, started_ns: int) -> None:
        self._enough = enough
        self._look: _Look | None = None
        self._arrived_ns: int | None = None
        self._news_ns = started_ns
        self._packet_ns = TICK_NS
        self._waits: list[int] = []

    @property
    def done(self) -> bool:
        """Whether enough ticks were measured."""
        return len(self._waits) >= self._enough

    @property
    def wait(self) -> float | None:
        """Seconds from a packet's arrival to the tick that takes its sound; None: no tick was measured."""
        return median(self._waits) / 1e9 if self._waits else None

    def is_hurried(self, now_ns: int) -> bool:
        """Say whether a look is due every millisecond: packets come, or are about to."""
        return now_ns - self._news_ns < _FLOWING_NS

    def take(self, packets: int, waiting_ns: int, now_ns: int, tick_ns: int) -> bool:
        """Take one look; say whether it is the first to see a packet after a pause."""
        before, self._look = self._look, _Look(packets, waiting_ns, now_ns, tick_ns)
        if before is None:
            return False
        resumes = packets > before.packets and not self.is_hurried(now_ns)
        if packets != before.packets:
            self._arrive(before, self._look)
        took_ns = before.waiting_ns + (packets - before.packets) * self._packet_ns - waiting_ns
        if tick_ns != before.tick_ns and took_ns > 0:
            self._measure(self._look)
        return resumes

    def _arrive(self, before: _Look, look: _Look) -> None:
        """Note when a packet came, if it was a single one between two looks that are close enough."""
        self._news_ns = look.at_ns
        is_single = look.packets == before.packets + 1 and look.at_ns - before.at_ns <= _CLOSE_NS
        self._arrived_ns = (before.at_ns + look.at_ns) // 2 if is_single else None
        if is_single and look.tick_ns == before.tick_ns and look.waiting_ns > before.waiting_ns:
            self._packet_ns = look.waiting_ns - before.waiting_ns

    def _measure(self, look: _Look) -> None:
        if self._arrived_ns is None or look.tick_ns - self._arrived_ns > self._packet_ns + _SLACK_NS:
            return  # nothing came for this tick, or nobody knows when
        self._waits.append(look.tick_ns - self._arrived_ns + look.waiting_ns + TICK_NS - self._packet_ns)
