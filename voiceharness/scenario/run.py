"""Runs one scenario as one call, from the check of what it needs to the result.

Whatever happens, the result has the evidence up to that moment: an unmet expectation, an agent that crashed, a
transport that broke, a cancelled run. Only a cancellation leaves :func:`run_call` as an exception, after ``keep`` was
given what there is.
"""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from voiceharness.clock import LoopClock, run_real, run_virtual
from voiceharness.errors import (
    MissingExtraError,
    OptionError,
    SpeechError,
    UnsupportedCapabilityError,
    VirtualTimeError,
)
from voiceharness.line.opening import open_line
from voiceharness.line.settings import LineSettings
from voiceharness.line.word_source import AnyWords, TranscribedWords, TransportWords
from voiceharness.scenario.identity import audio_fingerprint, scenario_fingerprint
from voiceharness.scenario.player import Player
from voiceharness.scenario.preparation import prepare
from voiceharness.scenario.unanswered import ends_before_answer, play_unanswered
from voiceharness.scenario.understanding import heard_turns
from voiceharness.scenario.verdicts import Run, evidence_of, judge_call, result_of
from voiceharness.speech.engines import DEFAULT_TRANSCRIBER, make_synthesizer, make_transcriber
from voiceharness.speech.live import live_transcriber

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Mapping

    from voiceharness.adapter import VoiceAgentAdapter
    from voiceharness.capabilities import AdapterCapabilities
    from voiceharness.line.line import Line
    from voiceharness.line.word_source import WordSource
    from voiceharness.scenario.result import CallResult, StepResult
    from voiceharness.scenario.scenario import Scenario
    from voiceharness.scenario.slots import Slot
    from voiceharness.scenario.steps import AnyStep
    from voiceharness.speech.cache import SpeechCache
    from voiceharness.speech.synthesis import Synthesizer
    from voiceharness.speech.transcription import Transcriber

__all__ = ["SpeechEngines", "no_virtual_time", "run_call", "run_scenario", "run_to_result"]


@dataclass(frozen=True, slots=True)
class SpeechEngines:
    """Who speaks for the user and who understands the agent: engines by name, or ready objects. None: the default.

    ``sounds``: what is in sound files that lie on another machine, by the names that steps have for them.
    """

    synthesizer: str | Synthesizer | None = None
    transcriber: str | Transcriber | None = None
    cache: SpeechCache | None = None
    sounds: Mapping[str, bytes] = field(default_factory=dict, repr=False, hash=False)


async def run_call(
    scenario: Scenario,
    adapter: VoiceAgentAdapter,
    *,
    capabilities: AdapterCapabilities | None = None,
    speech: SpeechEngines | None = None,
    on_step: Callable[[StepResult], None] = lambda _step: None,
    keep: Callable[[CallResult], None] = lambda _result: None,
    slot: Slot | None = None,
) -> CallResult:
    """Run a scenario on the running event loop, whatever its clock, and return what became of it.

    ``capabilities`` are what is declared of the adapter (default: what it declares for its own options). ``keep`` is
    called once with the result, also when the run is cancelled. ``slot`` is the call's own in a batch of calls.
    """
    run = Run(scenario, adapter, capabilities or adapter.own_capabilities, LoopClock())
    try:
        await _supervised(run, speech or SpeechEngines(), on_step, slot)
    except BaseException as error:  # a cancellation, or the user's interrupt
        run.error = run.error or error
        keep(result_of(run))
        raise
    result = result_of(run)
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

    ``adapter`` makes the adapter. ``virtual``: virtual or real time; None takes virtual time where the adapter declares
    it.
    """
    made = adapter()
    known = capabilities or made.own_capabilities
    if virtual and not known.virtual_time:
        raise no_virtual_time(made.name, made.capabilities)
    is_virtual = known.virtual_time if virtual is None else virtual
    call = partial(run_call, scenario, made, capabilities=known, speech=speech, on_step=on_step)
    return run_to_result(call, virtual=is_virtual, keep=keep)


def no_virtual_time(adapter: str, declared: AdapterCapabilities) -> OptionError:
    """Return the error of a call that cannot run in virtual time; ``declared`` are the capabilities of the class."""
    if not declared.virtual_time:
        return OptionError(f"adapter {adapter!r} cannot run in virtual time; leave it out, or ask for real time")
    return OptionError(
        f"adapter {adapter!r} cannot run in virtual time with these options: what is reached over the network takes "
        "real time; run in real time, or give what answers in this process (see "
        f"`voiceharness adapters show {adapter}`)"
    )


def run_to_result(
    call: Callable[..., Coroutine[Any, Any, object]],
    *,
    virtual: bool,
    keep: Callable[[CallResult], None] = lambda _result: None,
) -> CallResult:
    """Run a call in an event loop of its own and return its result.

    ``call`` is given ``keep``, for :func:`run_call`. If the call leaves virtual time, its result says so.
    """
    kept: list[CallResult] = []
    try:
        (run_virtual if virtual else run_real)(call(keep=kept.append))
    except VirtualTimeError as error:
        kept[:] = [replace(result, outcome="harness_fault", error=error) for result in kept]
        if not kept:
            raise
    finally:
        for result in kept:
            keep(result)
    return kept[0]


async def _supervised(
    run: Run, speech: SpeechEngines, on_step: Callable[[StepResult], None], slot: Slot | None
) -> None:
    try:
        await _call(run, speech, on_step, slot)
    except Exception as error:  # supervision point: whatever breaks a call becomes its result, with the evidence
        run.error = error
    if slot is not None:
        await slot.until_judging()  # making the result takes the processor, too


async def _call(run: Run, speech: SpeechEngines, on_step: Callable[[StepResult], None], slot: Slot | None) -> None:
    scenario = run.scenario
    run.facts["scenario"] = scenario_fingerprint(scenario)
    _refuse_what_is_missing(run, speech)
    if ends_before_answer(scenario.steps[0]):
        await play_unanswered(run, on_step)
        return
    make_clips = partial(prepare, scenario, lambda: _synthesizer(run, speech), speech.sounds)
    clips = make_clips() if slot is None else slot.clips(scenario, make_clips)
    run.facts["user_audio"] = audio_fingerprint(clips)
    if slot is not None:
        await slot.until_dialling()
    async with _words(run, speech) as run.words:
        dialled_ns = run.clock.now_ns()
        settings = LineSettings(
            rate=scenario.rate,
            delay=scenario.line.delay,
            impairments=scenario.line.impairments(),
            seed=scenario.seed,
            phase=None if slot is None else slot.phase,
        )
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
                    evidence=lambda: evidence_of(run, line),
                    on_step=on_step,
                )
                await player.play()
                line.hang_up("user", "the scenario was over")
            finally:
                watchdog.cancel()
        if slot is not None:
            await slot.until_judging()
        await judge_call(run, player)
        await _understand(run, speech, line)


def _words_beside(scenario: Scenario) -> bool:
    """Whether a scenario names a transcriber although none of its steps needs words: they are to be shown, then."""
    return scenario.transcriber is not None and not scenario.needs_words


async def _understand(run: Run, speech: SpeechEngines, line: Line) -> None:
    """Transcribe a finished call of an agent that sent no words; a failure is told, and is no fault of the call."""
    if run.evidence is None or not _words_beside(run.scenario) or line.downlink.words():
        return
    try:
        async with AsyncExitStack() as stack:
            words = await _transcriber(run, speech, stack)
            run.understood = await heard_turns(words, line, run.evidence.metrics.agent_turns)
    except (MissingExtraError, SpeechError) as error:
        run.facts["transcriber_error"] = str(error)


def _refuse_what_is_missing(run: Run, speech: SpeechEngines) -> None:
    adapter, scenario = run.adapter, run.scenario
    missing = run.capabilities.missing(scenario.requires)
    if missing:
        needing = next((_named(step) for step in scenario.steps if missing[0] in step.requirements()), None)
        raise UnsupportedCapabilityError(adapter=adapter.name, capability=str(missing[0]), step=needing)
    if scenario.rate != adapter.rate:
        raise OptionError(
            f"scenario {scenario.name!r} runs at {scenario.rate} Hz, but adapter {adapter.name!r} was made for "
            f"{adapter.rate} Hz; give both the same rate"
        )
    if _words_beside(scenario):
        with suppress(MissingExtraError):  # the call needs no words, so it is made without them
            make_transcriber(speech.transcriber or scenario.transcriber)


def _synthesizer(run: Run, speech: SpeechEngines) -> Synthesizer:
    chosen = speech.synthesizer or run.scenario.synthesizer
    engine = make_synthesizer(chosen, rate=run.scenario.rate, cache=speech.cache)
    run.facts["synthesizer"] = engine.version
    return engine


@asynccontextmanager
async def _words(run: Run, speech: SpeechEngines) -> AsyncIterator[WordSource]:
    """Choose where the agent's words come from; a transcriber is opened only for a scenario that needs words."""
    if not run.scenario.needs_words:
        yield TransportWords()
        return
    async with AsyncExitStack() as stack:
        if run.capabilities.streaming_transcripts:
            yield AnyWords(partial(_transcriber_if_any, run, speech, stack))
        else:
            yield await _transcriber(run, speech, stack)


async def _transcriber_if_any(run: Run, speech: SpeechEngines, stack: AsyncExitStack) -> TranscribedWords | None:
    try:
        return await _transcriber(run, speech, stack)
    except MissingExtraError:
        return None  # what was heard cannot be told, and the verdict says that the agent sent no words


async def _transcriber(run: Run, speech: SpeechEngines, stack: AsyncExitStack) -> TranscribedWords:
    chosen = speech.transcriber or run.scenario.transcriber or DEFAULT_TRANSCRIBER
    run.facts["transcriber"] = make_transcriber(chosen).version
    words = TranscribedWords(partial(live_transcriber, chosen, virtual=run.clock.virtual))
    await words.live.open()
    stack.push_async_callback(words.live.close)
    return words


def _named(step: AnyStep) -> str:
    return step.label if step.place is None else f"{step.label}, {step.place}"
