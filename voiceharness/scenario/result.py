"""What became of a call, as a value. Nothing here raises until the user asks it to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Final, Literal

from voiceharness.errors import (
    CallError,
    ConfigurationError,
    ProtocolError,
    RemoteProtocolError,
    UnsupportedCapabilityError,
    VoiceHarnessError,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voiceharness.line.record import CallRecord, TimelineEvent, Value
    from voiceharness.line.sample_clock import ClockFit
    from voiceharness.measure.finding import Finding
    from voiceharness.measure.metrics import Metrics
    from voiceharness.scenario.expectations import CheckResult
    from voiceharness.scenario.understanding import Understood

__all__ = ["EXIT_CODES", "CallFailed", "CallResult", "Outcome", "StepOutcome", "StepResult", "Trust", "outcome_of"]

Outcome = Literal[
    "passed", "failed", "not_called", "unsupported", "harness_fault", "protocol_violation", "bad_scenario"
]
"""``not_called``: the call was not set up, or its transport failed."""

EXIT_CODES: Final[Mapping[Outcome, int]] = {
    "passed": 0,
    "failed": 1,
    "bad_scenario": 2,
    "not_called": 3,
    "unsupported": 4,
    "harness_fault": 5,
    "protocol_violation": 6,
}

StepOutcome = Literal["done", "failed", "cut", "skipped"]


@dataclass(frozen=True, slots=True)
class StepResult:
    """One step as it was played: positions of its begin and end, and why it was skipped, or cut short, if it was.

    ``index`` counts from 0; reports that are made to be read count steps from 1.
    """

    index: int
    label: str
    outcome: StepOutcome
    start: int
    end: int
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Trust:
    """Whether the harness kept its own promises on this call.

    ``reasons`` is empty when it did. Lateness is that of sent user frames, in milliseconds.
    """

    reasons: tuple[str, ...] = ()
    mean_lateness_ms: float = 0.0
    max_lateness_ms: float = 0.0
    stalls: int = 0

    @property
    def trustworthy(self) -> bool:
        """Whether the figures of the call can be believed."""
        return not self.reasons


@dataclass(frozen=True, slots=True, eq=False)
class CallResult:
    """Everything known about one call.

    ``record`` is None if the call was never answered. ``checks`` are all expectations, met and unmet, in the order in
    which they were judged. ``understood`` are the agent's turns as the harness's transcriber understood them.
    ``error`` is what broke the call, with its cause. ``facts`` names engines and versions, has the fingerprints of
    scenario and user audio, and what the transport tells of the call; ``artefacts`` are files that it keeps, by name.
    """

    scenario: str
    adapter: str
    outcome: Outcome
    seed: int = 0
    virtual: bool = False
    steps: tuple[StepResult, ...] = ()
    checks: tuple[CheckResult, ...] = ()
    metrics: Metrics | None = None
    findings: tuple[Finding, ...] = ()
    understood: tuple[Understood, ...] = ()
    record: CallRecord | None = None
    ended_by: str = ""
    ended_reason: str = ""
    ended_code: int | None = None
    answered_after: float = 0.0
    error: BaseException | None = None
    trust: Trust = field(default_factory=Trust)
    clock: ClockFit | None = None
    facts: Mapping[str, Value] = field(default_factory=dict)
    artefacts: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether every expectation was met on a call that can be trusted."""
        return self.outcome == "passed"

    @property
    def exit_code(self) -> int:
        """What the command line returns for this call alone."""
        return EXIT_CODES[self.outcome]

    @property
    def failures(self) -> tuple[CheckResult, ...]:
        """The expectations that were not met."""
        return tuple(check for check in self.checks if not check.passed)

    @property
    def protocol_faults(self) -> tuple[TimelineEvent, ...]:
        """The rules of the protocol that the agent's side broke, each with its ``kind`` and a ``detail``."""
        return () if self.record is None else tuple(self.record.of_kind("protocol_fault"))

    def explain(self) -> str:
        """Say in one line each why the call did not pass, what cannot be trusted first; empty if it did."""
        lines = [f"not trustworthy: {reason}" for reason in self.trust.reasons]
        if self.error is not None:
            lines.append(f"{type(self.error).__name__}: {self.error}")
        lines += [f"protocol fault {fault.data['kind']}: {fault.data['detail']}" for fault in self.protocol_faults]
        lines += [f"{check.kind}: {check.explanation}" for check in self.failures]
        return "\n".join(lines)

    def raise_for_failure(self) -> CallResult:
        """Return the result if the call passed.

        Raises:
            CallFailed: otherwise, with ``explain()`` as its text, this result, and the error as its cause.
        """
        if not self.passed:
            raise CallFailed(self) from self.error
        return self


class CallFailed(VoiceHarnessError, AssertionError):  # noqa: N818 (an outcome, as pytest's Failed is)
    """A call did not pass; ``result`` has the evidence."""

    exit_code: ClassVar[int] = 1

    def __init__(self, result: CallResult) -> None:
        super().__init__(f"{result.scenario} over {result.adapter}: {result.outcome}\n{result.explain()}".rstrip())
        self.result = result


def outcome_of(error: BaseException) -> Outcome:
    """Say whose fault an error is."""
    match error:
        case ConfigurationError():
            return "bad_scenario"
        case UnsupportedCapabilityError():
            return "unsupported"
        case RemoteProtocolError():
            return "protocol_violation"
        case CallError() if not isinstance(error, ProtocolError):
            return "not_called"
    return "harness_fault"
