"""A run against an earlier one, figure by figure; or why the two cannot be compared.

Calls are matched by scenario and adapter. Two sides are comparable if the user did and said the same: same scenario,
seed, user audio, rate, kind of time, and the same way to interrupt. All repeats of one side count together: a figure
is compared by its median, and a difference counts if it is larger than the tolerance *and* larger than twice its
standard error, so that a run which merely scatters does not look worse. With fewer than three calls the scatter is
unknown, and the tolerance alone decides.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from voiceharness.report.measures import MEASURES, measure_for
from voiceharness.report.repeats import Repeats, Spread, grouped, spread
from voiceharness.report.serialization import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from voiceharness.measure.metrics import Json
    from voiceharness.report.document import CallDocument
    from voiceharness.report.measures import Better, Measure

__all__ = ["COMPARISON_FORMAT", "Change", "Comparison", "Difference", "Verdict", "compare_calls", "compare_runs"]

COMPARISON_FORMAT: Final = "voiceharness-comparison/1"

Verdict = Literal["same", "better", "worse", "changed", "unknown"]
"""``changed``: a difference that is neither better nor worse; ``unknown``: one side has no such figure."""

_ERRORS: Final = 2.0


@dataclass(frozen=True, slots=True)
class Difference:
    """Something in which two calls must not differ, and do."""

    what: str
    base: str
    new: str

    def __str__(self) -> str:
        return f"{self.what}: {self.base} and {self.new}"


@dataclass(frozen=True, slots=True)
class Change:
    """One figure on both sides. ``change`` is new minus base; up to ``allowed`` it is nothing."""

    name: str
    better: Better
    base: Spread
    new: Spread
    change: float | None
    allowed: float | None
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class ScenarioComparison:
    """One scenario on both sides. What was ``refused`` has no changes; what only the new run has, no base."""

    scenario: str
    adapter: str
    base: Repeats | None
    new: Repeats | None
    refused: tuple[Difference, ...] = ()
    changes: tuple[Change, ...] = ()

    @property
    def verdict(self) -> Literal["same", "better", "worse", "refused", "added"]:
        """What to make of it: worse if any figure is, however many are better."""
        if self.refused:
            return "refused"
        if self.base is None:
            return "added"
        verdicts = {change.verdict for change in self.changes}
        return "worse" if "worse" in verdicts else "better" if "better" in verdicts else "same"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs compared, scenario by scenario."""

    scenarios: tuple[ScenarioComparison, ...]

    @property
    def exit_code(self) -> int:
        """2 if anything could not be compared, 1 if anything is worse, else 0."""
        verdicts = {each.verdict for each in self.scenarios}
        return 2 if "refused" in verdicts else 1 if "worse" in verdicts else 0

    def to_json(self) -> dict[str, Json]:
        """Return everything as plain values, with verdicts and the exit code."""
        scenarios = (cast("dict[str, Json]", plain(each)) for each in self.scenarios)
        told = [
            {"verdict": each.verdict, **plain_one} for each, plain_one in zip(self.scenarios, scenarios, strict=True)
        ]
        return {"format": COMPARISON_FORMAT, "exit_code": self.exit_code, "scenarios": cast("Json", told)}


def compare_runs(
    base: Iterable[CallDocument], new: Iterable[CallDocument], measures: Mapping[str, Measure] = MEASURES
) -> Comparison:
    """Compare the calls of two runs."""
    before, after = grouped(base), grouped(new)
    compared = []
    for key, calls in before.items():
        counterpart = key if key in after else _over_other_adapter(key[0], before, after)
        compared.append(compare_calls(calls, after.pop(counterpart, ()) if counterpart else (), measures))
    added = (ScenarioComparison(*key, None, Repeats.of(calls)) for key, calls in after.items())
    return Comparison((*compared, *added))


def compare_calls(
    base: Sequence[CallDocument], new: Sequence[CallDocument], measures: Mapping[str, Measure] = MEASURES
) -> ScenarioComparison:
    """Compare the calls of one scenario; ``base`` has at least one."""
    before = Repeats.of(base)
    if not new:
        missing = Difference("call", "made", "not made")
        return ScenarioComparison(before.scenario, before.adapter, before, None, (missing,))
    after = Repeats.of(new)
    refused = tuple(_differences(base, new))
    changes = () if refused else tuple(_changes(before, after, measures))
    return ScenarioComparison(after.scenario, after.adapter, before, after, refused, changes)


_Key = tuple[str, str]


def _over_other_adapter(scenario: str, before: Iterable[_Key], after: Iterable[_Key]) -> _Key | None:
    """Find the same scenario over an adapter that the base does not have; comparing them is refused by name."""
    known = set(before)
    return next((key for key in after if key[0] == scenario and key not in known), None)


# What must be the same


def _differences(base: Sequence[CallDocument], new: Sequence[CallDocument]) -> Iterator[Difference]:
    conditions = [[_conditions(call) for call in calls] for calls in (base, new)]
    for what in dict.fromkeys(name for side in conditions for call in side for name in call):
        before, after = ({call[what] for call in side if what in call} for side in conditions)
        if before and after and before != after:
            yield Difference(what, ", ".join(sorted(before)), ", ".join(sorted(after)))


def _conditions(call: CallDocument) -> dict[str, str]:
    """Tell under what conditions a call was made, as far as it is known: one that broke early knows less."""
    time = "virtual" if call["virtual"] else "real"
    conditions = {"adapter": call["adapter"], "seed": str(call["seed"]), "time": time}
    conditions |= {name: str(call["facts"][name]) for name in ("scenario", "user_audio") if name in call["facts"]}
    metrics = cast("Mapping[str, Any] | None", call["metrics"])
    if metrics is not None:
        conditions["rate"] = str(metrics["rate"])
        conditions |= {f"via of step {each['step'] + 1}": each["via"] for each in metrics["barge_ins"] if _asked(each)}
    return conditions


def _asked(barge_in: Mapping[str, Any]) -> bool:
    return barge_in["source"] == "interrupt" and isinstance(barge_in["step"], int)


# Figures


def _changes(base: Repeats, new: Repeats, measures: Mapping[str, Measure]) -> Iterator[Change]:
    yield _passing(base, new)
    none = spread(())
    for name in dict.fromkeys((*base.figures, *new.figures)):
        absent = spread([0.0]) if name.startswith("findings[") else none
        before, after = base.figures.get(name, absent), new.figures.get(name, absent)
        yield _change(name, measure_for(name, measures), before, after)


def _change(name: str, measure: Measure, base: Spread, new: Spread) -> Change:
    if base.median is None or new.median is None:
        same = base.n == new.n == 0
        return Change(name, measure.better, base, new, None, None, "same" if same else "unknown")
    change = new.median - base.median
    allowed = max(measure.tolerance(base.median), _ERRORS * math.hypot(base.error, new.error))
    return Change(name, measure.better, base, new, change, allowed, _verdict(change, allowed, measure.better))


def _verdict(change: float, allowed: float, better: Better) -> Verdict:
    if abs(change) <= allowed + 1e-9:
        return "same"
    if better == "neither":
        return "changed"
    return "better" if (change < 0) == (better == "lower") else "worse"


def _passing(base: Repeats, new: Repeats) -> Change:
    """Compare the shares that passed: less than all is worse than all; else the intervals must not overlap."""
    before, after = (Spread(each.n, 0, each.low, each.rate, each.high, None) for each in (base, new))
    change = new.rate - base.rate
    verdict: Verdict = "same"
    if new.rate < base.rate and (base.rate == 1 or new.high < base.low):
        verdict = "worse"
    elif new.rate > base.rate and (new.rate == 1 or new.low > base.high):
        verdict = "better"
    return Change("passed", "higher", before, after, change, None, verdict)
