"""The same call made several times: medians, spread, and how often it passed."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Final

from voiceharness.report.interruption import was_interrupted
from voiceharness.report.measures import call_figures

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from voiceharness.report.document import CallDocument
    from voiceharness.scenario.result import Outcome

__all__ = ["Repeats", "Spread", "grouped", "repeats", "spread"]

_NORMAL: Final = 1.4826
"""By this the median absolute deviation of normal figures is their standard deviation."""

_MEDIAN: Final = math.sqrt(math.pi / 2)
"""By this the median of normal figures is less certain than their mean."""

_Z95: Final = 1.96


@dataclass(frozen=True, slots=True)
class Spread:
    """One figure over ``n`` calls that have it; ``missing`` should and do not.

    ``deviation`` is a standard deviation estimated from the median absolute deviation, so one outlier does not make
    it; None below three figures.
    """

    n: int
    missing: int
    minimum: float | None
    median: float | None
    maximum: float | None
    deviation: float | None

    @property
    def error(self) -> float:
        """The standard error of the median; 0 where the spread is unknown."""
        return 0.0 if self.deviation is None else _MEDIAN * self.deviation / math.sqrt(self.n)


def spread(figures: Iterable[float | None]) -> Spread:
    """Describe a figure of repeated calls; None is a missing one."""
    given = list(figures)
    known = [figure for figure in given if figure is not None]
    missing = len(given) - len(known)
    if not known:
        return Spread(0, missing, None, None, None, None)
    middle = median(known)
    deviation = _NORMAL * median(abs(figure - middle) for figure in known) if len(known) >= 3 else None
    return Spread(len(known), missing, min(known), middle, max(known), deviation)


@dataclass(frozen=True, slots=True)
class Repeats:
    """All calls of one scenario over one adapter.

    ``rate`` is the share that passed, ``low`` to ``high`` its 95 % interval (Wilson). A scenario is *flaky* if some of
    its calls passed and some did not. ``reasons`` counts the calls in which each expectation was not met, or each
    error or protocol fault occurred.
    """

    scenario: str
    adapter: str
    n: int
    outcomes: Mapping[Outcome, int]
    rate: float
    low: float
    high: float
    flaky: bool
    reasons: Mapping[str, int]
    figures: Mapping[str, Spread]

    @classmethod
    def of(cls, calls: Sequence[CallDocument]) -> Repeats:
        """Describe calls of one scenario over one adapter; at least one."""
        outcomes = Counter(call["outcome"] for call in calls)
        passed, n = outcomes["passed"], len(calls)
        low, high = _wilson(passed, n)
        return cls(
            scenario=calls[0]["scenario"],
            adapter=calls[0]["adapter"],
            n=n,
            outcomes=dict(outcomes),
            rate=passed / n,
            low=low,
            high=high,
            flaky=0 < passed < n,
            reasons=dict(Counter(reason for call in calls for reason in _reasons(call)).most_common()),
            figures=_spreads(calls),
        )


def repeats(calls: Iterable[CallDocument]) -> tuple[Repeats, ...]:
    """Put calls of the same scenario and adapter together, in the order of their first appearance."""
    return tuple(Repeats.of(group) for group in grouped(calls).values())


def grouped(calls: Iterable[CallDocument]) -> dict[tuple[str, str], list[CallDocument]]:
    """Put calls together by scenario and adapter, without those that were interrupted."""
    groups: dict[tuple[str, str], list[CallDocument]] = {}
    for call in calls:
        if not was_interrupted(call):
            groups.setdefault((call["scenario"], call["adapter"]), []).append(call)
    return groups


def _spreads(calls: Sequence[CallDocument]) -> dict[str, Spread]:
    each = [call_figures(call) for call in calls]
    names = dict.fromkeys(name for figures in each for name in figures)
    absent = {name: 0.0 if name.startswith("findings[") else None for name in names}
    return {name: spread(figures.get(name, absent[name]) for figures in each) for name in names}


def _reasons(call: CallDocument) -> set[str]:
    reasons = {check["kind"] for check in call["checks"] if not check["passed"]}
    reasons |= {fault["kind"] for fault in call["protocol_faults"]}
    error = call["error"]
    return reasons if error is None else {*reasons, error["type"]}


def _wilson(passed: int, n: int) -> tuple[float, float]:
    """Return the 95 % interval of a share (Wilson 1927), which holds for few calls, and at 0 and 1."""
    share, square = passed / n, _Z95**2 / n
    centre = (share + square / 2) / (1 + square)
    half = _Z95 * math.sqrt(share * (1 - share) / n + square / (4 * n)) / (1 + square)
    return max(0.0, centre - half), min(1.0, centre + half)
