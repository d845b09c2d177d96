"""An agent served as the model behind a session of the OpenAI Agents SDK."""

from __future__ import annotations

import sys

import pytest

from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.signals import speech_like
from voiceharness.clock import run_virtual
from voiceharness.doubles import SilentAgent, TurnTakingAgent
from voiceharness.errors import MissingExtraError
from voiceharness.registry.target import Target
from voiceharness.scenario.scenario import Scenario
from voiceharness.scenario.steps import Hear, Interrupt, Say
from voiceharness.scenario.triggers import seconds
from voiceharness_adapters.realtime import session_host

pytest.importorskip("agents", reason="not installed: openai-agents")

__all__: list[str] = []


def speech(length: float, seed: int) -> AudioChunk:
    return AudioChunk.from_samples(speech_like(length, seed=seed))


def test_a_listening_agent_is_called_through_a_session_and_stops_when_it_is_talked_over() -> None:
    agent = TurnTakingAgent([speech(3.0, 5)], pause=0.3, thinking=0.1, stops_after=0.2)
    interrupt = Interrupt(audio=speech(0.8, 2), after=seconds(1.0), via="speech")
    result = Target("openai_agents", agent=agent).call(Scenario("talk", [Say(audio=speech(0.8, 1)), interrupt, Hear()]))
    assert result.passed, result.explain()
    assert result.virtual
    assert result.metrics is not None
    assert 0.15 < (result.metrics.barge_ins[0].stop_latency or 0) < 0.3


def test_without_the_sdk_the_install_line_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "agents.realtime", None)

    async def main() -> None:
        with pytest.raises(MissingExtraError, match=r"voiceharness\[agents\]"):
            async with session_host(SilentAgent()):
                pass

    run_virtual(main())
