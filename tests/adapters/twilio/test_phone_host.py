"""Agents at a phone: reached by the adapter's own REST calls, or calling its number, over loopback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.adapters.twilio.wire_agent import trusted
from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.signals import tone
from voiceharness.clock import run_real, run_virtual
from voiceharness.doubles import CrashingAgent, ProbeAgent, SilentAgent
from voiceharness.errors import VirtualTimeError
from voiceharness.events import CallEnded, Digit, Flush, Mark
from voiceharness.scenario.run import run_call
from voiceharness.scenario.scenario import Scenario
from voiceharness.scenario.steps import Press, Say, Wait
from voiceharness.testing import RULES, check_adapter
from voiceharness_adapters.twilio import TwilioPhone, phone_dialler, phone_host

if TYPE_CHECKING:
    from voiceharness.agent import PhoneAgent
    from voiceharness.scenario.result import CallResult
    from voiceharness.scenario.steps import AnyStep

__all__: list[str] = []

pytest.importorskip("twilio")

TONE = AudioChunk.from_samples(tone(440, 0.5))


def call(agent: PhoneAgent, *steps: AnyStep, dials: bool = False) -> CallResult:
    """Play a scenario on one call to the agent, or on one of its own."""

    async def main() -> CallResult:
        async with (phone_dialler if dials else phone_host)(agent) as target:
            scenario = Scenario("phone", steps, direction="be_dialled" if dials else "dial")
            options: Any = target
            return await run_call(scenario, TwilioPhone(**options))

    return trusted(lambda: run_real(main()))


@pytest.mark.realtime
def test_what_an_agent_sends_is_flushed_and_its_marks_are_answered_at_its_phone() -> None:
    agent = ProbeAgent([(0.2, TONE), (0.2, Mark("reached")), (1.8, TONE), (1.8, Mark("gone")), (2.0, Flush())])
    result = call(agent, Wait(3.0))
    assert [(mark.name, mark.flushed) for mark in agent.log.marks] == [("reached", False), ("gone", True)]
    assert result.metrics is not None
    lengths = [(turn.offset - turn.onset) / 8000 for turn in result.metrics.agent_turns]
    assert lengths == pytest.approx([0.5, 0.2], abs=0.06)


@pytest.mark.realtime
def test_keys_go_both_ways() -> None:
    agent = ProbeAgent([(0.4, Digit("7"))])
    result = call(agent, Wait(0.6), Press("42", "event"), Wait(0.5))
    assert agent.log.digits == "42"
    assert result.record is not None
    assert [event.data["digit"] for event in result.record.of_kind("digit_received")] == ["7"]


@pytest.mark.realtime
def test_an_agent_calls_the_number_and_each_hears_the_other() -> None:
    agent = ProbeAgent([(0.2, TONE)])
    result = call(agent, Say(audio=TONE), Wait(1.0), dials=True)
    assert result.passed, result.explain()
    assert result.metrics is not None
    assert result.metrics.agent_talk == pytest.approx(0.5, abs=0.1)
    assert agent.log.audio.samples.any()
    assert isinstance(agent.log.items[-1].item, CallEnded)


@pytest.mark.realtime
def test_an_agent_that_crashes_hangs_up() -> None:
    assert call(CrashingAgent(ValueError("no"), after=0.3), Wait(3.0)).ended_by == "agent"


@pytest.mark.parametrize("serve", [phone_host, phone_dialler])
def test_a_telephone_takes_real_time(serve: Any) -> None:
    async def main() -> None:
        with pytest.raises(VirtualTimeError, match="sockets"):
            async with serve(SilentAgent()):
                pass

    run_virtual(main())


@pytest.mark.realtime
@pytest.mark.parametrize("rule", RULES)
def test_the_adapter_keeps_the_contract(rule: str) -> None:
    run_real(check_adapter(TwilioPhone, phone_host, dialler=phone_dialler, rules=[rule], calls=5))
