"""The map between the loop's time and media positions, and how well it holds.

A line that paces itself defines the map: position 0 is the answer, and one sample lasts 1/rate s of the loop's clock.
A transport with a clock of its own (a sound card, a SIP stack's tick) reports ``(position, time)`` pairs; a running
least-squares fit follows them, and its slope and residual say how far that clock can be believed. Until they span a
second, the nominal rate is believed instead: two that come microseconds apart have no slope.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from voiceharness.clock import NS

__all__ = ["ClockFit", "SampleClock"]

LEAST_SPAN: Final = 1.0
"""Seconds that observations must span before their slope is believed."""


@dataclass(frozen=True, slots=True)
class ClockFit:
    """How the transport's sample clock runs against the loop's.

    ``drift_ppm``: positive when the transport is fast; ``residual_ms``: standard deviation of the observations around
    the fit; ``observations``: how many there were (0: the line itself keeps time, and both are 0 by definition).
    """

    drift_ppm: float
    residual_ms: float
    observations: int


class SampleClock:
    """Convert between nanoseconds on the loop's clock and positions at the line's rate."""

    def __init__(self, start_ns: int, rate: int) -> None:
        self.start_ns = start_ns
        self.rate = rate
        self._n = 0
        self._first_x = self._last_x = 0.0
        self._mean_x = self._mean_y = 0.0
        self._sxx = self._sxy = self._syy = 0.0

    def position_at(self, time_ns: int) -> int:
        """Return the position at a time, rounded to the nearest sample."""
        elapsed = time_ns - self.start_ns
        if self._n < 2:
            return (elapsed * self.rate + NS // 2) // NS
        return round(self._mean_y + self._slope() * (elapsed / NS - self._mean_x))

    def time_of(self, position: int) -> int:
        """Return the first nanosecond at which a position is reached."""
        if self._n < 2:
            return self.start_ns - (-position * NS // self.rate)
        seconds = self._mean_x + (position - self._mean_y) / self._slope()
        return self.start_ns + math.ceil(seconds * NS)

    def observe(self, position: int, time_ns: int) -> None:
        """Take in that the transport's clock stood at a position at a time."""
        x = (time_ns - self.start_ns) / NS
        self._n += 1
        self._first_x, self._last_x = x if self._n == 1 else self._first_x, x
        dx, dy = x - self._mean_x, position - self._mean_y
        self._mean_x += dx / self._n
        self._mean_y += dy / self._n
        self._sxx += dx * (x - self._mean_x)
        self._sxy += dx * (position - self._mean_y)
        self._syy += dy * (position - self._mean_y)

    def fit(self) -> ClockFit:
        """Return the fit so far."""
        if self._n < 3:
            return ClockFit(0.0, 0.0, self._n)
        slope = self._slope()
        residual = math.sqrt(max(0.0, self._syy - slope * self._sxy) / (self._n - 2))
        return ClockFit((slope / self.rate - 1) * 1e6, residual / self.rate * 1000, self._n)

    def _slope(self) -> float:
        believed = self._last_x - self._first_x >= LEAST_SPAN
        return self._sxy / self._sxx if believed else float(self.rate)
