"""The parts of a call's page that are there to be read: verdict, findings, expectations, steps, figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from voiceharness.report.html.figures import (
    NONE,
    amount,
    bar,
    outcome_badge,
    percentile,
    play_button,
    seconds,
)
from voiceharness.report.html.markup import Markup, joined, table, tag
from voiceharness.report.remarks import remarks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from voiceharness.report.document import CallDocument
    from voiceharness.report.html.moments import Moment

__all__ = [
    "environment_section",
    "expectations_section",
    "findings_section",
    "latencies_section",
    "measures_section",
    "moments_section",
    "section",
    "steps_section",
    "verdict_header",
]

Figures: TypeAlias = Mapping[str, Any]  # Any: a JSON object of a document


def section(title: str, *content: object, name: str, count: int | None = None) -> Markup:
    """Make a titled part of a page; ``count`` is shown beside the title."""
    counted = None if count is None else tag("span", count, class_="count")
    heading = tag("h2", title, counted, id=f"{name}-title")
    return tag("section", heading, *content, class_="card", id=name, aria_labelledby=f"{name}-title")


def verdict_header(call: CallDocument) -> Markup:
    """Say which call this is and what became of it; what cannot be trusted comes first."""
    time = "virtual time" if call["virtual"] else "real time"
    metrics = call["metrics"]
    facts = [call["adapter"], f"seed {call['seed']}", time]
    if metrics is not None:
        facts += [seconds(metrics["duration"]), f"ended by {call['ended']['by'] or NONE}"]
    line = tag("p", *(tag("span", fact) for fact in (*facts, *remarks(call))), class_="facts")
    return joined(
        [tag("h1", call["scenario"], " ", outcome_badge(call["outcome"])), line, *_warnings(call), *_reasons(call)]
    )


def _warnings(call: CallDocument) -> Iterator[Markup]:
    reasons = call["trust"]["reasons"]
    if reasons:
        items = (tag("li", reason) for reason in reasons)
        yield tag(
            "div", tag("strong", "This run is not trustworthy."), tag("ul", *items), class_="notice bad", role="note"
        )


def _reasons(call: CallDocument) -> Iterator[Markup]:
    error = call["error"]
    if error is not None:
        causes = (tag("li", _cause(each)) for each in error["causes"])
        shown = tag("p", tag("code", error["type"]), ": ", error["message"])
        yield tag("div", shown, tag("ul", *causes), class_="notice bad", role="note")
    faults = [*_protocol_faults(call)]
    if faults:
        yield tag("ul", *faults, class_="notice bad reasons")
    failures = [check for check in call["checks"] if not check["passed"]]
    if failures:
        items = (tag("li", tag("code", each["kind"]), " ", each["explanation"]) for each in failures)
        yield tag("ul", *items, class_="notice bad reasons")


def _protocol_faults(call: CallDocument) -> Iterator[Markup]:
    for fault in call["protocol_faults"]:
        yield tag("li", tag("code", fault["kind"]), f" {fault['detail']}")


def _cause(cause: Mapping[str, Any]) -> str:
    where = f" ({cause['where']})" if cause["where"] else ""
    return f"caused by {cause['type']}: {cause['message']}{where}"


def findings_section(call: CallDocument) -> Markup:
    """List the faults found, each with its proof to hear."""
    findings = call["findings"]
    if not findings:
        return section(
            "Findings", tag("p", "No fault was found on the line.", class_="quiet"), name="findings", count=0
        )
    items = []
    for each in findings:
        figure = f"{each['figure']:g} {each['unit']}"
        head = tag("h3", tag("code", each["kind"]), " ", tag("span", each["severity"], class_="badge " + _tone(each)))
        where = play_button(each["start"], each["end"], _span(call, each["start"], each["end"]), each["kind"])
        items.append(tag("li", head, tag("p", each["explanation"]), tag("p", where, " ", tag("span", figure))))
    return section("Findings", tag("ul", *items, class_="findings"), name="findings", count=len(findings))


def _tone(finding: Mapping[str, Any]) -> str:
    return "bad" if finding["severity"] == "fault" else "warning"


def _rate(call: CallDocument) -> int:
    return call["metrics"]["rate"] if call["metrics"] is not None else 0


def _span(call: CallDocument, start: int, end: int) -> str:
    rate = _rate(call)
    return f"{start / rate:.2f} to {end / rate:.2f} s" if rate else NONE


def expectations_section(call: CallDocument) -> Markup:
    """Tabulate what was expected, and what was measured."""
    rows = [
        (
            tag("code", each["kind"]),
            outcome_badge("passed" if each["passed"] else "failed"),
            each["wanted"],
            each["measured"],
            "limit" if each["step"] is None else each["step"] + 1,
            play_button(each["at"], None, f"{each['at'] / _rate(call):.2f} s", each["kind"]) if _rate(call) else NONE,
        )
        for each in call["checks"]
    ]
    if not rows:
        return section("Expectations", tag("p", "Nothing was expected.", class_="quiet"), name="checks", count=0)
    head = ("kind", "outcome", "wanted", "measured", "step", "at")
    return section("Expectations", table("What was expected", head, rows), name="checks", count=len(rows))


def steps_section(call: CallDocument) -> Markup:
    """Tabulate the steps of the scenario as they were played."""
    rows = [
        (
            each["index"] + 1,
            each["label"],
            outcome_badge(each["outcome"]),
            play_button(each["start"], each["end"], _span(call, each["start"], each["end"]), f"step {each['label']}"),
            each["detail"],
        )
        for each in call["steps"]
    ]
    if not rows:
        return section("Steps", tag("p", "No step was played.", class_="quiet"), name="steps", count=0)
    head = ("step", "label", "outcome", "from, to", "detail")
    return section("Steps", table("The scenario as it was played", head, rows), name="steps", count=len(rows))


def latencies_section(call: CallDocument) -> Markup:
    """Show every response latency and every stop latency as a bar, with its sound."""
    metrics = cast("Figures | None", call["metrics"])
    if metrics is None or not (metrics["exchanges"] or metrics["barge_ins"]):
        return Markup("")
    parts = []
    if metrics["exchanges"]:
        parts.append(_latency_table("response_latency", "user turn", list(_responses(metrics)), metrics["rate"]))
    stops = list(_stops(metrics))
    if stops:
        parts.append(_latency_table("stop_latency", "barge-in", stops, metrics["rate"]))
    return section("Latencies", *parts, _distributions(metrics), name="latencies")


def _responses(metrics: Figures) -> Iterator[tuple[str, int, int | None, float | None]]:
    for number, exchange in enumerate(metrics["exchanges"], start=1):
        turn = metrics["user_turns"][exchange["turn"]]
        answer = exchange["answer"]
        end = None if answer is None else metrics["agent_turns"][answer]["onset"]
        yield f"{number}. {turn['text']}".rstrip(" ."), turn["offset"], end, exchange["latency"]


def _stops(metrics: Figures) -> Iterator[tuple[str, int, int | None, float | None]]:
    for number, each in enumerate(metrics["barge_ins"], start=1):
        if each["phase"] == "speaking" and each["intent"] == "turn":
            yield f"{number}. {each['text']}".rstrip(" ."), each["onset"], each["offset"], each["stop_latency"]


def _latency_table(
    name: str, what: str, entries: Sequence[tuple[str, int, int | None, float | None]], rate: int
) -> Markup:
    longest = max((value for *_, value in entries if value is not None), default=0.0)
    rows = []
    for label, start, end, value in entries:
        shown = "none" if value is None else seconds(value)
        drawn = tag("span", "never answered", class_="bad") if value is None else bar(value, longest)
        rows.append((label, drawn, shown, play_button(start, end, f"{start / rate:.2f} s", f"{name} {label}")))
    return table(name, (what, tag("th", "", scope="col", class_="stretch"), name, "at"), rows)


_DISTRIBUTION = ("n", "missing", "minimum", "mean", "p50", "p90", "p95", "maximum")


def _distributions(metrics: Figures) -> Markup:
    rows = ((tag("code", name), *_distribution(value)) for name, value in metrics.items() if _is_distribution(value))
    return table("All of them, in seconds", ("metric", *_DISTRIBUTION), rows)


def _is_distribution(value: object) -> bool:
    return isinstance(value, Mapping) and "p50" in value


def _distribution(figures: Figures) -> Iterator[object]:
    for name in _DISTRIBUTION:
        value = figures[name]
        if isinstance(value, Mapping):
            yield percentile(value)
        else:
            yield seconds(value) if name not in ("n", "missing") else value


def measures_section(call: CallDocument) -> Markup:
    """Tabulate the figures of the call as a whole, under their names in the JSON document."""
    metrics = cast("Figures | None", call["metrics"])
    if metrics is None:
        return section("Figures", tag("p", "The call was never answered.", class_="quiet"), name="metrics")
    rows = [(tag("code", name), amount(value)) for name, value in metrics.items() if not _is_distribution(value)]
    note = tag(
        "p", "Times are in seconds. A list is told by its length; result.json has what is in it.", class_="quiet"
    )
    return section("Figures", table("The call", ("metric", "value"), rows), note, name="metrics")


def moments_section(moments: Iterable[Moment], rate: int) -> Markup:
    """List in time order what happened, each moment to be heard."""
    told = [moment for moment in moments if moment.row != "words"]
    rows = []
    for each in told:
        start = play_button(each.at, each.end, f"{each.at / rate:.3f} s", each.label)
        shown = tag("span", each.kind.replace("_", " "), class_=f"badge {each.tone}".strip())
        cells = tag("th", start, scope="row"), tag("td", shown), tag("td", each.detail or each.label)
        rows.append(tag("tr", *cells, data_row=each.row))
    listed = table("All moments of the call", ("at", "kind", "what happened"), rows)
    return section("What happened", tag("details", tag("summary", f"{len(told)} moments"), listed), name="moments")


def environment_section(call: CallDocument, impairments: Iterable[str] = ()) -> Markup:
    """Tell in what environment the call was made, and how well the harness kept its own time.

    ``impairments`` are what the harness did to the line for the whole call.
    """
    trust, clock = call["trust"], call["clock"] or {}
    known: list[tuple[str, object]] = [
        ("adapter", call["adapter"]),
        ("seed", call["seed"]),
        ("virtual", amount(call["virtual"])),
        ("answered_after", seconds(call["answered_after"])),
        ("ended.by", call["ended"]["by"] or NONE),
        ("ended.reason", call["ended"]["reason"] or NONE),
        ("ended.code", amount(call["ended"]["code"])),
        ("trust.trustworthy", amount(trust["trustworthy"])),
        ("trust.mean_lateness_ms", amount(trust["mean_lateness_ms"])),
        ("trust.max_lateness_ms", amount(trust["max_lateness_ms"])),
        ("trust.stalls", trust["stalls"]),
        *(("line", impairment) for impairment in impairments),
        *((f"clock.{name}", amount(value)) for name, value in clock.items()),
        *((f"facts.{name}", amount(value)) for name, value in call["facts"].items()),
    ]
    rows = ((tag("code", name), value) for name, value in known)
    return section("Environment", table("Where and how", ("name", "value"), rows), name="environment")
