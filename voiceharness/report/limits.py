"""Limits of a suite as a whole: how many calls may fail, and what all calls together may take.

Figures are pooled: every answer, and every stop, of every call counts once, so a percentile is one over turns, not over
calls. Calls that cannot be trusted lend no figures. A percentile that too few values tell of is not judged, and said
so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal, TypeAlias, TypedDict, cast

from voiceharness.errors import ScenarioError
from voiceharness.measure.percentiles import percentile
from voiceharness.report.cells import call_name
from voiceharness.scenario.checks import (  # noqa: TC001 (read at run time to describe the fields)
    ResponseLatency,
    StopLatency,
)
from voiceharness.scenario.fields import Kind, PositiveSeconds, check_fields, parse_whole
from voiceharness.scenario.units import format_number, parse_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from voiceharness.report.suite import SuiteCall
    from voiceharness.scenario.result import Outcome

__all__ = ["TOLERABLE", "LimitDocument", "LimitVerdict", "SuiteLimits", "judge_suite"]

LimitVerdict = Literal["held", "broken", "not_judged"]

TOLERABLE: Final[frozenset[Outcome]] = frozenset({"failed", "not_called", "protocol_violation"})
"""Outcomes that ``failed`` may allow; a fault of the harness or of a scenario is never allowed."""

_MOST_TOLD: Final = 5


def _is_allowance(value: object) -> bool:
    if isinstance(value, bool):
        return False
    return (isinstance(value, int) and value >= 0) or (isinstance(value, float) and 0 <= value <= 1)


def _parse_allowance(text: str) -> int | float:
    if text.endswith("%"):
        return parse_number(text.removesuffix("%").rstrip()) / 100
    try:
        return parse_whole(text)
    except ScenarioError:
        raise ScenarioError(f"{text!r} is neither a number of calls such as 2 nor a share such as 5%") from None


def _format_allowance(value: float) -> str:
    return f"{format_number(value * 100)}%" if isinstance(value, float) else str(value)


Allowance: TypeAlias = Annotated[
    int | float,
    Kind(
        "allowance",
        "a number of calls such as 2, or a share of them such as 5%",
        _is_allowance,
        _parse_allowance,
        _format_allowance,
        quotes="never",
        in_python="a whole number of calls, or a share as a float from 0 to 1",
    ),
]


@dataclass(frozen=True, slots=True)
class SuiteLimits:
    """What all calls of a suite together must keep to.

    ``failed``: so many calls, or such a share of them, may fail; unsupported ones do not count. Within it the suite
    passes. ``response_latency`` and ``stop_latency``: over every turn of every call. ``longest_call``: seconds from
    answer to end, of each call; ``total_duration``: of all together.
    """

    failed: Allowance | None = None
    response_latency: ResponseLatency | None = None
    stop_latency: StopLatency | None = None
    longest_call: PositiveSeconds | None = None
    total_duration: PositiveSeconds | None = None

    kind: ClassVar[str] = "all_calls"

    def __post_init__(self) -> None:
        check_fields(self, self.kind)


class Contribution(TypedDict):
    """A call that has its part in a figure, by its number from 1; ``value`` None where it is the call that counts."""

    number: int
    call: str
    value: float | None


class LimitDocument(TypedDict):
    """One limit of a suite, judged. ``wanted`` and ``measured`` are in ``unit``: ``s``, ``calls``, or ``share``.

    ``n`` values were measured. ``calls`` are those that contributed most, the worst first.
    """

    kind: str
    verdict: LimitVerdict
    wanted: float
    measured: float | None
    unit: str
    n: int
    explanation: str
    calls: list[Contribution]


@dataclass(frozen=True, slots=True)
class _Value:
    """A figure, and the number of the call that it is of."""

    number: int
    seconds: float


def judge_suite(limits: SuiteLimits, calls: Sequence[SuiteCall], *, interrupted: bool = False) -> list[LimitDocument]:
    """Judge every limit that is given; none is judged over what an ``interrupted`` run had come to."""
    judged = _judged(limits, calls)
    return [_unjudged(each) for each in judged] if interrupted else judged


def _unjudged(limit: LimitDocument) -> LimitDocument:
    told = "the run was interrupted"
    return {**limit, "verdict": "not_judged", "measured": None, "n": 0, "explanation": told, "calls": []}


def _judged(limits: SuiteLimits, calls: Sequence[SuiteCall]) -> list[LimitDocument]:
    judged: list[LimitDocument] = []
    if limits.failed is not None:
        judged.append(_failed(limits.failed, calls))
    answers, unanswered = _latencies(calls, "exchanges")
    for expectation, values, missing in (
        (limits.response_latency, answers, unanswered),
        (limits.stop_latency, _latencies(calls, "barge_ins")[0], 0),
    ):
        if expectation is not None:
            judged += _latency_limits(expectation, values, missing, calls)
    durations = [_Value(number, metrics["duration"]) for number, metrics in _measured(calls)]
    if limits.longest_call is not None:
        longest = max((each.seconds for each in durations), default=None)
        judged.append(_seconds_limit("longest_call", limits.longest_call, longest, durations, calls))
    if limits.total_duration is not None:
        total = math.fsum(each.seconds for each in durations) if durations else None
        judged.append(_seconds_limit("total_duration", limits.total_duration, total, durations, calls))
    return judged


def _failed(allowed: float, calls: Sequence[SuiteCall]) -> LimitDocument:
    made = [(number, each) for number, each in enumerate(calls, 1) if each["call"]["outcome"] != "unsupported"]
    failed = [(number, each) for number, each in made if each["call"]["outcome"] != "passed"]
    share = isinstance(allowed, float)
    most = math.floor(allowed * len(made) + 1e-9) if share else int(allowed)
    broken = len(failed) > most
    measured = (len(failed) / len(made) if made else 0.0) if share else float(len(failed))
    told = f"{len(failed)} of {len(made)} calls failed; at most {_format_allowance(allowed)} may"
    over = f", so {len(failed) - most} too many" if broken else ""
    return {
        "kind": "failed",
        "verdict": "broken" if broken else "held",
        "wanted": float(allowed),
        "measured": measured,
        "unit": "share" if share else "calls",
        "n": len(made),
        "explanation": told + over,
        "calls": [{"number": number, "call": call_name(each), "value": None} for number, each in failed],
    }


def _latency_limits(
    expectation: ResponseLatency | StopLatency, values: Sequence[_Value], missing: int, calls: Sequence[SuiteCall]
) -> Iterator[LimitDocument]:
    known = [each.seconds for each in values]
    for name, wanted, measured in (
        ("at_most", expectation.at_most, max(known, default=None)),
        ("p50", expectation.p50, percentile(known, 50.0).value),
        ("p95", expectation.p95, percentile(known, 95.0).value),
    ):
        if wanted is not None:
            kind = f"{expectation.kind}.{name}"
            judged = _seconds_limit(kind, wanted, measured, values, calls)
            if missing:
                judged["explanation"] += f"; {missing} of {missing + len(known)} turns were never answered"
            yield judged


def _seconds_limit(
    kind: str, wanted: float, measured: float | None, values: Sequence[_Value], calls: Sequence[SuiteCall]
) -> LimitDocument:
    n = len(values)
    verdict: LimitVerdict
    if measured is None:
        verdict, told = "not_judged", f"at most {wanted:g} s: {n} values are too few" if n else "nothing was measured"
    elif measured <= wanted:
        verdict, told = "held", f"at most {wanted:g} s: {measured:.3f} s (n {n})"
    else:
        verdict, told = "broken", f"at most {wanted:g} s: {measured:.3f} s (n {n}), {measured - wanted:.3f} s too long"
    return {
        "kind": kind,
        "verdict": verdict,
        "wanted": wanted,
        "measured": measured,
        "unit": "s",
        "n": n,
        "explanation": told,
        "calls": _largest(values, calls),
    }


def _largest(values: Sequence[_Value], calls: Sequence[SuiteCall]) -> list[Contribution]:
    """Return the calls with the largest values, each once."""
    largest: dict[int, float] = {}
    for each in values:
        largest[each.number] = max(each.seconds, largest.get(each.number, 0.0))
    ordered = sorted(largest.items(), key=lambda item: (-item[1], item[0]))[:_MOST_TOLD]
    return [{"number": number, "call": call_name(calls[number - 1]), "value": value} for number, value in ordered]


def _measured(calls: Sequence[SuiteCall]) -> Iterator[tuple[int, Mapping[str, Any]]]:  # Any: a JSON object
    for number, each in enumerate(calls, 1):
        call = each["call"]
        if call["metrics"] is not None and call["outcome"] != "harness_fault":
            yield number, cast("Mapping[str, Any]", call["metrics"])


def _latencies(calls: Sequence[SuiteCall], group: Literal["exchanges", "barge_ins"]) -> tuple[list[_Value], int]:
    """Return the latencies of all calls, and how many are missing."""
    values: list[_Value] = []
    missing = 0
    for number, metrics in _measured(calls):
        for each in metrics[group]:
            latency = each["latency"] if group == "exchanges" else _stop_latency(each)
            if latency is None:
                missing += 1
            else:
                values.append(_Value(number, latency))
    return values, missing


def _stop_latency(barge_in: Mapping[str, Any]) -> float | None:
    """Return the latency of a barge-in that asks for the floor, as limits of one call judge it."""
    asks = barge_in["phase"] == "speaking" and barge_in["intent"] == "turn" and barge_in["source"] != "press"
    return cast("float | None", barge_in["stop_latency"]) if asks else None
