"""The demo's suite: calls to a healthy appointment line, which pass, and to lines with a planted fault, which must not.

The demo passes when every verdict is the true one: the healthy line passes every call, and each planted fault is found
for its own reason. A call that its transport cannot carry is not made, and says why; that is a true verdict as well. A
call that was disturbed, so that the harness itself does not trust it, says nothing of the line: it is made again, at
most twice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from voiceharness.demo.agent import AppointmentLine
from voiceharness.registry.plugins import load_adapter
from voiceharness.registry.target import Target
from voiceharness.scenario.run import SpeechEngines
from voiceharness.scenario.yaml_file import parse_scenarios
from voiceharness.speech.cache import CachedSynthesizer, SpeechCache
from voiceharness.speech.engines import make_synthesizer, make_transcriber

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from voiceharness.demo.agent import Fault
    from voiceharness.scenario.result import CallResult, StepResult
    from voiceharness.scenario.scenario import Scenario

__all__ = ["DEMO_CALLS", "DemoCall", "DemoVerdict", "demo_scenarios", "run_demo"]


ATTEMPTS: Final = 3
DISTURBED: Final = frozenset({"harness_fault", "not_called"})


@dataclass(frozen=True, slots=True)
class DemoCall:
    """One call of the demo: which scenario, what is wrong with the line, and by which of these it must be found.

    ``found_by`` are kinds of checks and of findings; any of them is a true reason. None: the call must pass.
    """

    scenario: str
    fault: Fault | None = None
    found_by: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class DemoVerdict:
    """What became of one call, and whether that is the truth about the line that was called."""

    result: CallResult
    as_expected: bool
    explanation: str


DEMO_CALLS: Final = (
    DemoCall("books an appointment"),
    DemoCall("interrupts the greeting"),
    DemoCall("interrupts after three words"),
    DemoCall("says mm-hmm while it listens"),
    DemoCall("says nothing"),
    DemoCall("changes its mind"),
    DemoCall("interrupts the greeting", "talks_on", frozenset({"stop_latency"})),
    DemoCall(
        "interrupts the greeting",
        "leaks_after_flush",
        frozenset({"audio_after_flush", "residual_burst", "stop_latency"}),
    ),
    DemoCall("books an appointment", "slow", frozenset({"response_latency"})),
    DemoCall("books an appointment", "deaf_to_digits", frozenset({"no_answer", "hear_text"})),
    DemoCall(
        "says mm-hmm while it listens",
        "stops_for_mm_hmm",
        frozenset({"false_yield", "stopped_not_resumed", "transcript"}),
    ),
)
"""A healthy line six times, then five planted faults."""


def demo_scenarios() -> tuple[Scenario, ...]:
    """Return the scenarios that the demo plays."""
    text = (files("voiceharness.demo") / "calls.yaml").read_text(encoding="utf-8")
    return parse_scenarios(text, file="calls.yaml")


def run_demo(
    *, on_step: Callable[[StepResult], None] = lambda _step: None, over: str = "in_process"
) -> Iterator[DemoVerdict]:
    """Play the demo's calls one after another, each on a line of its own, and judge each verdict.

    ``over`` is the adapter that carries them.

    Raises:
        MissingExtraError: if the embedded speech engines are not installed.
    """
    scenarios = {scenario.name: scenario for scenario in demo_scenarios()}
    transcriber = make_transcriber()
    synthesizer = CachedSynthesizer(make_synthesizer(), SpeechCache())
    # On a real clock the harness understands in a worker process, where it holds no call up.
    own = transcriber if load_adapter(over).capabilities.virtual_time else None
    engines = SpeechEngines(synthesizer=synthesizer, transcriber=own)
    for call in DEMO_CALLS:
        faults = () if call.fault is None else (call.fault,)
        line = AppointmentLine(*faults, synthesizer=synthesizer, transcriber=transcriber)
        target = Target(over, {}, line)
        dial = partial(target.call, scenarios[call.scenario], speech=engines, on_step=on_step)
        yield _judged(call, _undisturbed(dial))


def _undisturbed(dial: Callable[[], CallResult]) -> CallResult:
    """Call, and again while the result says nothing of the line; the last result may be such a one."""
    for _ in range(ATTEMPTS - 1):
        result = dial()
        if result.outcome not in DISTURBED:
            return result
    return dial()


def _judged(call: DemoCall, result: CallResult) -> DemoVerdict:
    if result.outcome == "unsupported":
        return DemoVerdict(result, True, "not called: this transport cannot carry it")
    if result.outcome in DISTURBED:
        return DemoVerdict(result, False, "this says nothing of the line: the call itself was disturbed")
    if call.fault is None:
        healthy = "the line is healthy, and the call passed"
        return DemoVerdict(result, result.passed, healthy if result.passed else "the line is healthy: a false alarm")
    result = replace(result, scenario=f"{result.scenario}: {call.fault}")  # the same words on another line
    reasons = {check.kind for check in result.failures} | {found.kind for found in result.findings}
    true_reasons = sorted(reasons & call.found_by)
    if result.outcome == "failed" and true_reasons:
        return DemoVerdict(result, True, f"planted: {call.fault}; found by {', '.join(true_reasons)}")
    return DemoVerdict(result, False, f"planted: {call.fault}; not found")
