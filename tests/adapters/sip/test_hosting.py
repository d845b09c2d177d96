"""A hosted agent, and what it is told of calls that never come up."""

from __future__ import annotations

import pytest

from voiceharness.clock import run_real
from voiceharness.doubles.probe_agent import MissedCall, ProbeAgent
from voiceharness.scenario.run import run_call
from voiceharness.scenario.scenario import Scenario
from voiceharness.scenario.steps import Line, Wait
from voiceharness_adapters.sip import Sip, dialler, host

__all__: list[str] = []

pytestmark = pytest.mark.realtime


def test_an_agent_may_let_a_call_ring_before_it_answers() -> None:
    async def main() -> float:
        async with host(ProbeAgent(ring=0.5)) as target:
            result = await run_call(Scenario("ring", [Wait(0.2)]), Sip(str(target["target"])))
        assert result.error is None
        return result.answered_after

    assert run_real(main()) >= 0.5


def test_a_call_that_is_given_up_while_it_rings_is_missed_and_never_answered() -> None:
    agent = ProbeAgent(ring=30.0)

    async def main() -> MissedCall:
        async with host(agent) as target:
            result = await run_call(Scenario("cancel", [Line("cancel")]), Sip(str(target["target"])))
            assert result.error is None
            return await agent.until_missed()

    assert run_real(main()).code == 487
    assert agent.logs == []


def test_an_agent_whose_call_is_refused_is_told_the_cause() -> None:
    agent = ProbeAgent()

    async def main() -> MissedCall:
        async with dialler(agent) as target:
            scenario = Scenario("reject", [Line("reject")], direction="be_dialled")
            result = await run_call(scenario, Sip(**target))  # type: ignore[arg-type]  # what a dialler yields
            assert result.error is None
            return await agent.until_missed()

    assert run_real(main()) == MissedCall(603, "Decline")
    assert agent.logs == []
