"""How long received sound waits in a worker: measured at the begin of a call.

A packet arrives somewhere between two ticks of the media clock, and is heard one tick after the next. The library does
not tell when it came; but its packet count, asked every millisecond for a few packets, does. Peers keep their pace, so
the wait is constant within a call.
"""

from __future__ import annotations

import math
from typing import Final

__all__ = ["ArrivalMeter"]

TICK_NS: Final = 20_000_000
_HELD_TICKS: Final = 1
_ENOUGH: Final = 5
_CLOSE_NS: Final = 3_000_000
_EDGE: Final = 0.1


class ArrivalMeter:
    """Fed with ``(packets so far, time, time of any tick)`` in nanoseconds, ideally every millisecond."""

    def __init__(self) -> None:
        self._packets: int | None = None
        self._asked_ns = 0
        self._phases: list[float] = []

    @property
    def done(self) -> bool:
        """Whether enough packets were seen."""
        return len(self._phases) >= _ENOUGH

    def take(self, packets: int, now_ns: int, tick_ns: int) -> None:
        """Take one look. A packet counts if it came between two looks that are close enough."""
        before, asked_ns = self._packets, self._asked_ns
        self._packets, self._asked_ns = packets, now_ns
        if before is None or packets != before + 1 or now_ns - asked_ns > _CLOSE_NS:
            return
        arrived_ns = (asked_ns + now_ns) // 2
        self._phases.append((tick_ns - arrived_ns) % TICK_NS / TICK_NS)

    @property
    def wait(self) -> float | None:
        """Seconds from a packet's arrival to the tick that takes it out of the buffer.

        None where packets come just as the clock ticks: a little jitter then makes it one tick more or less.
        """
        angles = [2 * math.pi * phase for phase in self._phases]  # phases wrap around, so they are averaged as angles
        mean = math.atan2(sum(map(math.sin, angles)), sum(map(math.cos, angles))) / (2 * math.pi) % 1.0
        return (mean + _HELD_TICKS) * TICK_NS / 1e9 if _EDGE < mean < 1 - _EDGE else None
