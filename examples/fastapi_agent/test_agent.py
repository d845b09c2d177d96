"""The agent's tests: one scenario, in virtual time without a socket, and over a real one.

pip install "voiceharness[twilio]" fastapi pytest
pytest examples/fastapi_agent
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from examples.fastapi_agent.agent import app
from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.signals import speech_like
from voiceharness.clock import run_real
from voiceharness.scenario.checks import ResponseLatency, StopLatency
from voiceharness.scenario.run import run_call, run_scenario
from voiceharness.scenario.scenario import Scenario
from voiceharness.scenario.steps import Hear, Interrupt, Say
from voiceharness.scenario.triggers import seconds
from voiceharness_adapters.twilio import Twilio
from voiceharness_adapters.twilio.asgi_server import serve_asgi

if TYPE_CHECKING:
    from voiceharness.scenario.result import CallResult

__all__: list[str] = []

QUESTION = AudioChunk.from_samples(speech_like(1.5, seed=1))
OBJECTION = AudioChunk.from_samples(speech_like(0.6, seed=2))

SCENARIO = Scenario(
    "said back, and talked over",
    [
        Say(audio=QUESTION),
        Interrupt(audio=OBJECTION, after=seconds(0.4)),
        Hear(),
    ],
    limits=[ResponseLatency(at_most=0.6), StopLatency(at_most=0.1)],
)


def test_in_virtual_time() -> None:
    result = run_scenario(SCENARIO, lambda: Twilio("https://agent.example.test/voice", app=app))
    result.raise_for_failure()


@pytest.mark.realtime
def test_over_a_socket() -> None:
    async def call() -> CallResult:
        async with serve_asgi(app) as port:
            return await run_call(SCENARIO, Twilio(f"http://127.0.0.1:{port}/voice"))

    run_real(call()).raise_for_failure()
