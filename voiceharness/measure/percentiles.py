"""Percentiles that say how they were computed and from how much, and decline when that is too little."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from voiceharness.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["ESTIMATOR", "Distribution", "Percentile", "describe", "percentile"]

ESTIMATOR: Final = "linear interpolation between order statistics (Hyndman and Fan 1996, type 7)"

_REPORTED: Final = (50.0, 90.0, 95.0)


@dataclass(frozen=True, slots=True)
class Percentile:
    """The ``p``-th percentile of ``n`` values; ``value`` is None where so few values say nothing about it."""

    p: float
    value: float | None
    n: int
    needed: int
    estimator: str = ESTIMATOR

    def __str__(self) -> str:
        if self.value is None:
            return f"p{self.p:g} needs {self.needed} values, not {self.n}"
        return f"p{self.p:g} {self.value:.3f} (n={self.n})"


@dataclass(frozen=True, slots=True)
class Distribution:
    """A set of figures in seconds. ``missing`` counts those that should exist and do not; it never lowers the rest."""

    n: int
    missing: int
    minimum: float | None
    mean: float | None
    maximum: float | None
    percentiles: tuple[Percentile, ...]

    def at(self, p: float) -> float | None:
        """Return one of the reported percentiles.

        Raises:
            OptionError: if it is none of them.
        """
        for each in self.percentiles:
            if each.p == p:
                return each.value
        raise OptionError(f"p{p:g} is not reported; take one of {', '.join(f'p{each:g}' for each in _REPORTED)}")


def percentile(values: Iterable[float], p: float) -> Percentile:
    """Estimate a percentile, ``0 < p < 100``.

    It takes as many values as leave one expected beyond it: 2 for the median, 10 for p90, 20 for p95, 100 for p99.

    Raises:
        OptionError: if ``p`` is not between 0 and 100.
    """
    return _percentile(sorted(values), p)


def describe(values: Iterable[float | None]) -> Distribution:
    """Summarise figures; None is a missing one."""
    figures = list(values)
    known = sorted(figure for figure in figures if figure is not None)
    n = len(known)
    return Distribution(
        n=n,
        missing=len(figures) - n,
        minimum=known[0] if known else None,
        mean=math.fsum(known) / n if known else None,
        maximum=known[-1] if known else None,
        percentiles=tuple(_percentile(known, p) for p in _REPORTED),
    )


def _percentile(ordered: Sequence[float], p: float) -> Percentile:
    if not 0 < p < 100:
        raise OptionError(f"a percentile lies between 0 and 100, not at {p:g}")
    n, needed = len(ordered), math.ceil(100 / min(p, 100 - p) - 1e-9)
    if n < needed:
        return Percentile(p, None, n, needed)
    place = (n - 1) * p / 100
    low = math.floor(place)
    high = min(low + 1, n - 1)
    return Percentile(p, ordered[low] + (ordered[high] - ordered[low]) * (place - low), n, needed)
