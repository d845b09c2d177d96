"""Being dialled by an agent that SIPp plays, message by message."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from tests.adapters.sip.calling import heard_from, level, on_line
from tests.adapters.sip.sipp_calls import TONE_HZ, agent_plays_dialling
from voiceharness.clock import LoopClock, run_real
from voiceharness.errors import CallRejectedError, ConnectError
from voiceharness_adapters.sip import Sip, SipEndpoint

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from voiceharness.line.line import Line

__all__: list[str] = []

pytestmark = pytest.mark.realtime


@asynccontextmanager
async def waiting(adapter: Sip, *, connect_timeout: float = 10.0) -> AsyncIterator[asyncio.Task[Line]]:
    """Let an adapter wait for the agent's call, and listen until the agent hangs up."""

    async def take() -> Line:
        async with on_line(adapter, connect_timeout=connect_timeout) as line:
            await line.until(lambda: None)
        return line

    task = asyncio.create_task(take())
    await LoopClock().sleep(0)  # lets it wait first
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait({task})


def taken(folder: Path, scenario: str) -> tuple[Line, Sip]:
    """Wait for the call of an agent that plays a scenario, and listen until it hangs up."""

    async def main() -> tuple[Line, Sip]:
        async with SipEndpoint() as ours:
            adapter = Sip(endpoint=ours)
            async with waiting(adapter) as taking, agent_plays_dialling(folder, scenario, ours.address) as agent:
                await agent.done()
                return await taking, adapter

    return run_real(main())


@pytest.mark.parametrize("scenario", ["call", "call_with_late_offer", "call_with_video_first"])
def test_an_agent_that_calls_is_heard_whatever_its_offer(scenario: str, tmp_path: Path) -> None:
    """It may come only with the ACK (RFC 3264, 4), or name video first: case B43, a line is found by its type."""
    line, adapter = taken(tmp_path, scenario)
    assert line.ended is not None
    assert (line.ended.by, line.ended.reason) == ("agent", "Normal call clearing")
    track = line.record().agent
    assert level(track, 0.2, 0.6) > 1000
    assert heard_from(line.record(), TONE_HZ, 0.2, 0.6) > 0.99
    assert adapter.call_facts()["codec"] == "PCMU"


def test_an_agent_that_calls_may_hold_and_take_up_again(tmp_path: Path) -> None:
    line, _adapter = taken(tmp_path, "call_and_hold")
    record = line.record()
    assert level(record.agent, 0.3, 0.8) == 0
    assert level(record.agent, 1.2, 1.5) > 1000
    assert list(record.of_kind("protocol_fault")) == []


def test_an_agent_that_gives_up_before_the_answer_is_said_so(tmp_path: Path) -> None:
    async def main() -> None:
        async with SipEndpoint() as ours:
            adapter = Sip(endpoint=ours)
            ringing = asyncio.create_task(adapter.ringing())
            connecting = asyncio.create_task(adapter.connect())
            await LoopClock().sleep(0)  # lets it wait first
            async with agent_plays_dialling(tmp_path, "call_and_cancel", ours.address):
                await ringing
                with pytest.raises(CallRejectedError, match="agent gave its call up") as raised:
                    await connecting
            assert raised.value.code == 487
            await adapter.disconnect()

    run_real(main())


def test_an_answer_that_is_never_acknowledged_is_not_waited_for_for_ever(tmp_path: Path) -> None:
    async def main() -> None:
        async with (
            SipEndpoint() as ours,
            waiting(Sip(endpoint=ours), connect_timeout=0.8) as taking,
            agent_plays_dialling(tmp_path, "call_and_never_ack", ours.address),
        ):
            with pytest.raises(ConnectError, match="not answered within"):
                await taking

    run_real(main())


@pytest.mark.parametrize(
    ("media", "code"),
    [
        ("m=audio [media_port] RTP/AVP 97\na=rtpmap:97 XYZ/8000", "488"),
        ("m=video [media_port] RTP/AVP 96\na=rtpmap:96 H264/90000", "488"),
        ("m=audio", "400"),
    ],
    ids=["unknown codec", "no audio", "malformed"],
)
def test_an_offer_that_cannot_be_taken_is_refused_and_the_next_call_is_taken(
    media: str, code: str, tmp_path: Path
) -> None:
    (tmp_path / "next").mkdir()

    async def main() -> None:
        async with SipEndpoint() as ours, waiting(Sip(endpoint=ours)) as taking:
            async with agent_plays_dialling(tmp_path, "call_and_be_refused", ours.address, media=media, code=code):
                pass
            async with agent_plays_dialling(tmp_path / "next", "call", ours.address) as agent:
                await agent.done()
                line = await taking
            assert heard_from(line.record(), TONE_HZ, 0.2, 0.6) > 0.99

    run_real(main())


def test_options_outside_of_a_call_are_answered(tmp_path: Path) -> None:
    """How proxies and agents ask whether somebody is there (RFC 3261, 11)."""

    async def main() -> None:
        async with SipEndpoint() as ours, agent_plays_dialling(tmp_path, "ask_whether_there", ours.address):
            pass

    run_real(main())
