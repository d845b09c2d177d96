"""Many calls at once over sockets: the benchmark's load at a tenth of its size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.adapters.twilio.wire_agent import speech
from voiceharness.clock import run_real
from voiceharness.doubles import EchoAgent
from voiceharness.scenario.many import run_calls
from voiceharness.scenario.scenario import Scenario
from voiceharness.scenario.steps import Say, Wait
from voiceharness_adapters.twilio import Twilio, TwilioAgentApp
from voiceharness_adapters.twilio.asgi_server import serve_asgi

if TYPE_CHECKING:
    from voiceharness.scenario.result import CallResult


@pytest.mark.realtime
def test_twenty_calls_at_once_are_right_or_not_trusted() -> None:
    """Every call has its own result; none whose sound is out of place is believed."""
    scenario = Scenario("echo", [Say(audio=speech(1.0)), Wait(0.5)])

    async def main() -> list[CallResult]:
        async with serve_asgi(TwilioAgentApp(EchoAgent())) as port:
            return await run_calls([(scenario, Twilio(f"ws://127.0.0.1:{port}/media")) for _ in range(20)])

    results = run_real(main())
    assert len(results) == 20
    for result in results:
        assert result.error is None, result.explain()
        assert result.metrics is not None
        if result.trust.trustworthy:
            assert result.passed, result.explain()
            assert result.metrics.agent_talk == pytest.approx(1.0, abs=0.05)
