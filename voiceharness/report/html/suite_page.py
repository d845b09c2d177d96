"""The page of a suite: every call in a row with a way to its own page, what repeated calls came to, and the trend.

Of a suite file, its grid and its limits come first.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from voiceharness.errors import OptionError
from voiceharness.report.artefacts import PAGE
from voiceharness.report.cells import file_of, labelled, shared_names_of, told_apart
from voiceharness.report.html.figures import NONE, outcome_badge, seconds
from voiceharness.report.html.grid import grid_section, limits_section
from voiceharness.report.html.markup import Markup, joined, table, tag
from voiceharness.report.html.page import page
from voiceharness.report.html.sections import section
from voiceharness.report.html.trend import trend_section
from voiceharness.report.interruption import INTERRUPTED, shown_outcome, was_interrupted
from voiceharness.report.repeats import Repeats, repeats
from voiceharness.report.replacing import replace_file
from voiceharness.report.runs import load_history, load_suite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from voiceharness.report.document import Distribution
    from voiceharness.report.repeats import Spread
    from voiceharness.report.runs import PastRun
    from voiceharness.report.suite import SuiteCall, SuiteDocument

__all__ = ["SUITE_PAGE", "suite_page", "write_suite_page"]

SUITE_PAGE: Final = "index.html"


def write_suite_page(folder: str | Path) -> Path:
    """Write the page of a saved suite into its folder, linked to the pages of its calls, and return its path.

    Raises:
        OptionError: if there is no saved suite, or the page cannot be written.
    """
    home = Path(folder)
    suite = load_suite(home)
    pages = [_page_of(home, each["folder"]) for each in suite["calls"]]
    try:
        page_text = suite_page(suite, pages, load_history(home), earlier=lambda folder: _page_of(home, folder))
        replace_file(home / SUITE_PAGE, page_text.encode())
    except OSError as error:
        raise OptionError(f"cannot write {home / SUITE_PAGE}: {error.strerror}") from error
    return home / SUITE_PAGE


def _page_of(home: Path, folder: str | None) -> str | None:
    """Find a call's page below the suite's folder; the suite may have been moved as a whole."""
    name = None if folder is None else Path(folder).name
    return f"{quote(name)}/{PAGE}" if name and (home / name / PAGE).exists() else None


def suite_page(
    suite: SuiteDocument,
    pages: Sequence[str | None],
    history: Sequence[PastRun] = (),
    *,
    earlier: Callable[[str | None], str | None] = lambda _folder: None,
) -> str:
    """Make the page of a suite; ``pages`` are the addresses of its calls' pages, in the same order.

    ``earlier`` finds the page of an earlier call by its folder, None where there is none.
    """
    calls = suite["calls"]
    parts = [
        tag("header", _header(suite), class_="verdict"),
        grid_section(suite, pages),
        limits_section(suite.get("limits", ())),
        trend_section(history),
        _calls_section(suite, pages, earlier),
        _repeats_section([each for each in repeats(told_apart(calls)) if each.n > 1]),
    ]
    return page(f"{suite['name']}: {len(calls)} call{'s' * (len(calls) != 1)}", *parts, scripts=("suite.js",))


def _header(suite: SuiteDocument) -> Markup:
    outcome = "passed" if suite["exit_code"] == 0 else f"exit code {suite['exit_code']}"
    totals = [outcome_badge(name, [f"{count} {name}"]) for name, count in suite["counts"].items()]
    if interrupted := sum(was_interrupted(each["call"]) for each in suite["calls"]):
        totals.append(outcome_badge(INTERRUPTED, [f"{interrupted} interrupted"]))
    if missing := suite.get("missing", ()):
        totals.append(outcome_badge("not made", [f"{len(missing)} not made"]))
    kept = sum(each.get("made") == "earlier" for each in suite["calls"])
    if kept:
        totals.append(tag("span", f"{kept} kept from the earlier run", class_="badge"))
    return joined([tag("h1", suite["name"], " ", outcome_badge(outcome)), tag("div", *totals, class_="totals")])


# Calls

_COLUMNS: Final = (
    ("scenario", "text"),
    ("outcome", "text"),
    ("adapter", "text"),
    ("seed", "number"),
    ("duration", "number"),
    ("response_latency p50", "number"),
    ("response_latency maximum", "number"),
    ("stop_latency maximum", "number"),
    ("findings", "number"),
)


def _calls_section(
    suite: SuiteDocument, pages: Sequence[str | None], earlier: Callable[[str | None], str | None]
) -> Markup:
    head = (
        tag("th", tag("button", name, type="button", data_sort=kind), scope="col", aria_sort="none")
        for name, kind in _COLUMNS
    )
    calls, shared = suite["calls"], shared_names_of(suite)
    files = (file_of(each) if each["call"]["scenario"] in shared else None for each in calls)
    rows = (_call_row(*row, earlier) for row in zip(calls, pages, files, strict=True))
    outcomes = list(dict.fromkeys(shown_outcome(each["call"]) for each in calls))
    return section(
        "Calls",
        _filters(outcomes, len(calls)),
        table("Every call; a heading sorts", head, rows, id="calls-table"),
        name="calls",
        count=len(calls),
    )


def _filters(outcomes: Iterable[str], total: int) -> Markup:
    boxes = (
        tag("label", tag("input", type="checkbox", name="outcome", value=outcome, checked=True), " ", outcome)
        for outcome in outcomes
    )
    search = tag("input", type="search", id="search", placeholder="scenario, adapter, reason")
    return tag(
        "form",
        tag("label", "Find ", search),
        tag("fieldset", tag("legend", "Outcomes"), *boxes),
        tag("output", f"{total} of {total} shown", id="shown", class_="quiet", aria_live="polite"),
        class_="filters",
        role="search",
    )


def _call_row(
    each: SuiteCall, address: str | None, file: str | None, earlier: Callable[[str | None], str | None]
) -> Markup:
    call = each["call"]
    metrics, outcome, where = call["metrics"], shown_outcome(call), labelled(each)["adapter"]
    name = call["scenario"] if address is None else tag("a", call["scenario"], href=address)
    reason = next(iter(call["explanation"].splitlines()), None)
    told = (file and tag("p", file, class_="why"), reason and tag("p", reason, class_="why"), _history(each, earlier))
    faults = [finding["kind"] for finding in call["findings"]]
    cells = [
        tag("th", name, *told, scope="row", class_="call"),
        _cell(outcome_badge(outcome), outcome),
        _cell(where, where),
        _cell(call["seed"], call["seed"]),
        *_times(None if metrics is None else metrics["duration"]),
        *_latencies(None if metrics is None else metrics["response_latency"]),
        *_times(None if metrics is None else metrics["stop_latency"]["maximum"]),
        _cell(joined(tag("div", kind) for kind in dict.fromkeys(faults)) or NONE, len(faults)),
    ]
    return tag("tr", *cells, data_outcome=outcome)


def _history(each: SuiteCall, earlier: Callable[[str | None], str | None]) -> Markup | None:
    """Say whether a call is of this run, where only what had failed was called again."""
    if "made" not in each:
        return None
    if each["made"] == "earlier":
        return tag("p", "kept from the earlier run", class_="why")
    before = (tag("a", one["outcome"], href=earlier(one["folder"])) for one in each.get("before", ()))
    told = [part for link in before for part in (" ", link)]
    return tag("p", "made again; before:" if told else "made now", *told, class_="why")


def _latencies(figures: Distribution | None) -> Iterator[Markup]:
    yield from _times(None if figures is None else figures["p50"]["value"])
    yield from _times(None if figures is None else figures["maximum"])


def _times(value: float | None) -> Iterator[Markup]:
    yield _cell(seconds(value), "" if value is None else value)


def _cell(shown: object, value: object) -> Markup:
    return tag("td", shown, data_value=value)


# Repeats


def _repeats_section(repeated: Sequence[Repeats]) -> Markup | None:
    if not repeated:
        return None
    rows = (
        (
            each.scenario,
            each.adapter,
            each.n,
            tag("span", f"{each.outcomes.get('passed', 0)} of {each.n}", " ", _flaky(each)),
            f"{each.low:.0%} to {each.high:.0%}",
            _spread(each.figures, "response_latency.mean"),
            _spread(each.figures, "stop_latency.mean"),
            ", ".join(f"{reason} {count}x" for reason, count in each.reasons.items()) or NONE,
        )
        for each in repeated
    )
    head = ("scenario", "adapter", "n", "passed", "95 % interval", "response_latency mean", "stop_latency mean", "why")
    note = "Of each figure the median over the calls, its range, and the standard deviation (of the median deviation)."
    shown = table("Scenarios that were called more than once", head, rows)
    return section("Repeats", shown, tag("p", note, class_="quiet"), name="repeats", count=len(repeated))


def _flaky(each: Repeats) -> Markup | None:
    return tag("span", "flaky", class_="badge warning") if each.flaky else None


def _spread(figures: Mapping[str, Spread], name: str) -> str:
    figure = figures.get(name)
    if figure is None or figure.median is None:
        return NONE
    deviation = "" if figure.deviation is None else f", sd {figure.deviation:.3f}"
    return f"{figure.median:.3f} s ({figure.minimum:.3f} to {figure.maximum:.3f}{deviation})"
