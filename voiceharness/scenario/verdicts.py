"""From what is known of a run to its result: evidence, judgement, and whose fault it is."""

from __future__ import annotations

import platform
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import version
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from voiceharness.line.word_source import TransportWords
from voiceharness.measure.faults import find_faults
from voiceharness.measure.metrics import measure
from voiceharness.scenario.expectations import CheckResult, Evidence, judge
from voiceharness.scenario.result import CallResult, Outcome, StepResult, Trust, outcome_of
from voiceharness.scenario.understanding import Understood, heard_turns

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from voiceharness.adapter import VoiceAgentAdapter
    from voiceharness.audio.edges import Span
    from voiceharness.capabilities import AdapterCapabilities
    from voiceharness.clock import Clock, Stall
    from voiceharness.line.line import Line
    from voiceharness.line.record import Value
    from voiceharness.line.sample_clock import ClockFit, SampleClock
    from voiceharness.line.word_source import WordSource
    from voiceharness.measure.finding import Finding
    from voiceharness.measure.metrics import Metrics
    from voiceharness.scenario.player import Player
    from voiceharness.scenario.scenario import Scenario

__all__ = ["Run", "clock_doubts", "evidence_of", "judge_call", "misplaced_sound", "result_of"]

MEAN_LATENESS_LIMIT_MS: Final = 10.0
"""Above this the frames of the user did not leave when they should: the run is not trustworthy."""

LEAST_OBSERVATIONS: Final = 250
"""Ticks of a transport's own clock that its fit needs to say anything: 5 s of frames."""

MOST_REASONS: Final = 5
"""Of one kind; a busy machine has thousands."""

RESIDUAL_LIMIT_MS: Final = 40.0
"""Two frames; what is measured on a real clock is believed to that much."""

DRIFT_LIMIT_PPM: Final = 1000.0
"""Ten times what two crystals may differ by: beyond it, audio is missing."""


@dataclass(slots=True)
class Run:
    """What is known of a run so far; its result can be made at any moment.

    ``steps`` and ``checks`` are those of a call that ended before it was answered; a player keeps its own.
    """

    scenario: Scenario
    adapter: VoiceAgentAdapter
    capabilities: AdapterCapabilities
    clock: Clock
    line: Line | None = None
    player: Player | None = None
    words: WordSource = field(default_factory=TransportWords)
    answered_after: float = 0.0
    evidence: Evidence | None = None
    understood: tuple[Understood, ...] = ()
    error: BaseException | None = None
    steps: list[StepResult] = field(default_factory=list)
    checks: list[CheckResult] = field(default_factory=list)
    facts: dict[str, Value] = field(default_factory=dict)


async def evidence_of(run: Run, line: Line) -> Evidence:
    """Return what is known of the call up to now, as expectations are judged by it."""
    record = line.record()
    metrics = measure(record)
    ended = line.ended
    return Evidence(
        metrics=metrics,
        findings=find_faults(record, metrics),
        agent_text=await _agent_text(run, line, metrics) if run.scenario.needs_words else None,
        user_text=" ".join(utterance.text for utterance in metrics.utterances if utterance.text),
        words_by=run.words.name,
        answered_after=run.answered_after,
        answered_code=run.adapter.answered_code,
        ended_by=ended.by if ended else None,
        ended_at=ended.at / metrics.rate if ended else None,
        ended_reason=ended.reason if ended else "",
        ended_code=ended.code if ended else None,
        record=record,
    )


async def _agent_text(run: Run, line: Line, metrics: Metrics) -> str:
    turns = await heard_turns(run.words, line, metrics.agent_turns)
    run.understood = turns if run.words.name == "transcriber" else ()
    return " ".join(turn.text for turn in turns if turn.text)


async def judge_call(run: Run, player: Player) -> None:
    """Judge the whole call: by the limits of the scenario, and by the faults that are always looked for."""
    run.evidence = evidence = await evidence_of(run, player.line)
    end = round(evidence.metrics.duration * evidence.metrics.rate)
    player.checks += [judge(limit, evidence, step=None, at=end) for limit in run.scenario.limits]
    allowed = run.scenario.allow
    player.checks += [
        _unwanted(found) for found in evidence.findings if found.severity == "fault" and found.kind not in allowed
    ]


def _unwanted(found: Finding) -> CheckResult:
    return CheckResult(
        kind="no_fault",
        passed=False,
        wanted=f"no {found.kind}",
        measured=f"{found.figure:g} {found.unit}",
        explanation=f"{found.kind}: {found.explanation}",
        step=None,
        at=found.end,
    )


def result_of(run: Run) -> CallResult:
    """Make the result of what is known, whenever that is."""
    line, player = run.line, run.player
    result = CallResult(
        scenario=run.scenario.name,
        adapter=run.adapter.name,
        outcome="passed",
        seed=run.scenario.seed,
        virtual=run.clock.virtual,
        steps=tuple(player.steps if player else run.steps),
        checks=tuple(player.checks if player else run.checks),
        answered_after=run.answered_after,
        error=run.error,
        facts=_facts(run),
        artefacts=dict(run.adapter.artefacts()),
    )
    if line is not None:
        result = _with_call(replace(result, understood=run.understood), line, run.evidence)
    return replace(result, outcome=_outcome(result))


def _with_call(result: CallResult, line: Line, evidence: Evidence | None) -> CallResult:
    record = line.record()
    metrics = measure(record) if evidence is None else evidence.metrics
    ended = line.ended
    return replace(
        result,
        record=record,
        metrics=metrics,
        findings=find_faults(record, metrics) if evidence is None else tuple(evidence.findings),
        ended_by=ended.by if ended else "",
        ended_reason=ended.reason if ended else "",
        ended_code=ended.code if ended else None,
        error=result.error or (ended.error if ended else None),
        trust=_trust(line, metrics, virtual=result.virtual),
        clock=line.samples.fit(),
    )


def _outcome(result: CallResult) -> Outcome:
    """Say whose fault it is: an error, the protocol, a run that cannot be trusted; then what the agent did."""
    if result.error is not None:
        return outcome_of(result.error)
    if result.record is not None and any(result.record.of_kind("protocol_fault")):
        return "protocol_violation"
    if not result.trust.trustworthy:
        return "harness_fault"
    return "failed" if result.failures else "passed"


def _trust(line: Line, metrics: Metrics, *, virtual: bool) -> Trust:
    reasons = list(line.adapter.trust_reasons())
    if virtual:
        return Trust(tuple(reasons))
    stalls = line.pacer.stalls
    reasons += _listed(
        f"the event loop was blocked for {stall.duration:.3f} s at {line.seconds_of(stall.due_ns):.3f} s of the call: "
        "timings inside it cannot be believed"
        for stall in stalls
    )
    shorter = [delay for delay in line.pacer.delays if delay not in stalls]
    sounds = [*(utterance.span for utterance in metrics.utterances), *metrics.segments]
    reasons += _listed(misplaced_sound(shorter, sounds, line.samples, line.settings.frame))
    reasons += clock_doubts(line.samples.fit())
    mean_ms, max_ms = line.pacer.mean_lateness * 1000, line.pacer.max_lateness * 1000
    if mean_ms > MEAN_LATENESS_LIMIT_MS:
        reasons.append(f"user frames left {mean_ms:.1f} ms late on average: the machine is too busy")
    return Trust(tuple(reasons), mean_ms, max_ms, len(stalls))


def misplaced_sound(delays: Iterable[Stall], sounds: Collection[Span], clock: SampleClock, frame: int) -> Iterator[str]:
    """Say where somebody was heard late because the loop was, by more than what a real clock is believed to.

    What arrives just after a tick may have waited until the next one: up to a ``frame`` (in samples) longer than that.
    """
    for delay in delays:
        due = clock.position_at(delay.due_ns)
        start, end = due - frame, due + round(delay.duration * clock.rate) + frame
        if any(span.onset <= end and start <= span.offset for span in sounds):
            most = delay.duration + frame / clock.rate
            yield (
                f"the event loop was {delay.duration:.3f} s late at {due / clock.rate:.3f} s of the call, while "
                f"somebody spoke: what was heard there may be misplaced by up to {most:.3f} s"
            )


def _listed(reasons: Iterable[str]) -> list[str]:
    """Return the first few reasons of a kind, and how many more there are."""
    listed = list(reasons)
    more = len(listed) - MOST_REASONS
    return [*listed[:MOST_REASONS], f"... and {more} times more"] if more > 0 else listed


def clock_doubts(fit: ClockFit) -> list[str]:
    """Say why the positions of a transport that keeps time itself cannot be believed; short calls tell nothing."""
    if fit.observations < LEAST_OBSERVATIONS:
        return []
    doubts = []
    if fit.residual_ms > RESIDUAL_LIMIT_MS:
        doubts.append(f"the transport's clock ticks unevenly: positions are uncertain by {fit.residual_ms:.0f} ms")
    if abs(fit.drift_ppm) > DRIFT_LIMIT_PPM:
        doubts.append(f"the transport's clock is off by {fit.drift_ppm:+.0f} ppm: it lost or gained audio")
    return doubts


def _facts(run: Run) -> dict[str, Value]:
    return {**_versions(), **run.facts, **run.adapter.call_facts()}


@cache
def _versions() -> Mapping[str, str]:
    packages = {package: version(package) for package in ("voiceharness", "numpy")}
    return MappingProxyType({"python": platform.python_version(), **packages})
