"""Being dialled, an account shared by many calls, and workers that die."""

from __future__ import annotations

import asyncio
import math
import os
import signal
import socket
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.adapters.sip.calling import heard_from, on_line, stream
from tests.adapters.sip.peer import peer
from voiceharness import Hangup, Scenario, Wait, run_call
from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.signals import tone
from voiceharness.clock import LoopClock, run_real
from voiceharness.doubles import ProbeAgent, ScriptedPhoneAgent
from voiceharness.errors import CallDroppedError, CallRejectedError, ConnectError
from voiceharness.report.artefacts import load_call, save_call
from voiceharness_adapters.sip import Sip, SipEndpoint, SipSettings, host
from voiceharness_adapters.sip.hosting import AgentSide, serve_calls
from voiceharness_adapters.sip.nonce import NONCE_HEADER

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

    from tests.adapters.sip.peer import SipPeer
    from voiceharness import CallResult
    from voiceharness.agent import PhoneAgent
    from voiceharness.line.record import CallRecord
    from voiceharness_adapters.sip.settings import Backend

__all__: list[str] = []

pytestmark = pytest.mark.realtime


@asynccontextmanager
async def calling(agent: PhoneAgent, endpoint: SipEndpoint, target: str) -> AsyncIterator[AgentSide]:
    """Let an agent dial somebody and talk once it is answered."""
    call = await endpoint.new_call()
    await endpoint.dial(call, target)
    side = AgentSide(agent, call, endpoint.settings.rate)
    talking = asyncio.create_task(side.talk())
    try:
        yield side
    finally:
        talking.cancel()
        await asyncio.wait({talking})


def agent_saying(frequency: float) -> ScriptedPhoneAgent:
    return ScriptedPhoneAgent([(0.1, AudioChunk.from_samples(tone(frequency, 1.0)))])


async def taken(endpoint: SipEndpoint, identity: str = "") -> tuple[CallRecord, Sip]:
    """Wait for a call of the agent, and listen to it for a while."""
    adapter = Sip(endpoint=endpoint, identity=identity)
    async with on_line(adapter) as line:
        await line.until_position(10400)
    return line.record(), adapter


def levels_db(record: CallRecord, frequencies: Mapping[str, float]) -> dict[str, float]:
    """Level of each tone in a call, over the loudest: the median of its loudest 50 ms windows, which have no hole."""
    window = np.hanning(400)
    pieces = [record.agent[begin : begin + 400] * window for begin in range(0, len(record.agent) - 400, 400)]
    pieces = sorted(pieces, key=lambda piece: float(piece @ piece))[-6:]
    times = np.arange(400) / 8000
    level = {
        name: float(np.median([abs(np.sum(piece * np.exp(-2j * np.pi * frequency * times))) for piece in pieces]))
        for name, frequency in frequencies.items()
    }
    return {name: 20 * math.log10(max(each, 1e-9) / max(level.values())) for name, each in level.items()}


def test_the_agent_can_dial_the_user() -> None:
    async def main() -> None:
        async with SipEndpoint() as ours, SipEndpoint() as theirs:
            waiting = asyncio.create_task(taken(ours))
            await LoopClock().sleep(0)  # lets it wait first
            async with calling(agent_saying(600), theirs, ours.uri):
                record, _ = await waiting
            assert heard_from(record, 600, 0.5, 1.0) > 0.99

    run_real(main())


def test_four_inbound_calls_at_once_do_not_hear_each_other() -> None:
    async def main() -> None:
        async with SipEndpoint() as ours, SipEndpoint() as theirs:
            names = {"anna": 500, "ben": 700, "cleo": 1100, "dan": 1300}
            waiting = {name: asyncio.create_task(taken(ours, name)) for name in names}
            await LoopClock().sleep(0)  # lets them wait first
            async with AsyncExitStack() as stack:
                sides = {
                    name: await stack.enter_async_context(
                        calling(agent_saying(frequency), theirs, f"sip:{name}@{ours.address}")
                    )
                    for name, frequency in names.items()
                }
                calls = {name: await task for name, task in waiting.items()}
            for name, (record, adapter) in calls.items():
                level = levels_db(record, names)
                assert level.pop(name) == 0
                assert max(level.values()) < -40
                undisturbed = not sides[name].unsent and not adapter.trust_reasons() and not adapter.quality.ran_dry
                assert not undisturbed or heard_from(record, names[name], 0.5, 1.0) > 0.99
            assert len(ours.pids) == 1

    run_real(main())


def test_a_call_that_nobody_waits_for_is_declined_and_counted() -> None:
    async def main() -> None:
        async with SipEndpoint() as ours:
            caller = Sip(ours.uri)
            with pytest.raises(CallRejectedError) as raised:
                await caller.connect()
            await caller.disconnect()
            assert raised.value.code == 480
            assert ours.unclaimed == 1

    run_real(main())


def test_a_nonce_finds_the_adapter_that_waits_for_it() -> None:
    async def main() -> None:
        async with SipEndpoint() as ours:
            claims = [asyncio.create_task(ours.claim(timeout=5, nonce=nonce)) for nonce in ("one", "two")]
            await LoopClock().sleep(0)  # lets them wait first
            caller = Sip(ours.uri, headers={NONCE_HEADER: "two"})
            connecting = asyncio.create_task(caller.connect())
            inbound = await claims[1]
            assert not claims[0].done()
            await inbound.handle.answer(200)
            await connecting
            await caller.disconnect()
            claims[0].cancel()

    run_real(main())


def test_the_users_refusal_reaches_the_agent() -> None:
    async def main() -> None:
        async with SipEndpoint() as ours:
            refusing = Sip(endpoint=ours, reject_with=486)
            connecting = asyncio.create_task(refusing.connect())
            await LoopClock().sleep(0)  # lets it wait first
            caller = Sip(ours.uri)
            with pytest.raises(CallRejectedError) as raised:
                await caller.connect()
            assert raised.value.code == 486
            with pytest.raises(CallRejectedError, match="as asked"):
                await connecting
            await caller.disconnect()
            await refusing.disconnect()

    run_real(main())


def test_no_call_in_time_is_said_so() -> None:
    async def main() -> None:
        adapter = Sip(wait=0.2)
        with pytest.raises(CallRejectedError, match="no inbound call came"):
            await adapter.connect()
        await adapter.disconnect()

    run_real(main())


def test_a_worker_that_aborts_drops_its_call_with_evidence_and_the_next_call_works() -> None:
    async def main() -> None:
        async with SipEndpoint() as ours, peer(media=stream()) as agent:
            adapter = Sip(agent.uri, endpoint=ours)
            async with on_line(adapter) as line:
                await line.until_position(6400)
                os.kill(ours.pids[0], signal.SIGABRT)
                await line.until(lambda: None)
            assert line.ended is not None
            assert isinstance(line.ended.error, CallDroppedError)
            assert "exit code -6" in str(line.ended.error)
            assert heard_from(line.record(), 440, 0.3, 0.7) > 0.99
            async with peer(media=stream()) as next_agent, on_line(Sip(next_agent.uri, endpoint=ours)) as next_line:
                await next_line.until_position(4000)
            assert heard_from(next_line.record(), 440, 0.2, 0.45) > 0.99

    run_real(main())


@pytest.mark.parametrize("backend", ["pjsua2", "baresip"])
def test_who_waits_for_a_call_is_told_that_the_worker_died_and_who_waits_next_is_called(backend: Backend) -> None:
    async def main() -> None:
        async with SipEndpoint(SipSettings(backend=backend)) as ours, SipEndpoint() as theirs:
            address = ours.uri
            waiting = asyncio.create_task(ours.claim(timeout=60))
            await ours.claimed()
            os.kill(ours.pids[0], signal.SIGKILL)
            with pytest.raises(CallDroppedError, match="exit code -9"):
                await waiting
            next_waiting = asyncio.create_task(taken(ours))
            await ours.claimed()
            async with calling(agent_saying(440), theirs, address):
                record, _ = await next_waiting
            assert ours.uri == address
            assert heard_from(record, 440, 0.5, 1.0) > 0.99

    run_real(main())


def test_a_listener_that_cannot_be_replaced_is_said_so() -> None:
    async def main() -> None:
        async with SipEndpoint() as ours:
            host, _, port = ours.address.rpartition(":")
            os.kill(ours.pids[0], signal.SIGKILL)
            with pytest.raises(CallDroppedError):
                await ours.claim(timeout=60)
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
                other.bind((host, int(port)))
                with pytest.raises(ConnectError, match="cannot start"):
                    await ours.claim(timeout=60)
            with pytest.raises(CallRejectedError, match="no inbound call"):
                await ours.claim(timeout=0)

    run_real(main())


def test_a_served_agent_answers_again_after_its_worker_died() -> None:
    async def main() -> None:
        async with SipEndpoint() as theirs, serve_calls(ProbeAgent(), theirs):
            await theirs.claimed()
            os.kill(theirs.pids[0], signal.SIGKILL)
            with pytest.raises(CallDroppedError):
                await theirs.claim(timeout=60)
            await theirs.claimed()
            adapter = Sip(theirs.uri)
            async with on_line(adapter) as line:
                await line.until_position(1600)
            assert adapter.answered_code == 200

    run_real(main())


def test_the_evidence_of_a_call_whose_worker_aborted_is_saved(tmp_path: Path) -> None:
    async def main() -> CallResult:
        async with SipEndpoint() as ours:

            async def aborting(agent: SipPeer) -> None:
                await stream(packets=40)(agent)
                os.kill(ours.pids[0], signal.SIGABRT)

            async with peer(media=aborting) as agent:
                return await run_call(Scenario("abort", steps=[Wait(5.0), Hangup()]), Sip(agent.uri, endpoint=ours))

    result = run_real(main())
    assert isinstance(result.error, CallDroppedError)
    assert "exit code -6; last words: " in str(result.error)
    saved = load_call(save_call(result, tmp_path))
    assert heard_from(saved, 440, 0.2, 0.6) > 0.99
    assert list(tmp_path.rglob("sip.txt"))


def test_a_worker_that_aborts_while_it_dials_is_a_typed_error() -> None:
    async def main() -> None:
        async with SipEndpoint() as ours, peer(replies=()) as agent:
            adapter = Sip(agent.uri, endpoint=ours)
            connecting = asyncio.create_task(adapter.connect())
            await agent.invited.wait()
            os.kill(ours.pids[0], signal.SIGABRT)
            with pytest.raises((CallDroppedError, ConnectError), match="exit code -6"):
                await connecting
            await adapter.disconnect()

    run_real(main())


def test_dialled_calls_spread_over_as_many_workers_as_they_need() -> None:
    async def main() -> None:
        async with host(ProbeAgent()) as target, SipEndpoint(workers=2) as ours:
            adapters = [Sip(str(target["target"]), endpoint=ours) for _ in range(4)]
            await asyncio.gather(*(adapter.connect() for adapter in adapters))
            workers = [len(ours.pids)]
            async with peer() as agent:
                fifth = Sip(agent.uri, endpoint=ours)
                await fifth.connect()
                workers.append(len(ours.pids))
                await fifth.disconnect()
            assert workers == [1, 2]
            await asyncio.gather(*(adapter.disconnect() for adapter in adapters))

    run_real(main())


def test_an_endpoint_that_is_full_says_so() -> None:
    async def main() -> None:
        async with peer(replies=()) as agent, SipEndpoint(workers=1) as ours:
            adapters = [Sip(agent.uri, endpoint=ours) for _ in range(4)]
            connecting = [asyncio.create_task(adapter.connect()) for adapter in adapters]
            await agent.invited.wait()
            with pytest.raises(ConnectError, match="busy"):
                await Sip(agent.uri, endpoint=ours).connect()
            for task in connecting:
                task.cancel()
            await asyncio.gather(*connecting, return_exceptions=True)
            await asyncio.gather(*(adapter.disconnect() for adapter in adapters))

    run_real(main())


def test_many_threads_asking_is_no_matter_for_a_worker_of_its_own() -> None:
    """Cases B39 and B41: only the worker's main thread ever calls the library."""

    async def main() -> None:
        async with peer(media=stream()) as agent:
            adapter = Sip(agent.uri)
            async with on_line(adapter) as line:
                facts = await asyncio.gather(*(asyncio.to_thread(adapter.call_facts) for _ in range(200)))
                await line.until_position(3200)
            assert {fact["codec"] for fact in facts} == {"PCMU"}

    run_real(main())


def test_a_port_that_is_taken_is_a_connect_error() -> None:
    async def main() -> None:
        async with SipEndpoint() as first:
            port = int(first.address.rsplit(":", 1)[1])
            second = SipEndpoint(SipSettings(port=port))
            with pytest.raises(ConnectError, match="cannot start"):
                await second.open()
            await second.close()

    run_real(main())


def test_a_served_agent_that_crashes_ends_its_call_alone() -> None:
    class Crashing(ScriptedPhoneAgent):
        async def act(self, call: object) -> None:
            raise ValueError("on purpose")

    async def main() -> None:
        async with SipEndpoint() as theirs, serve_calls(Crashing([]), theirs):
            for _ in range(2):
                async with on_line(Sip(theirs.uri)) as line:
                    await line.until(lambda: None)
                assert line.ended is not None
                assert line.ended.by == "agent"

    run_real(main())
