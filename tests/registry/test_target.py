"""What a scenario is run against."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from voiceharness.agent import AgentCall, PhoneAgent
from voiceharness.doubles import SilentAgent
from voiceharness.errors import OptionError, UnknownAdapterError, VirtualTimeError
from voiceharness.registry.target import Target
from voiceharness.scenario.scenario import Scenario
from voiceharness.scenario.steps import Wait

if TYPE_CHECKING:
    from pathlib import Path

    from voiceharness.scenario.result import CallResult

WAIT = Scenario(name="wait", steps=[Wait(1.0)])


class LookingUpAgent(PhoneAgent):
    """Looks up a name, which virtual time cannot follow."""

    async def answer(self, call: AgentCall) -> None:
        """Look up a name."""
        await call.clock.sleep(0.5)
        await asyncio.get_running_loop().getaddrinfo("localhost", 80)


async def asgi(scope: object, receive: object, send: object) -> None:
    """Answer as an ASGI application does."""


APPLICATION: Any = asgi  # Any: it is no agent, which is what is refused


def test_the_agent_is_served_to_the_adapter_and_called() -> None:
    agent = SilentAgent()
    result = Target(agent=agent).call(WAIT)
    assert (result.outcome, result.adapter, result.virtual) == ("passed", "in_process", True)
    assert agent.log.ended_at == pytest.approx(1.0)


def test_an_agent_goes_before_one_among_the_options() -> None:
    """Of the scenario, say: what the command line names goes before the file."""
    agent, other = SilentAgent(), SilentAgent()
    Target(options={"agent": other}, agent=agent).call(WAIT).raise_for_failure()
    Target(agent=agent).call(Scenario(name="wait", steps=[Wait(1.0)], options={"agent": "nowhere:Agent"}))
    assert len(agent.logs) == 2
    assert not other.logs


def test_what_makes_agents_makes_one_for_each_call() -> None:
    made: list[SilentAgent] = []

    def make() -> SilentAgent:
        made.append(SilentAgent())
        return made[-1]

    target = Target(agent=make)
    target.call(WAIT)
    target.call(WAIT)
    assert [len(agent.logs) for agent in made] == [1, 1]


def test_the_adapter_runs_at_the_rate_of_the_scenario() -> None:
    record = Target(agent=SilentAgent()).call(Scenario(name="wide", steps=[Wait(0.5)], rate=16000)).record
    assert record is not None
    assert (record.rate, len(record.user)) == (16000, 8000)


def test_the_target_goes_before_what_the_scenario_says_of_itself() -> None:
    scenario = Scenario(name="own", steps=[Wait(1.0)], adapter="in_process", options={"goodbye": 2.0, "rate": 16000})
    assert Target().adapter_for(scenario) == "in_process"
    assert Target(options={"goodbye": 3.0}).options_for(scenario) == {"goodbye": 3.0, "rate": 16000}
    assert Target("in_process_turns").options_for(scenario) == {}


def test_the_evidence_is_kept_once() -> None:
    kept: list[CallResult] = []
    result = Target(agent=SilentAgent()).call(WAIT, keep=kept.append)
    assert kept == [result]


def test_options_that_lead_over_the_network_are_refused_in_virtual_time_and_say_so() -> None:
    target = Target("twilio", {"url": "wss://agent.example.test/stream"})
    with pytest.raises(
        OptionError, match=r"in virtual time with these options: what is reached over the network takes real"
    ):
        target.call(WAIT, virtual=True)


def test_an_adapter_without_virtual_time_says_it_of_itself() -> None:
    with pytest.raises(OptionError, match="adapter 'sip' cannot run in virtual time; leave it out"):
        Target("sip", {"target": "sip:agent@127.0.0.1"}).call(WAIT, virtual=True)


def test_work_that_virtual_time_cannot_follow_is_a_fault_with_the_evidence_up_to_it() -> None:
    result = Target(agent=LookingUpAgent()).call(WAIT)
    assert result.outcome == "harness_fault"
    assert isinstance(result.error, VirtualTimeError)
    assert result.record is not None
    assert result.record.duration == 0.5


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (Target(), "needs the option 'agent'"),
        (Target(agent="nowhere:Agent"), "cannot be loaded"),
        (Target(agent=APPLICATION), "looks like an ASGI application.* --adapter twilio .* --set app=MODULE:NAME"),
    ],
)
def test_a_target_that_cannot_be_made_is_an_error_before_dialling(target: Target, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        target.call(WAIT)


def test_an_adapter_without_a_host_serves_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "vh_hostless-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: vh-hostless\nVersion: 1.0\n")
    entry = "[voiceharness.adapters]\nhostless = voiceharness_adapters.in_process:InProcessTurns\n"
    (package / "entry_points.txt").write_text(entry)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(OptionError, match="has no host that could serve an agent"):
        Target("hostless", agent=SilentAgent()).call(WAIT)


def test_a_host_is_told_the_rate_of_the_line_if_it_asks() -> None:
    agent = SilentAgent()
    result = Target("in_process_turns", agent=agent).call(Scenario(name="wide", steps=[Wait(0.5)], rate=16000))
    assert result.passed, result.explain()


def test_an_adapter_that_is_not_installed_is_an_error() -> None:
    with pytest.raises(UnknownAdapterError, match="there is no adapter 'pigeon'"):
        Target("pigeon").call(WAIT)
