"""Hold, resume, transfer, and who ends a call: from the user's side and from the agent's."""

from __future__ import annotations

import re
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

import pytest

from tests.adapters.sip.calling import heard_from, level, on_line, stream
from tests.adapters.sip.peer import OK, RINGING, SDP, Reply, peer
from voiceharness.clock import NS, run_real
from voiceharness.errors import CallRejectedError, OptionError
from voiceharness.events import EndOfStream, RemoteHangup
from voiceharness_adapters.sip import Sip, SipEndpoint

if TYPE_CHECKING:
    from voiceharness.protocols.rtp import RtpPacket

__all__: list[str] = []

pytestmark = pytest.mark.realtime


def test_hold_and_resume_reach_the_agent_and_media_goes_on_after() -> None:
    """Case A52."""
    arrivals: list[int] = []

    def heard(packet: RtpPacket, at_ns: int) -> None:
        arrivals.append(at_ns)

    async def main() -> None:
        async with peer(media=stream(), heard=heard) as agent:
            adapter = Sip(agent.uri, media_timeout=0.5)
            async with on_line(adapter) as line:
                await line.until_position(4000)
                await adapter.control("hold")
                await line.until_position(12000)
                await adapter.control("resume")
                await line.until_position(20000)
            offers = [request for request in agent.requests if request.startswith("INVITE")]
            assert "a=sendonly" in offers[1]
            assert "a=sendrecv" in offers[2]
            record = line.record()
            assert level(record.agent, 0.2, 0.45) > 1000
            assert level(record.agent, 0.8, 1.4) == 0
            assert level(record.agent, 2.0, 2.4) > 1000
            last = (arrivals[-1] - agent.answered_ns) / NS
            assert last > 2.3
            assert list(record.of_kind("protocol_fault")) == []

    run_real(main())


def test_an_agent_that_stays_silent_after_the_resume_is_one_way_audio() -> None:
    """Case A52, the faulty agent."""

    async def main() -> None:
        async with peer(media=stream(packets=20)) as agent:
            adapter = Sip(agent.uri, media_timeout=0.5)
            async with on_line(adapter) as line:
                await line.until_position(4000)
                await adapter.control("hold")
                await line.until_position(8000)
                await adapter.control("resume")
                await line.until_position(16000)
            faults = list(line.record().of_kind("protocol_fault"))
            assert [fault.data["kind"] for fault in faults] == ["one_way_audio"]
            assert faults[0].at / 8000 > 1.4

    run_real(main())


def test_a_hang_up_of_the_agent_ends_the_call_with_its_cause() -> None:
    """Case A54 (b): the reason is kept."""

    async def main() -> None:
        async with peer(media=stream()) as agent:
            adapter = Sip(agent.uri)
            async with on_line(adapter) as line:
                await line.until_position(4000)
                agent.bye(headers='Reason: SIP;cause=200;text="media timeout"')
                await line.until(lambda: None)
            assert line.ended is not None
            assert (line.ended.by, line.ended.reason, line.ended.code) == ("agent", "media timeout", 200)
            assert line.ended.at / 8000 == pytest.approx(0.5, abs=0.06)
            assert isinstance(await adapter.receive_audio(0), EndOfStream)
            assert agent.methods().count("BYE") == 0

    run_real(main())


def test_a_referred_call_goes_on_with_the_other_agent() -> None:
    async def main() -> None:
        async with peer(media=stream(frequency=440)) as first, peer(media=stream(frequency=880)) as second:
            async with on_line(Sip(first.uri)) as line:
                await line.until_position(6400)
                first.refer(second.uri)
                await second.acked.wait()
                first.bye()
                await line.until_position(16000)
            assert line.ended is not None
            assert line.ended.by == "user"
            await second.ended.wait()
            assert level(line.record().agent, 1.4, 1.9) > 1000
            assert [request for request in first.requests if request.startswith("NOTIFY")]

    run_real(main())


def test_the_time_between_two_legs_of_a_referred_call_is_no_fault_of_the_machine() -> None:
    """The agent hangs up as soon as the other one rings, so there is nobody to send to until that one answers."""

    async def main() -> None:
        answer = (RINGING, Reply(200, "OK", SDP, pause=0.6))
        async with peer(media=stream()) as first, peer(replies=answer, media=stream(frequency=880)) as second:
            adapter = Sip(first.uri, media_timeout=0.4)
            async with on_line(adapter) as line:
                await line.until_position(4000)
                first.refer(second.uri)
                await second.rang.wait()
                first.bye()
                await second.acked.wait()
                await line.until_position(16000)
            assert line.ended is not None
            assert line.ended.by == "user"
            assert adapter.trust_reasons() == ()
            assert "one_way_audio" not in [finding.kind for finding in adapter.findings]
            assert heard_from(line.record(), 880, 1.7, 1.95) > 0.99

    run_real(main())


def test_a_refer_to_nobody_leaves_the_call_as_it_was() -> None:
    async def main() -> None:
        busy = (Reply(486, "Busy Here"),)
        async with peer(media=stream()) as first, peer(replies=busy) as second:
            async with on_line(Sip(first.uri)) as line:
                await line.until_position(4000)
                first.refer(second.uri)
                await line.until_position(16000)
            assert line.ended is not None
            assert line.ended.by == "user"
            assert level(line.record().agent, 1.5, 1.9) > 1000

    run_real(main())


@pytest.mark.parametrize("nowhere", ["sip:nobody@nowhere.invalid", "sip:", "mailto:nobody@nowhere.invalid"])
def test_a_refer_to_what_cannot_be_dialled_costs_no_call(nowhere: str) -> None:
    async def main() -> None:
        async with SipEndpoint() as ours, peer(media=stream()) as agent, peer(media=stream()) as other:
            worker = ours.pids
            async with on_line(Sip(other.uri, endpoint=ours)) as beside:
                async with on_line(Sip(agent.uri, endpoint=ours)) as line:
                    await line.until_position(1600)
                    agent.refer(nowhere)
                    await line.until_position(8000)
                    assert line.ended is None
                await agent.ended.wait()
                await beside.until_position(16000)
                assert beside.ended is None
            assert ours.pids == worker

    run_real(main())


def test_a_refer_that_a_worker_has_no_room_for_costs_no_call() -> None:
    async def main() -> None:
        async with SipEndpoint() as ours, AsyncExitStack() as calls, peer() as elsewhere:
            agents = [await calls.enter_async_context(peer(media=stream())) for _ in range(ours.capacity)]
            async with AsyncExitStack() as lines:
                opened = [await lines.enter_async_context(on_line(Sip(agent.uri, endpoint=ours))) for agent in agents]
                worker = ours.pids
                agents[0].refer(elsewhere.uri)
                await opened[0].until_position(12000)
            for agent in agents:
                await agent.ended.wait()
            assert ours.pids == worker
            assert elsewhere.methods() == []

    run_real(main())


def test_a_call_that_is_to_replace_the_agents_is_declined() -> None:
    """RFC 3891; nobody would hear it."""

    async def main() -> None:
        async with (
            peer(media=stream()) as agent,
            SipEndpoint() as ours,
            SipEndpoint() as theirs,
            on_line(Sip(agent.uri, endpoint=ours)) as line,
        ):
            await line.until_position(1600)
            call = await theirs.new_call()
            await theirs.dial(call, ours.uri, {"Replaces": replacing(agent.invite)})
            await call.over()
            assert call.end is not None
            assert call.end.code == 603
            await line.until_position(8000)
            assert line.ended is None

    run_real(main())


def replacing(invite: str) -> str:
    """Name the dialog that an INVITE to the peer began."""
    call_id = re.search(r"(?im)^Call-ID:\s*(\S+)", invite)
    tag = re.search(r"(?im)^From:.*;tag=([^;\s]+)", invite)
    assert call_id is not None
    assert tag is not None
    return f"{call_id[1]};to-tag={tag[1]};from-tag=peer"


def test_a_transfer_asks_the_agent_to_call_somebody_else() -> None:
    async def main() -> None:
        async with peer(media=stream()) as agent:
            adapter = Sip(agent.uri)
            async with on_line(adapter) as line:
                await line.until_position(1600)
                await adapter.control("transfer", target="sip:colleague@127.0.0.1:9")
                await line.until(lambda: None)
            assert line.ended is not None
            assert "transferred" in line.ended.reason
            refer = next(request for request in agent.requests if request.startswith("REFER"))
            assert "sip:colleague@127.0.0.1:9" in refer

    run_real(main())


def test_a_transfer_that_the_agent_declines_is_said_so() -> None:
    async def main() -> None:
        async with peer(media=stream(), refer_code=603) as agent:
            adapter = Sip(agent.uri)
            async with on_line(adapter) as line:
                await line.until_position(1600)
                with pytest.raises(OptionError):
                    await adapter.control("transfer")
                with pytest.raises(CallRejectedError, match="could not be transferred"):
                    await adapter.control("transfer", target="sip:colleague@127.0.0.1:9")

    run_real(main())


def test_remote_hangup_comes_after_all_that_was_heard() -> None:
    """Case B05: a farewell before the hang-up is whole."""

    async def main() -> None:
        async with peer(replies=(OK,), media=stream(packets=40)) as agent:
            adapter = Sip(agent.uri)
            await adapter.connect()
            kinds = []
            agent.bye()
            while not isinstance(item := await adapter.receive_audio(5), EndOfStream):
                kinds.append(type(item))
            assert kinds.index(RemoteHangup) == len(kinds) - 1
            await adapter.disconnect()

    run_real(main())
