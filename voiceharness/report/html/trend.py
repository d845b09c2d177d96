"""How a suite has fared from run to run: outcomes as columns, the median response latency as a line above them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from voiceharness.report.html.figures import NONE, seconds
from voiceharness.report.html.markup import Markup, table, tag
from voiceharness.report.html.sections import section

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from voiceharness.report.runs import PastRun

__all__ = ["trend_section"]

_MOST_RUNS: Final = 60
_WIDTH: Final = 1200
_LEFT: Final = 46
_WIDEST: Final = 44
_LINE: Final = (18, 88)
"""Top and bottom of the line's part, then of the columns' part, in the picture's units."""
_COLUMNS: Final = (106, 196)
_HEIGHT: Final = 214


def trend_section(history: Sequence[PastRun]) -> Markup | None:
    """Draw the latest runs, and tabulate them for those who do not see the drawing; nothing for a first run."""
    runs = history[-_MOST_RUNS:]
    if len(runs) < 2:
        return None
    drawn = tag(
        "svg",
        *_line(runs),
        *_columns(runs),
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        class_="trend",
        role="img",
        aria_label=f"Outcomes and median response latency of the latest {len(runs)} runs",
    )
    listed = tag("details", tag("summary", "The same as a table"), _table(runs))
    return section("Trend", tag("div", drawn, class_="wide"), listed, name="trend", count=len(history))


def _split(run: PastRun) -> tuple[int, int, int]:
    passed, skipped = run["counts"].get("passed", 0), run["counts"].get("unsupported", 0)
    return passed, run["calls"] - passed - skipped, skipped


def _step(runs: Sequence[PastRun]) -> float:
    return (_WIDTH - _LEFT) / len(runs)


def _columns(runs: Sequence[PastRun]) -> Iterator[Markup]:
    top, bottom = _COLUMNS
    most = max(1, *(run["calls"] for run in runs))
    yield _label(0, top + 10, f"{most}")
    yield _label(0, bottom, "0 calls")
    yield tag("line", x1=_LEFT, x2=_WIDTH, y1=bottom, y2=bottom, class_="axis")
    step = _step(runs)
    width = min(step * 0.7, _WIDEST)
    for index, run in enumerate(runs):
        x, y = _LEFT + step * (index + 0.5) - width / 2, float(bottom)
        bars = []
        for count, kind in zip(_split(run), ("passed", "failed", "skipped"), strict=True):
            height = (bottom - top) * count / most
            y -= height
            bars.append(
                tag("rect", x=f"{x:.1f}", y=f"{y:.1f}", width=f"{width:.1f}", height=f"{height:.1f}", class_=kind)
            )
        yield tag("g", tag("title", _told(run)), *bars)
    yield _label(_LEFT, _HEIGHT - 2, runs[0]["at"][:10])
    yield tag("text", runs[-1]["at"][:10], x=_WIDTH, y=_HEIGHT - 2, text_anchor="end")


def _line(runs: Sequence[PastRun]) -> Iterator[Markup]:
    known = [(index, run["response_latency"]) for index, run in enumerate(runs) if run["response_latency"] is not None]
    if not known:
        return
    top, bottom = _LINE
    slowest = max(latency for _, latency in known) or 1.0
    points = [
        (_LEFT + _step(runs) * (index + 0.5), bottom - (bottom - top) * latency / slowest) for index, latency in known
    ]
    yield _label(0, top - 6, f"{slowest:.2f} s median response_latency")
    yield _label(0, bottom, "0 s")
    yield tag("line", x1=_LEFT, x2=_WIDTH, y1=bottom, y2=bottom, class_="axis")
    yield tag("polyline", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in points), class_="curve")
    for (x, y), (index, latency) in zip(points, known, strict=True):
        yield tag("circle", tag("title", f"{runs[index]['at']}: {seconds(latency)}"), cx=f"{x:.1f}", cy=f"{y:.1f}", r=3)


def _label(x: float, y: float, text: str) -> Markup:
    return tag("text", text, x=x, y=y)


def _told(run: PastRun) -> str:
    passed, failed, skipped = _split(run)
    return f"{run['at']}: {passed} passed, {failed} failed, {skipped} skipped"


def _table(runs: Sequence[PastRun]) -> Markup:
    rows = (
        (
            run["at"],
            run["calls"],
            ", ".join(f"{count} {outcome}" for outcome, count in run["counts"].items()) or NONE,
            seconds(run["response_latency"]),
            seconds(run["stop_latency"]),
        )
        for run in reversed(runs)
    )
    head = ("run", "calls", "outcomes", "response_latency median", "stop_latency median")
    return table("The latest runs, newest first", head, rows)
