"""Which two sample rates were taken for each other, if a sound is heard too fast or too slow."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import Final

__all__ = ["RATES_HZ", "RateMixUp", "rate_mix_ups"]

RATES_HZ: Final = (8000, 16000, 22050, 24000, 32000, 44100, 48000)
"""The rates at which agents, their speech engines and telephone lines make and play sound."""

_NEAR: Final = 0.01
"""Two factors that differ by this share are the same; no two ratios of the rates above are that near."""


@dataclass(frozen=True, slots=True)
class RateMixUp:
    """Audio that was made at one rate in Hz and treated as if it were at another."""

    made_hz: int
    treated_hz: int

    @property
    def factor(self) -> float:
        """How many times as fast, and as high, it is heard."""
        return self.treated_hz / self.made_hz

    def __str__(self) -> str:
        """Tell of it in kHz."""
        return f"{self.made_hz / 1000:g} kHz audio treated as {self.treated_hz / 1000:g} kHz"


def rate_mix_ups(factor: float, line_hz: int) -> tuple[RateMixUp, ...]:
    """Return what explains that sound is heard ``factor`` times as fast on a line at ``line_hz``; often nothing does.

    Several pairs of rates have the same ratio: those that the line's own rate is one of are the likely ones, first as
    the rate that the audio was treated as.
    """
    pairs = (RateMixUp(made, treated) for made, treated in permutations(RATES_HZ, 2))
    found = [pair for pair in pairs if abs(pair.factor / factor - 1) <= _NEAR]
    ranks = [0 if pair.treated_hz == line_hz else 1 if pair.made_hz == line_hz else 2 for pair in found]
    return tuple(pair for pair, rank in zip(found, ranks, strict=True) if rank == min(ranks))
