"""Runs one scenario as one call, from the check of what it needs to the result.

Whatever happens, the result has the evidence up to that moment: an unmet expectation, an agent that crashed, a
transport that broke, a cancelled run. Only a cancellation leaves :func:`run_call` as an exception, after ``keep`` was
given what there is.
"""

from __future__ import annotations

import platform
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Final

from voiceharness.clock import LoopClock, run_real, run_virtual
from voiceharness.errors import OptionError, UnsupportedCapabilityError, VirtualTimeError, VoiceHarnessError
from voiceharness.line.line import open_line
from voiceharness.line.settings import LineSettings
from voiceharness.line.word_source import TranscribedWords, TransportWords
from voiceharness.measure.metrics import measure
from voiceharness.scenario.expectations import Evidence, judge
from voiceharness.scenario.player import Player
from voiceharness.scenario.preparation import prepare
from voiceharness.scenario.result import CallResult, Outcome, StepResult, Trust, outcome_of
from voiceharness.speech.engines import DEFAULT_TRANSCRIBER, make_synthesizer, make_transcriber
from voiceharness.speech.live import live_transcriber

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from voiceharness.adapter import VoiceAgentAdapter
    from voiceharness.capabilities import AdapterCapabilities
    from voiceharness.clock import Clock
    from voiceharness.line.line import Line
    from voiceharness.line.record import Value
    from voiceharness.line.word_source import WordSource
    from voiceharness.measure.metrics import Metrics
    from voiceharness.scenario.scenario import Scenario
    from voiceharness.speech.cache import SpeechCache
    from voiceharness.speech.synthesis import Synthesizer
    from voiceharness.speech.transcription import Transcriber

__all__ = ["SpeechEngines", "run_call", "run_scenario"]

MEAN_LATENESS_LIMIT_MS: Final = 10.0
"""Above this the frames of the user did not leave when they should: the run is not trustworthy."""


@dataclass(frozen=True, slots=True)
class SpeechEngines:
    """Who speaks for the user and who understands the agent: engines by name, or ready objects. None: the default."""

    synthesizer: str | Synthesizer | None = None
    transcriber: str | Transcriber | None = None
    cache: SpeechCache | None = None


@dataclass(slots=True)
class _Run:
    """What is known of a run so far; the result is made of it, whenever it ends."""

    scenario: Scenario
    adapter: VoiceAgentAdapter
    capabilities: AdapterCapabilities
    clock: Clock
    line: Line | None = None
    player: Player | None = None
    words: WordSource = field(default_factory=TransportWords)
    answered_after: float = 0.0
    error: BaseException | None = None
    facts: dict[str, Value] = field(default_factory=dict)


async def run_call(
    scenario: Scenario,
    adapter: VoiceAgentAdapter,
    *,
    capabilities: AdapterCapabilities | None = None,
    speech: SpeechEngines | None = None,
    on_step: Callable[[StepResult], None] = lambda _step: None,
    keep: Callable[[CallResult], None] = lambda _result: None,
) -> CallResult:
    """Run a scenario on the running event loop, whatever its clock, and return what became of it.

    ``capabilities`` are the adapter's for its options (default: the class's). ``keep`` is called once with the result,
    also when the run is cancelled.
    """
    run = _Run(scenario, adapter, capabilities or adapter.capabilities, LoopClock())
    try:
        await _call(run, speech or SpeechEngines(), on_step)
    except VoiceHarnessError as error:
        run.error = error
    except BaseException as error:
        run.error = error
        keep(_result(run))
        raise
    result = _result(run)
    keep(result)
    return result


def run_scenario(
    scenario: Scenario,
    adapter: Callable[[], VoiceAgentAdapter],
    *,
    virtual: bool | None = None,
    capabilities: AdapterCapabilities | None = None,
    speech: SpeechEngines | None = None,
    on_step: Callable[[StepResult], None] = lambda _step: None,
    keep: Callable[[CallResult], None] = lambda _result: None,
) -> CallResult:
    """Run a scenario in an event loop of its own and return what became of it.

    ``adapter`` makes the adapter. ``virtual``: virtual or real time; None takes virtual time where
    the adapter declares it.
    """
    made = adapter()
    known = capabilities or made.capabilities
    if virtual and not known.virtual_time:
        raise OptionError(f"adapter {made.name!r} cannot run in virtual time; leave it out, or ask for real time")
    is_virtual = known.virtual_time if virtual is None else virtual
    kept: list[CallResult] = []
    call = run_call(scenario, made, capabilities=known, speech=speech, on_step=on_step, keep=kept.append)
    try:
        (run_virtual if is_virtual else run_real)(call)
    except VirtualTimeError as error:
        kept[:] = [replace(result, outcome="harness_fault", error=error) for result in kept]
        if not kept:
            raise
    finally:
        for result in kept:
            keep(result)
    return kept[0]


async def _call(run: _Run, speech: SpeechEngines, on_step: Callable[[StepResult], None]) -> None:
    scenario = run.scenario
    _refuse_what_is_missing(run)
    clips = prepare(scenario, lambda: _synthesizer(run, speech))
    async with _words(run, speech) as run.words:
        dialled_ns = run.clock.now_ns()
        settings = LineSettings(rate=scenario.rate, delay=scenario.line.delay)
        async with open_line(run.adapter, settings, connect_timeout=scenario.connect_timeout) as line:
            run.line = line
            run.answered_after = (line.samples.start_ns - dialled_ns) / 1e9
            limit = line.samples.time_of(settings.samples(scenario.max_duration))
            watchdog = run.clock.call_at_ns(limit, lambda: line.hang_up("limit", "the call's maximum duration"))
            try:
                run.player = player = Player(
                    scenario,
                    line,
                    clips=clips,
                    words=run.words,
                    capabilities=run.capabilities,
                    evidence=lambda: _evidence(run, line),
                    on_step=on_step,
                )
                await player.play()
                line.hang_up("user", "the scenario was over")
            finally:
                watchdog.cancel()
        await _judge_limits(run, player)


def _refuse_what_is_missing(run: _Run) -> None:
    adapter, scenario = run.adapter, run.scenario
    missing = run.capabilities.missing(scenario.requires)
    if missing:
        needing = next((step.label for step in scenario.steps if missing[0] in step.requirements()), None)
        raise UnsupportedCapabilityError(adapter=adapter.name, capability=str(missing[0]), step=needing)
    if scenario.rate != adapter.rate:
        raise OptionError(
            f"scenario {scenario.name!r} runs at {scenario.rate} Hz, but adapter {adapter.name!r} was made for "
            f"{adapter.rate} Hz; give both the same rate"
        )


def _synthesizer(run: _Run, speech: SpeechEngines) -> Synthesizer:
    chosen = speech.synthesizer or run.scenario.synthesizer
    engine = make_synthesizer(chosen, rate=run.scenario.rate, cache=speech.cache)
    run.facts["synthesizer"] = engine.version
    return engine


@asynccontextmanager
async def _words(run: _Run, speech: SpeechEngines) -> AsyncIterator[WordSource]:
    """Choose where the agent's words come from; a transcriber is opened only for a scenario that needs words."""
    if run.capabilities.streaming_transcripts or not run.scenario.needs_words:
        yield TransportWords()
        return
    chosen = speech.transcriber or run.scenario.transcriber or DEFAULT_TRANSCRIBER
    run.facts["transcriber"] = make_transcriber(chosen).version
    words = TranscribedWords(partial(live_transcriber, chosen, virtual=run.clock.virtual))
    await words.live.open()
    try:
        yield words
    finally:
        await words.live.close()


# Verdicts


async def _evidence(run: _Run, line: Line) -> Evidence:
    metrics = measure(line.record())
    ended = line.ended
    return Evidence(
        metrics=metrics,
        agent_text=await _agent_text(run, line, metrics) if run.scenario.needs_words else None,
        user_text=" ".join(utterance.text for utterance in metrics.utterances if utterance.text),
        words_by=run.words.name,
        answered_after=run.answered_after,
        ended_by=ended.by if ended else None,
        ended_at=ended.at / metrics.rate if ended else None,
        ended_reason=ended.reason if ended else "",
        ended_code=ended.code if ended else None,
    )


async def _agent_text(run: _Run, line: Line, metrics: Metrics) -> str:
    texts = [await run.words.text(line, turn.onset, turn.offset) for turn in metrics.agent_turns]
    return " ".join(text for text in texts if text)


async def _judge_limits(run: _Run, player: Player) -> None:
    if not run.scenario.limits:
        return
    evidence = await _evidence(run, player.line)
    for expectation in run.scenario.limits:
        player.checks.append(judge(expectation, evidence, step=None, at=player.line.now))


def _result(run: _Run) -> CallResult:
    """Make the result of what is known, whenever that is."""
    line, player = run.line, run.player
    result = CallResult(
        scenario=run.scenario.name,
        adapter=run.adapter.name,
        outcome="passed",
        seed=run.scenario.seed,
        virtual=run.clock.virtual,
        steps=tuple(player.steps) if player else (),
        checks=tuple(player.checks) if player else (),
        answered_after=run.answered_after,
        error=run.error,
        facts=_facts(run),
    )
    if line is not None:
        result = _with_call(result, line)
    return replace(result, outcome=_outcome(result))


def _with_call(result: CallResult, line: Line) -> CallResult:
    record = line.record()
    ended = line.ended
    return replace(
        result,
        record=record,
        metrics=measure(record),
        ended_by=ended.by if ended else "",
        ended_reason=ended.reason if ended else "",
        ended_code=ended.code if ended else None,
        error=result.error or (ended.error if ended else None),
        trust=_trust(line, virtual=result.virtual),
        clock=line.samples.fit(),
    )


def _outcome(result: CallResult) -> Outcome:
    """Whose fault it is first: an error, the protocol, a run that cannot be trusted; then what the agent did."""
    if result.error is not None:
        return outcome_of(result.error)
    if result.record is not None and any(result.record.of_kind("protocol_fault")):
        return "protocol_violation"
    if not result.trust.trustworthy:
        return "harness_fault"
    return "failed" if result.failures else "passed"


def _trust(line: Line, *, virtual: bool) -> Trust:
    if virtual:
        return Trust()
    stalls = line.pacer.stalls
    reasons = [
        f"the event loop was blocked for {stall.duration:.3f} s at {line.seconds_of(stall.due_ns):.3f} s of the call: "
        "timings inside it cannot be believed"
        for stall in stalls
    ]
    mean_ms, max_ms = line.pacer.mean_lateness * 1000, line.pacer.max_lateness * 1000
    if mean_ms > MEAN_LATENESS_LIMIT_MS:
        reasons.append(f"user frames left {mean_ms:.1f} ms late on average: the machine is too busy")
    return Trust(tuple(reasons), mean_ms, max_ms, len(stalls))


def _facts(run: _Run) -> dict[str, Value]:
    own: dict[str, Value] = {"voiceharness": version("voiceharness"), "python": platform.python_version()}
    return {**own, "numpy": version("numpy"), **run.facts}
