"""Calls to report about: real ones, in process and in virtual time, and made-up results for what these do not show."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.signals import speech_like
from voiceharness.doubles import SilentAgent, TurnTakingAgent
from voiceharness.scenario.checks import ResponseLatency
from voiceharness.scenario.result import CallResult
from voiceharness.scenario.run import run_scenario
from voiceharness.scenario.scenario import Scenario
from voiceharness.scenario.steps import Check, Hear, Interrupt, Press, Say
from voiceharness.scenario.triggers import AfterSeconds
from voiceharness_adapters.in_process import InProcess

if TYPE_CHECKING:
    from voiceharness.agent import PhoneAgent
    from voiceharness.scenario.result import Outcome

__all__ = ["SUITE_OUTCOMES", "answered_call", "broken_call", "made_up", "silent_call"]

SUITE_OUTCOMES: tuple[Outcome, ...] = (
    "passed",
    "failed",
    "not_called",
    "unsupported",
    "harness_fault",
    "protocol_violation",
    "bad_scenario",
)


@cache
def answered_call(*, at_most: float = 2.0) -> CallResult:
    """A question, an answer that is interrupted, and a digit."""
    scenario = Scenario(
        name="ask and interrupt",
        steps=[
            Say(audio=sound(1.5)),
            Interrupt(audio=sound(0.6), after=AfterSeconds(0.5)),
            Hear(),
            Check(ResponseLatency(at_most=at_most)),
            Press("5"),
        ],
        seed=7,
    )
    return called(scenario, TurnTakingAgent([sound(2.0), sound(0.7)], greeting=None))


@cache
def silent_call() -> CallResult:
    """An agent that never says a word."""
    return called(Scenario(name="silence", steps=[Say(audio=sound(0.5)), Hear(within=1.0)]), SilentAgent())


def broken_call(error: BaseException, **fields: Any) -> CallResult:
    """A call that was never answered."""
    return made_up("not_called", error=error, **fields)


def made_up(outcome: Any, **fields: Any) -> CallResult:
    """A result that no call stands behind."""
    given: dict[str, Any] = {"scenario": f"made up: {outcome}", "adapter": "in_process", "outcome": outcome}
    return CallResult(**given | fields)


def called(scenario: Scenario, agent: PhoneAgent) -> CallResult:
    return run_scenario(scenario, lambda: InProcess(agent), virtual=True)


def sound(seconds: float) -> AudioChunk:
    return AudioChunk.from_samples(speech_like(seconds, seed=1))
