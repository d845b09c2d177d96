"""Agents, sounds and runs that the tests of the engine share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voiceharness.audio import signals
from voiceharness.audio.chunk import AudioChunk
from voiceharness.scenario.run import run_scenario
from voiceharness.scenario.scenario import Scenario
from voiceharness_adapters.in_process import InProcess

if TYPE_CHECKING:
    from voiceharness.agent import PhoneAgent
    from voiceharness.scenario.result import CallResult
    from voiceharness.scenario.steps import AnyStep

__all__ = ["RATE", "play", "speech", "tone"]

RATE = 8000


def tone(hz: float, seconds: float, *, item: str | None = None) -> AudioChunk:
    """A tone that is loud from its first sample to its last."""
    return AudioChunk.from_samples(signals.tone(hz, seconds), item=item)


def speech(seconds: float, *, seed: int = 1) -> AudioChunk:
    """Sound that stands for a user's speech."""
    return AudioChunk.from_samples(signals.speech_like(seconds, seed=seed))


def play(agent: PhoneAgent, *steps: AnyStep, **fields: object) -> CallResult:
    """Run a scenario of these steps against an agent, in virtual time."""
    scenario = Scenario("test", list(steps), **fields)  # type: ignore[arg-type] # the scenario checks its own fields
    return run_scenario(scenario, lambda: InProcess(agent))
