"""A comparison as text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from voiceharness.report.printable import printable
from voiceharness.report.repeats_text import passing_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from voiceharness.report.compare import Change, Comparison, ScenarioComparison
    from voiceharness.report.repeats import Repeats, Spread

__all__ = ["comparison_text"]

_SIGNS: Final[Mapping[str, tuple[str, str]]] = {
    "same": ("=", "="),
    "better": ("✓", "+"),
    "worse": ("✗", "x"),
    "refused": ("‼", "!"),
    "added": ("○", "o"),
}


def comparison_text(comparison: Comparison, *, everything: bool = False, ascii_only: bool = False) -> str:
    """Tell of every scenario, with the figures that changed; with ``everything``, those that did not as well."""
    lines = []
    for each in comparison.scenarios:
        lines.append(
            f"{_SIGNS[each.verdict][ascii_only]} {each.verdict}: {each.scenario} ({each.adapter}{_sizes(each)})"
        )
        lines += [f"    not comparable: {difference}" for difference in each.refused]
        lines += [f"    {_line(change)}" for change in each.changes if everything or change.verdict != "same"]
        lines += [f"    {line}" for side in (each.base, each.new) if side is not None for line in _flaky(side, each)]
    verdicts = [each.verdict for each in comparison.scenarios]
    counts = ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in _SIGNS if verdict in verdicts)
    lines.append(f"{len(verdicts)} scenarios: {counts or 'none'}")
    return printable("\n".join(lines)) + "\n"


def _sizes(each: ScenarioComparison) -> str:
    sizes = (str(side.n) for side in (each.base, each.new) if side is not None)
    return f"; n {' and '.join(sizes)}"


def _line(change: Change) -> str:
    by = "" if change.change is None else f" ({change.change:+.3f}{_allowed(change)})"
    return f"{change.verdict}: {change.name} {_middle(change.base)} to {_middle(change.new)}{by}"


def _allowed(change: Change) -> str:
    return "" if change.allowed is None else f", allowed {change.allowed:.3f}"


def _middle(side: Spread) -> str:
    if side.median is None:
        return "none"
    return f"{side.median:.3f}" if side.deviation is None else f"{side.median:.3f} ±{side.deviation:.3f}"


def _flaky(side: Repeats, each: ScenarioComparison) -> Iterator[str]:
    if side.flaky:
        yield f"flaky in {'base' if side is each.base else 'new'}: {passing_text(side)}"
