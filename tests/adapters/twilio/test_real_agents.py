"""Calls to agents that nobody here wrote, each a process in an environment of its own."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.adapters.twilio.wire_agent import speech, trusted
from voiceharness.audio import g711, signals
from voiceharness.clock import LoopClock, run_real
from voiceharness.scenario.run import run_call
from voiceharness.scenario.scenario import Scenario
from voiceharness.scenario.steps import AnyStep, Hear, Interrupt, Press, Say, Wait
from voiceharness.scenario.triggers import seconds
from voiceharness.scripted.calls import ConnectCall
from voiceharness.scripted.inbound import AudioEvent, RawEvent, TurnStartedEvent
from voiceharness.scripted.wire.server import RealtimeWireServer
from voiceharness_adapters.twilio import Twilio

if TYPE_CHECKING:
    from collections.abc import Iterator

    from voiceharness.scenario.result import CallResult
    from voiceharness.scripted.run import ScenarioContext

__all__: list[str] = []

pytestmark = [pytest.mark.realtime, pytest.mark.checkout]

PEERS = Path(sys.prefix) / "peers"
SPEECH_STARTED = (
    '{"type": "input_audio_buffer.speech_started", "event_id": "e9", "audio_start_ms": 1000, "item_id": "u1"}'
)


@contextmanager
def served(environment: str, script: str, *arguments: str) -> Iterator[str]:
    """Run an agent by the Python of its environment; yields the address of its stream."""
    python = PEERS / environment / "bin" / "python"
    program = Path(__file__).parent / "real_agents" / script
    command = [str(python), str(program), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            port = process.stdout.readline().strip()
            assert port, f"{script} did not start"
            yield f"ws://127.0.0.1:{port}/media"
        finally:
            process.kill()


def needs(environment: str) -> None:
    """Skip where an agent's environment is missing; on CI that is a failure."""
    if not (PEERS / environment / "installed").exists():
        pytest.skip(f"not installed: {environment}; tools/setup_real_agents.sh sets it up")


def test_a_pipecat_agent_answers_and_stops_when_it_is_talked_over() -> None:
    needs("pipecat")
    steps: list[AnyStep] = [
        Say(audio=speech(1.2)),
        Interrupt(audio=speech(0.6, seed=2), after=seconds(0.4)),
        Press("5"),
        Hear(),
    ]
    adapters: list[Twilio] = []

    async def main() -> CallResult:
        adapters.append(Twilio(url))
        return await run_call(Scenario("pipecat", steps), adapters[-1])

    with served("pipecat", "pipecat_agent.py") as url:
        result = trusted(lambda: run_real(main()))
    log = adapters[-1].log
    assert result.error is None, result.explain()
    assert log.violations == {}
    assert log.received["clear"] == 1
    assert log.received["media"] > 20
    metrics = result.metrics
    assert metrics is not None
    assert metrics.latencies[0] == pytest.approx(0.4, abs=0.2)
    (barge_in,) = metrics.barge_ins
    assert barge_in.stop_latency == pytest.approx(0.03, abs=0.15)
    assert log.after_stop <= 2


def test_an_openai_agents_session_speaks_and_is_interrupted_by_its_provider() -> None:
    needs("openai_agents")
    tone = g711.encode(signals.tone(440, 3.0).tobytes())
    steps: list[AnyStep] = [Say(audio=speech(0.6)), Interrupt(audio=speech(0.8), after=seconds(0.3)), Wait(0.3)]
    results: list[CallResult] = []
    adapters: list[Twilio] = []

    async def provider(far: ScenarioContext) -> None:
        """The provider's side: it answers 300 ms after the user has spoken, and hears the barge-in."""
        await far.expect_call(ConnectCall)
        await LoopClock().sleep(0.9)
        await far.emit(TurnStartedEvent(response_id="r1"))
        await far.emit(AudioEvent(data=tone, item_id="i1"))
        await LoopClock().sleep(0.6)
        await far.emit(RawEvent(data=SPEECH_STARTED))

    async def main() -> CallResult:
        async with RealtimeWireServer(ambient={"send_audio", "update_session_config", "close"}) as server:
            with served("openai_agents", "openai_agent.py", server.url) as url:

                async def call() -> None:
                    adapters.append(Twilio(url))
                    results.append(await run_call(Scenario("openai-agents", steps), adapters[-1]))

                await server.transport.run_scenario(scenario=provider, exercise=call, timeout=20.0)
            assert server.refusals == []
            assert len(server.received_of("input_audio_buffer.append")) >= adapters[-1].log.sent["media"] - 5
        return results[-1]

    result = trusted(lambda: run_real(main()))
    log = adapters[-1].log
    assert result.error is None, result.explain()
    assert (log.violations, log.received["clear"]) == ({}, 1)
    metrics = result.metrics
    assert metrics is not None
    assert len(metrics.agent_turns) == 1
    assert metrics.barge_ins[0].flush is not None
