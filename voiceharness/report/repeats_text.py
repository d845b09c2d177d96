"""Repeated calls as text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voiceharness.report.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from voiceharness.report.repeats import Repeats, Spread

__all__ = ["passing_text", "repeats_text"]


def repeats_text(repeated: Iterable[Repeats]) -> str:
    """Tell of scenarios that were called more than once: how often they passed, and how their latencies scatter."""
    lines = []
    for each in repeated:
        if each.n > 1:
            flaky = "flaky: " if each.flaky else ""
            lines.append(f"{flaky}{each.scenario} ({each.adapter}): {passing_text(each)}")
            lines += [f"    {name} {_scatter(each.figures[name])}" for name in _TOLD if _known(each, name)]
    return "".join(f"{printable(line)}\n" for line in lines)


_TOLD = ("response_latency.mean", "response_latency.maximum", "stop_latency.mean", "stop_latency.maximum")


def passing_text(repeated: Repeats) -> str:
    """Say how many calls passed, between which shares the truth is likely to lie, and why the others did not."""
    reasons = ", ".join(f"{reason} {count} times" for reason, count in repeated.reasons.items())
    passed = f"{repeated.outcomes.get('passed', 0)} of {repeated.n} passed"
    return f"{passed} (95 % interval {repeated.low:.2f} to {repeated.high:.2f}): {reasons}".removesuffix(": ")


def _known(repeated: Repeats, name: str) -> bool:
    return name in repeated.figures and repeated.figures[name].n > 0


def _scatter(figure: Spread) -> str:
    deviation = "" if figure.deviation is None else f", standard deviation {figure.deviation:.3f} s"
    missing = f", missing {figure.missing}" if figure.missing else ""
    return (
        f"median {figure.median:.3f} s, {figure.minimum:.3f} to {figure.maximum:.3f}{deviation} (n {figure.n}{missing})"
    )
