"""A call's result as a document: the one form that JSON, the console and JUnit are written from.

``schema/call.schema.json`` describes it. Names and figures are those of Python; nothing in it depends on the time of
day, so the same call gives the same document.
"""

from __future__ import annotations

import traceback
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypedDict, cast

from voiceharness.report.agent_words import agent_words
from voiceharness.report.redaction import Redactor
from voiceharness.report.serialization import from_json, plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from voiceharness.measure.metrics import Json
    from voiceharness.report.agent_words import AgentWords
    from voiceharness.scenario.result import CallResult, Outcome, StepOutcome

__all__ = [
    "CALL_FORMAT",
    "CallDocument",
    "CheckDocument",
    "Distribution",
    "ErrorDocument",
    "Measured",
    "StepDocument",
    "TrustDocument",
    "call_document",
    "schema",
]

CALL_FORMAT: Final = "voiceharness-call/1"


class Figure(TypedDict):
    """A percentile; ``value`` is None where ``n`` values are too few for it."""

    value: float | None
    n: int
    needed: int


class Distribution(TypedDict):
    """A set of figures in seconds."""

    n: int
    missing: int
    minimum: float | None
    mean: float | None
    maximum: float | None
    p50: Figure
    p90: Figure
    p95: Figure


class Measured(TypedDict):
    """Those of a call's metrics that a summary shows; a document has all of them."""

    rate: int
    duration: float
    user_turns: list[Json]
    agent_turns: list[Json]
    barge_ins: list[Json]
    double_talk: float
    response_latency: Distribution
    stop_latency: Distribution


class StepDocument(TypedDict):
    """One step as it was played; ``index`` counts from 0, positions are samples."""

    index: int
    label: str
    outcome: StepOutcome
    start: int
    end: int
    detail: str


class CheckDocument(TypedDict):
    """One expectation, met or not.

    ``at`` is a position in samples, ``step`` the index of a step, from 0, or None for a limit of the whole call.
    """

    kind: str
    passed: bool
    wanted: str
    measured: str
    explanation: str
    step: int | None
    at: int
    value: float | None


class FindingDocument(TypedDict):
    """A fault that was found on the line, from ``start`` to ``end`` in samples; its size is ``figure`` in ``unit``."""

    kind: str
    severity: str
    start: int
    end: int
    figure: float
    unit: str
    explanation: str


class FaultDocument(TypedDict):
    """A rule of the protocol that the agent's side broke, at a position in samples."""

    at: int
    kind: str
    detail: str


class Cause(TypedDict):
    """An exception, by its class and text; ``where`` names the line that raised it (empty: it was never raised)."""

    type: str
    message: str
    where: str


class ErrorDocument(Cause):
    """What broke a call, and what caused that, the nearest cause first."""

    causes: list[Cause]


class TrustDocument(TypedDict):
    """Whether the harness kept its own promises."""

    trustworthy: bool
    reasons: list[str]
    mean_lateness_ms: float
    max_lateness_ms: float
    stalls: int


class End(TypedDict):
    """Who ended the call, and the transport's own cause."""

    by: str
    reason: str
    code: int | None


class CallDocument(TypedDict):
    """Everything about one call but its sound and timeline."""

    format: str
    scenario: str
    adapter: str
    outcome: Outcome
    exit_code: int
    explanation: str
    seed: int
    virtual: bool
    answered_after: float
    ended: End
    error: ErrorDocument | None
    protocol_faults: list[FaultDocument]
    trust: TrustDocument
    steps: list[StepDocument]
    checks: list[CheckDocument]
    findings: list[FindingDocument]
    metrics: Measured | None
    agent_words: list[AgentWords]
    clock: dict[str, float] | None
    facts: dict[str, Json]


def call_document(result: CallResult, *, secrets: Iterable[str] = ()) -> CallDocument:
    """Describe a call's result, without phone numbers, credentials and any of ``secrets``."""
    trust = result.trust
    document: dict[str, Json] = {
        "format": CALL_FORMAT,
        "scenario": result.scenario,
        "adapter": result.adapter,
        "outcome": result.outcome,
        "exit_code": result.exit_code,
        "explanation": result.explain(),
        "seed": result.seed,
        "virtual": result.virtual,
        "answered_after": result.answered_after,
        "ended": {"by": result.ended_by, "reason": result.ended_reason, "code": result.ended_code},
        "error": _error(result.error),
        "protocol_faults": [{"at": fault.at, **fault.data} for fault in result.protocol_faults],
        "trust": {"trustworthy": trust.trustworthy, **cast("dict[str, Json]", plain(trust))},
        "steps": plain(result.steps),
        "checks": plain(result.checks),
        "findings": plain(result.findings),
        "metrics": None if result.metrics is None else result.metrics.to_json(),
        "agent_words": plain(agent_words(result)),
        "clock": plain(result.clock),
        "facts": plain(result.facts),
    }
    return cast("CallDocument", Redactor.of(secrets).plain(document))


def _error(error: BaseException | None) -> Json:
    if error is None:
        return None
    first, *causes = _chain(error)
    return {**first, "causes": list(causes)}


def _chain(error: BaseException | None) -> Iterator[dict[str, Json]]:
    seen: list[BaseException] = []
    while error is not None and error not in seen:
        seen.append(error)
        yield {"type": type(error).__name__, "message": str(error), "where": _where(error)}
        error = error.__cause__


def _where(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno} in {frames[-1].name}" if frames else ""


def schema(name: str) -> dict[str, Json]:
    """Return a published JSON Schema (draft 2020-12): of a ``call``, a ``suite``, or a ``comparison``."""
    document: dict[str, Json] = from_json(
        files("voiceharness.report").joinpath(f"schema/{name}.schema.json").read_bytes()
    )
    return document
