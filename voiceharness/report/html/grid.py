"""The calls of a suite file at a glance, a row for each scenario, a column for each adapter and line; its limits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from voiceharness.report.cells import cell_text, variant
from voiceharness.report.html.figures import NONE, outcome_badge, seconds
from voiceharness.report.html.markup import Markup, joined, table, tag
from voiceharness.report.html.sections import section
from voiceharness.report.interruption import shown_outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from voiceharness.report.limits import LimitDocument
    from voiceharness.report.suite import SuiteDocument

__all__ = ["grid_section", "limits_section"]


@dataclass(slots=True)
class _Square:
    """All calls of a scenario over one variant: outcome, page and name of each."""

    calls: list[tuple[str, str | None, str]] = field(default_factory=list)

    @property
    def shown(self) -> Markup:
        """How many passed, in the colour of the gravest, with a way to the first that did not pass."""
        counted = [call for call in self.calls if call[0] != "unsupported"] or self.calls
        outcome, address, _ = next((call for call in counted if call[0] != "passed"), counted[0])
        passed = sum(call[0] == "passed" for call in counted)
        text = f"{passed} of {len(counted)}" if len(counted) > 1 and outcome != "unsupported" else outcome
        badge = outcome_badge(outcome, [text])
        told = "\n".join(f"{name}: {each}" for each, _, name in self.calls)
        return tag("a", badge, href=address, title=told) if address else tag("span", badge, title=told)


def grid_section(suite: SuiteDocument, pages: Sequence[str | None]) -> Markup | None:
    """Show the grid of a suite file; nothing for calls that have no place in one. ``pages`` are those of the calls."""
    squares: dict[tuple[str, str], dict[str, _Square]] = {}
    columns: dict[str, None] = {}
    for row, column, call in _placed(suite, pages):
        columns[column] = None
        squares.setdefault(row, {}).setdefault(column, _Square()).calls.append(call)
    if not squares:
        return None
    names = [name for name, _ in squares]
    rows = (
        (name if names.count(name) == 1 else f"{name} ({file})", *(_shown(row.get(column)) for column in columns))
        for (name, file), row in squares.items()
    )
    note = "Of each the calls that passed, over all seeds and repeats. A badge leads to the first call that did not."
    shown = table("Scenarios by adapters and lines", ("scenario", *columns), rows, id="grid-table")
    return section("Overview", shown, tag("p", note, class_="quiet"), name="grid")


def limits_section(limits: Sequence[LimitDocument]) -> Markup | None:
    """Show how all calls together stand to the limits of the suite."""
    if not limits:
        return None
    rows = (
        (each["kind"], _verdict(each["verdict"]), each["explanation"], joined(_contributions(each)) or NONE)
        for each in limits
    )
    head = ("limit", "verdict", "wanted and measured", "calls that contributed most")
    return section("Limits of all calls", table("What all calls together must keep to", head, rows), name="limits")


def _placed(
    suite: SuiteDocument, pages: Sequence[str | None]
) -> Iterator[tuple[tuple[str, str], str, tuple[str, str | None, str]]]:
    for each, page in zip(suite["calls"], pages, strict=True):
        if "cell" in each:
            call, cell = each["call"], each["cell"]
            yield (call["scenario"], cell["file"]), variant(cell), (shown_outcome(call), page, cell_text(cell))
    for missing in suite.get("missing", ()):
        cell = missing["cell"]
        yield (missing["scenario"], cell["file"]), variant(cell), ("not made", None, cell_text(cell))


def _shown(square: _Square | None) -> Markup | str:
    return NONE if square is None else square.shown


def _verdict(verdict: str) -> Markup:
    outcome = {"held": "passed", "broken": "failed"}.get(verdict, "unsupported")
    return outcome_badge(outcome, [verdict.replace("_", " ")])


def _contributions(limit: LimitDocument) -> Iterator[Markup]:
    for each in limit["calls"] if limit["verdict"] == "broken" else ():
        figure = "" if each["value"] is None else f": {seconds(each['value'])}"
        yield tag("div", f"{each['call']}{figure}")
