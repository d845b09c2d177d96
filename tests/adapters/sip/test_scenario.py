"""A scenario over SIP is the scenario that runs everywhere else."""

from __future__ import annotations

import re

import pytest

from tests.adapters.sip.calling import stream
from tests.adapters.sip.peer import RINGING, peer
from voiceharness import (
    AudioChunk,
    CallResult,
    Hangup,
    Hear,
    Interrupt,
    Line,
    NoFault,
    Press,
    Say,
    Scenario,
    Wait,
    run_call,
    seconds,
)
from voiceharness.audio.signals import speech_like
from voiceharness.clock import run_real
from voiceharness.doubles import ProbeAgent
from voiceharness.report.console import call_text
from voiceharness.report.document import call_document
from voiceharness_adapters.sip import Sip, SipEndpoint, dialler, host

__all__: list[str] = []

pytestmark = pytest.mark.realtime


def clip(duration: float, *, seed: int = 0) -> AudioChunk:
    return AudioChunk.from_samples(speech_like(duration, seed=seed))


def test_a_barge_in_lands_where_it_was_asked_for() -> None:
    async def main() -> None:
        agent = ProbeAgent([(0.2, clip(3.0))], yields_after=0.1)
        scenario = Scenario(
            "talk over", steps=[Interrupt(audio=clip(0.8, seed=1), after=seconds(0.8)), Wait(1.0), Hangup()]
        )
        async with host(agent) as target:
            result = await run_call(scenario, Sip(str(target["target"])))
        assert result.error is None
        assert result.record is not None
        barge_in = next(result.record.of_kind("barge_in"))
        said = next(result.record.of_kind("user_utterance"))
        assert said.data["onset"] == barge_in.data["asked"]
        assert barge_in.data["phase"] == "speaking"
        assert result.metrics is not None
        stop = result.metrics.barge_ins[0].stop_latency
        assert stop is not None
        assert 0.1 < stop < 0.9

    run_real(main())


def test_turns_and_keys_of_a_scenario() -> None:
    async def main() -> None:
        agent = ProbeAgent([(0.2, clip(0.6)), (2.2, clip(0.6, seed=2))])
        scenario = Scenario(
            "turns", steps=[Hear(within=3), Say(audio=clip(0.4, seed=1)), Press("1#"), Hear(within=4), Hangup()]
        )
        async with host(agent) as target:
            result = await run_call(scenario, Sip(str(target["target"])))
            assert agent.log.digits == "1#"
        assert result.error is None
        assert [step.outcome for step in result.steps] == ["done"] * 5
        assert result.ended_by == "user"
        assert result.facts["codec"] == "PCMU"

    run_real(main())


@pytest.mark.parametrize(
    ("backend", "names"), [("pjsua2", r"pjsua2 \d+\.\d+"), ("baresip", r"baresip-python \d+\.\d+")]
)
def test_the_result_names_the_library_and_its_version(backend: str, names: str) -> None:
    async def main() -> CallResult:
        async with peer(media=stream()) as agent:
            return await run_call(Scenario("brief", steps=[Wait(0.2), Hangup()]), Sip(agent.uri, backend=backend))

    assert re.match(names, str(run_real(main()).facts["backend"]))


def test_packets_that_were_lost_are_told_and_fail_the_call_only_if_asked() -> None:
    async def main(*limits: NoFault) -> CallResult:
        # what is lost is concealed by the library, or now and then heard as a gap
        scenario = Scenario("lossy", steps=[Wait(2.0), Hangup()], limits=limits, allow=["media_gap"])
        async with peer(media=stream(lambda packet: () if packet.sequence % 10 == 5 else (packet,))) as agent:
            return await run_call(scenario, Sip(agent.uri))

    result = run_real(main())
    assert [each.kind for each in result.findings if each.kind != "media_gap"] == ["rtp_lost"]
    assert result.passed, result.explain()
    assert "warning rtp_lost" in call_text(call_document(result))
    asked = run_real(main(NoFault(kinds=["rtp_lost"])))
    assert asked.outcome == "failed"
    assert "rtp_lost" in asked.explain()


def test_a_scenario_may_cancel_before_the_answer() -> None:
    async def main() -> None:
        async with peer(replies=(RINGING,)) as agent:
            result = await run_call(Scenario("cancel", steps=[Line("cancel")]), Sip(agent.uri))
            assert result.error is None
            assert result.ended_code == 487 or result.steps[0].outcome == "done"
            assert agent.methods() == ["INVITE", "CANCEL", "ACK"]

    run_real(main())


def test_a_scenario_may_reject_the_agents_call() -> None:
    async def main() -> None:
        async with dialler(ProbeAgent()) as options:
            scenario = Scenario("reject", direction="be_dialled", steps=[Line("reject")])
            endpoint = options["endpoint"]
            assert isinstance(endpoint, SipEndpoint)
            result = await run_call(scenario, Sip(endpoint=endpoint))
            assert result.error is None
            assert any("603 Decline" in message.text for message in endpoint.messages)

    run_real(main())
