"""Calls and suites as text for a terminal. Names and figures are those of the JSON documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from voiceharness.report.printable import printable
from voiceharness.report.remarks import remarks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from voiceharness.report.document import CallDocument, CheckDocument, Distribution, Measured, StepDocument
    from voiceharness.report.suite import SuiteDocument
    from voiceharness.scenario.result import Outcome

__all__ = ["call_text", "suite_text", "verdict_line"]

_SIGNS: Final[Mapping[Outcome, tuple[str, str]]] = {
    "passed": ("✓", "+"),
    "failed": ("✗", "x"),
    "unsupported": ("○", "o"),
}
_OTHER_SIGN: Final = ("‼", "!")

_STEP_SIGNS: Final = {"done": ("✓", "+"), "failed": ("✗", "x"), "cut": ("◐", "-"), "skipped": ("○", "o")}


def verdict_line(call: CallDocument, *, ascii_only: bool = False) -> str:
    """Say in one line what became of a call."""
    sign = _SIGNS.get(call["outcome"], _OTHER_SIGN)[ascii_only]
    metrics = call["metrics"]
    length = f", {_seconds(metrics['duration'])}" if metrics else ""
    return printable(f"{sign} {call['outcome']}: {call['scenario']} ({call['adapter']}{length})")


def call_text(call: CallDocument, *, ascii_only: bool = False, steps: bool = False) -> str:
    """Describe a call: its verdict, what it rests on, the figures; on demand its steps too. Ends with a line feed."""
    lines = [verdict_line(call, ascii_only=ascii_only), *(f"    {line}" for line in _reasons(call))]
    if steps:
        lines += [f"    {_step_line(step, call, ascii_only)}" for step in call["steps"]]
    if call["metrics"] is not None:
        lines += [f"    {line}" for line in _figures(call["metrics"])]
    return printable("\n".join(lines)) + "\n"


def suite_text(suite: SuiteDocument, *, ascii_only: bool = False) -> str:
    """Describe a suite: every call in a line, what failed in full, and how many of each outcome there are."""
    lines = []
    for each in suite["calls"]:
        call = each["call"]
        lines.append(verdict_line(call, ascii_only=ascii_only))
        lines += [f"    {line}" for line in _reasons(call)]
        if each["folder"] and call["outcome"] != "passed":
            lines.append(f"    evidence: {each['folder']}")
    counts = ", ".join(f"{count} {outcome}" for outcome, count in suite["counts"].items()) or "none"
    number = len(suite["calls"])
    lines.append(f"{number} {'call' if number == 1 else 'calls'}: {counts}")
    return printable("\n".join(lines)) + "\n"


def _reasons(call: CallDocument) -> Iterator[str]:
    """Why a call did not pass, what cannot be trusted first, and what else there is to say of it."""
    trust = call["trust"]
    yield from (f"not trustworthy: {reason}" for reason in trust["reasons"])
    if (error := call["error"]) is not None:
        yield from _indented(f"{error['type']}: {error['message']}")
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
