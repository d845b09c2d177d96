"""Calls and suites as text for a terminal. Names and figures are those of the JSON documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from voiceharness.report.cells import cell_text, file_of, place_text, shared_names_of
from voiceharness.report.interruption import shown_outcome, was_interrupted
from voiceharness.report.printable import printable
from voiceharness.report.remarks import remarks

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from voiceharness.report.document import CallDocument, CheckDocument, Distribution, Measured, StepDocument
    from voiceharness.report.limits import Contribution, LimitDocument
    from voiceharness.report.suite import SuiteCall, SuiteDocument
    from voiceharness.scenario.result import Outcome

__all__ = [
    "call_text",
    "contribution_text",
    "limits_text",
    "suite_call_text",
    "suite_end_text",
    "suite_text",
    "verdict_line",
]

_SIGNS: Final[Mapping[Outcome, tuple[str, str]]] = {
    "passed": ("✓", "+"),
    "failed": ("✗", "x"),
    "unsupported": ("○", "o"),
}
_OTHER_SIGN: Final = ("‼", "!")

_MOST_CALLS: Final = 10

_STEP_SIGNS: Final = {"done": ("✓", "+"), "failed": ("✗", "x"), "cut": ("◐", "-"), "skipped": ("○", "o")}


def verdict_line(call: CallDocument, *, ascii_only: bool = False, where: str | None = None) -> str:
    """Say in one line what became of a call; ``where`` it stands in a suite is told in place of its adapter."""
    sign = _SIGNS.get(call["outcome"], _OTHER_SIGN)[ascii_only]
    metrics = call["metrics"]
    length = f", {_seconds(metrics['duration'])}" if metrics else ""
    return printable(f"{sign} {shown_outcome(call)}: {call['scenario']} ({where or call['adapter']}{length})")


def call_text(call: CallDocument, *, ascii_only: bool = False, steps: bool = False) -> str:
    """Describe a call: its verdict, what it rests on, the figures; on demand its steps too. Ends with a line feed."""
    lines = [verdict_line(call, ascii_only=ascii_only), *(f"    {line}" for line in _reasons(call))]
    if steps:
        lines += [f"    {_step_line(step, call, ascii_only)}" for step in call["steps"]]
    if call["metrics"] is not None:
        lines += [f"    {line}" for line in _figures(call["metrics"])]
    return printable("\n".join(lines)) + "\n"


def suite_text(suite: SuiteDocument, *, ascii_only: bool = False) -> str:
    """Describe a suite: every call in a line, what failed in full, broken limits, and how many of each outcome."""
    shared = shared_names_of(suite)
    calls = (suite_call_text(each, shared=shared, ascii_only=ascii_only) for each in suite["calls"])
    return f"{''.join(calls)}{suite_end_text(suite, ascii_only=ascii_only)}"


def suite_call_text(each: SuiteCall, *, shared: Collection[str] = (), ascii_only: bool = False) -> str:
    """Describe one call of a suite. A scenario whose name is among the ``shared`` ones is told with its file."""
    call = each["call"]
    where = cell_text(each["cell"]) if "cell" in each else call["adapter"]
    where = place_text(call["scenario"], file_of(each), where, shared)
    lines = [f"{verdict_line(call, ascii_only=ascii_only, where=where)}{_earlier(each)}"]
    lines += [f"    {line}" for line in _reasons(call)]
    if "unsaved" in each:
        lines.append(f"    not saved: {each['unsaved']}")
    elif each["folder"] and call["outcome"] != "passed":
        lines.append(f"    evidence: {each['folder']}")
    return printable("\n".join(lines)) + "\n"


def suite_end_text(suite: SuiteDocument, *, ascii_only: bool = False) -> str:
    """Describe what there is to say after the calls of a suite: what was not made, limits, and the totals."""
    lines, shared = [], shared_names_of(suite)
    for missing in suite.get("missing", ()):
        name, cell = missing["scenario"], missing["cell"]
        place = place_text(name, cell["file"], cell_text(cell), shared)
        lines.append(f"{_OTHER_SIGN[ascii_only]} not made: {name} ({place})")
    for limit in suite.get("limits", ()):
        lines += _limit_lines(limit, ascii_only)
    lines.append(_totals(suite))
    return printable("\n".join(lines)) + "\n"


def contribution_text(contribution: Contribution) -> str:
    """Name a call that has its part in a broken limit, with its figure."""
    value = contribution["value"]
    return f"{contribution['number']}. {contribution['call']}" + ("" if value is None else f": {_seconds(value)}")


def limits_text(limits: Iterable[LimitDocument], *, ascii_only: bool = False) -> str:
    """Describe the limits of all calls, a broken one with the calls that have the largest part in it."""
    return printable("\n".join(line for limit in limits for line in _limit_lines(limit, ascii_only))) + "\n"


def _earlier(each: SuiteCall) -> str:
    before = ", ".join(attempt["outcome"] for attempt in each.get("before", ()))
    match each.get("made"):
        case "earlier":
            return " [kept]"
        case "now":
            return f" [made again; before: {before}]" if before else " [made now]"
    return ""


def _limit_lines(limit: LimitDocument, ascii_only: bool) -> Iterator[str]:
    signs = {"held": _SIGNS["passed"], "broken": _SIGNS["failed"], "not_judged": _SIGNS["unsupported"]}
    said = {"held": "limit held", "broken": "limit broken", "not_judged": "limit not judged"}[limit["verdict"]]
    yield f"{signs[limit['verdict']][ascii_only]} {said}: {limit['kind']}: {limit['explanation']}"
    if limit["verdict"] == "broken":
        yield from (f"    {contribution_text(each)}" for each in limit["calls"][:_MOST_CALLS])
        if len(limit["calls"]) > _MOST_CALLS:
            yield f"    and {len(limit['calls']) - _MOST_CALLS} more"


def _totals(suite: SuiteDocument) -> str:
    counts = [f"{count} {outcome}" for outcome, count in suite["counts"].items()]
    if interrupted := sum(was_interrupted(each["call"]) for each in suite["calls"]):
        counts.append(f"{interrupted} interrupted")
    if missing := suite.get("missing", ()):
        counts.append(f"{len(missing)} not made")
    number = len(suite["calls"]) + len(missing)
    kept = sum(each.get("made") == "earlier" for each in suite["calls"])
    told = f"; {kept} kept from the earlier run" if kept else ""
    return f"{number} {'call' if number == 1 else 'calls'}: {', '.join(counts) or 'none'}{told}"


def _reasons(call: CallDocument) -> Iterator[str]:
    """Why a call did not pass, what cannot be trusted first, and what else there is to say of it."""
    trust = call["trust"]
    yield from (f"not trustworthy: {reason}" for reason in trust["reasons"])
    if (error := call["error"]) is not None:
        kind = "" if was_interrupted(call) else f"{error['type']}: "
        yield from _indented(f"{kind}{error['message']}")
        for cause in error["causes"]:
            where = f" ({cause['where']})" if cause["where"] else ""
            yield from _indented(f"caused by {cause['type']}: {cause['message']}{where}")
    for fault in call["protocol_faults"]:
        yield from _indented(f"protocol fault {fault['kind']}: {fault['detail']}")
    for check in call["checks"]:
        if not check["passed"]:
            yield from _indented(f"{check['kind']}: {check['explanation']}{_place(check, call)}")
    told = {check["explanation"] for check in call["checks"] if not check["passed"]}
    for finding in call["findings"]:
        if f"{finding['kind']}: {finding['explanation']}" not in told:  # a fault that failed the call was told above
            yield from _indented(f"{finding['severity']} {finding['kind']}: {finding['explanation']}")
    yield from remarks(call)


def _indented(text: str) -> Iterator[str]:
    first, *rest = text.splitlines() or [""]
    yield first
    yield from (f"  {line}" for line in rest)


def _place(check: CheckDocument, call: CallDocument) -> str:
    step = "" if check["step"] is None else f"step {check['step'] + 1}"
    metrics = call["metrics"]
    time = "" if metrics is None else f"at {_seconds(check['at'] / metrics['rate'])}"
    place = ", ".join(part for part in (step, time) if part)
    return f" [{place}]" if place else ""


def _step_line(step: StepDocument, call: CallDocument, ascii_only: bool) -> str:
    sign = _STEP_SIGNS[step["outcome"]][ascii_only]
    metrics = call["metrics"]
    time = "" if metrics is None else f" from {_seconds(step['start'] / metrics['rate'])}"
    detail = f" ({step['detail']})" if step["detail"] else ""
    return f"{sign} {step['index'] + 1}. {step['label']}{time}{detail}"


def _figures(metrics: Measured) -> Iterator[str]:
    counts = f"{len(metrics['user_turns'])} user_turns, {len(metrics['agent_turns'])} agent_turns"
    barge_ins = f", {len(metrics['barge_ins'])} barge_ins" if metrics["barge_ins"] else ""
    double_talk = _seconds(metrics["double_talk"])
    yield f"duration {_seconds(metrics['duration'])}, {counts}{barge_ins}, double_talk {double_talk}"
    for name in ("response_latency", "stop_latency"):
        figures: Distribution = metrics[name]
        if figures["n"] or figures["missing"]:
            yield f"{name} {_distribution(figures)}"


def _distribution(figures: Distribution) -> str:
    parts = []
    for name in ("p50", "p90", "p95"):
        value = figures[name]["value"]
        if value is not None:
            parts.append(f"{name} {_seconds(value)}")
    if (maximum := figures["maximum"]) is not None:
        parts.append(f"maximum {_seconds(maximum)}")
    missing = f", missing {figures['missing']}" if figures["missing"] else ""
    return f"{', '.join(parts)} (n {figures['n']}{missing})".lstrip()


def _seconds(value: float) -> str:
    return f"{value:.3f} s"
