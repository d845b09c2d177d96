"""How the backends differ: tried, and as the guide's table tells it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.adapters.sip.calling import on_line, stream
from tests.adapters.sip.peer import peer
from voiceharness.clock import LoopClock, run_real
from voiceharness.errors import CallRejectedError, OptionError, UnsupportedCapabilityError
from voiceharness.protocols.rtp import EventReceiver, RtpPacket
from voiceharness_adapters.sip import Sip, SipEndpoint, SipSettings
from voiceharness_adapters.sip.backends import CAPABILITIES
from voiceharness_adapters.sip.settings import codecs_of

if TYPE_CHECKING:
    from voiceharness_adapters.sip.settings import Backend

__all__: list[str] = []

GUIDE = Path(__file__).parents[3] / "docs" / "sip.md"
BOTH: tuple[Backend, Backend] = ("pjsua2", "baresip")
RATES = {"PCMU": 8000, "PCMA": 8000, "G722": 16000, "OPUS": 48000}


def told(row: str) -> dict[str, str]:
    """What the table says in a row, for each backend."""
    lines = [line.split("|")[1:-1] for line in GUIDE.read_text().splitlines() if line.startswith("| ")]
    (cells,) = [cells for cells in lines if cells[0].strip() == row]
    return dict(zip(BOTH, (cell.strip() for cell in cells[1:]), strict=True))


@pytest.mark.realtime
@pytest.mark.checkout
@pytest.mark.parametrize("backend", BOTH)
def test_a_worker_carries_so_many_calls(backend: Backend) -> None:
    async def main() -> int:
        async with SipEndpoint(SipSettings(backend=backend)) as endpoint:
            return endpoint.capacity

    assert told("Calls in a worker")[backend].split()[0] == str(run_real(main()))


@pytest.mark.checkout
@pytest.mark.parametrize("backend", BOTH)
def test_codecs_and_rates(backend: Backend) -> None:
    known = told("Codecs")[backend].upper()
    for codec, rate in RATES.items():
        settings: dict[str, Any] = {"backend": backend, "rate": rate, "codecs": codecs_of(codec, rate)}
        if codec in known:
            assert SipSettings(**settings).codecs == (codec,)
            assert rate in CAPABILITIES[backend].rates
        else:
            with pytest.raises(OptionError, match=codec):
                SipSettings(**settings)


@pytest.mark.checkout
@pytest.mark.parametrize("backend", BOTH)
def test_encryption(backend: Backend) -> None:
    if "DTLS" in told("Encryption")[backend]:
        assert SipSettings(backend=backend, srtp="dtls").srtp == "dtls"
    else:
        with pytest.raises(OptionError, match="dtls"):
            SipSettings(backend=backend, srtp="dtls")


@pytest.mark.realtime
@pytest.mark.parametrize("backend", BOTH)
@pytest.mark.parametrize("tone_ms", [100, 260, 400])
def test_the_length_of_a_key_on_the_wire(backend: Backend, tone_ms: int) -> None:
    packets: list[RtpPacket] = []

    async def main() -> int:
        async with peer(heard=lambda packet, _at_ns: packets.append(packet)) as agent:
            async with on_line(Sip(agent.uri, backend=backend)) as line:
                await line.until_position(2400)
                await line.press("57", "rfc4733", tone_ms=tone_ms, gap_ms=100)
                await line.until_position(line.now + 2400)
            return agent.events

    events, receiver = run_real(main()), EventReceiver()
    keys = [key for packet in packets if packet.payload_type == events and (key := receiver.push(packet))]
    assert [key.key for key in keys] == ["5", "7"]
    exact = backend == "pjsua2"
    wanted = tone_ms if exact else max(180, tone_ms)
    assert [key.duration / 8 for key in keys] == pytest.approx([wanted] * 2, abs=0 if exact else 60)


@pytest.mark.realtime
@pytest.mark.checkout
@pytest.mark.parametrize("backend", BOTH)
def test_info_is_sent_or_refused_as_it_is_declared(backend: Backend) -> None:
    async def main() -> None:
        async with peer(media=stream()) as agent:
            adapter = Sip(agent.uri, backend=backend)
            async with on_line(adapter) as line:
                await line.until_position(1600)
                if "info" in CAPABILITIES[backend].dtmf:
                    await adapter.send_dtmf("1", method="info")
                    assert "INFO" in agent.methods()
                else:
                    with pytest.raises(UnsupportedCapabilityError, match="dtmf:info"):
                        await adapter.send_dtmf("1", method="info")

    run_real(main())
    assert ("INFO" in told("Digits")[backend]) is ("info" in CAPABILITIES[backend].dtmf)


@pytest.mark.realtime
@pytest.mark.parametrize(("backend", "code"), [("pjsua2", 486), ("pjsua2", 603), ("pjsua2", 480), ("baresip", 486)])
def test_a_refusal_reaches_the_agent_with_the_status_asked_for(backend: Backend, code: int) -> None:
    async def main() -> int | None:
        async with SipEndpoint(SipSettings(backend=backend)) as ours:
            refusing = Sip(endpoint=ours, reject_with=code)
            connecting = asyncio.create_task(refusing.connect())
            await LoopClock().sleep(0)  # lets it wait first
            caller = Sip(ours.uri)
            with pytest.raises(CallRejectedError) as raised:
                await caller.connect()
            await asyncio.gather(connecting, return_exceptions=True)
            await asyncio.gather(caller.disconnect(), refusing.disconnect())
            return raised.value.code

    assert run_real(main()) == code


def test_a_status_that_a_backend_cannot_send_is_refused() -> None:
    with pytest.raises(OptionError, match="baresip refuses calls with 486, not 603"):
        Sip(backend="baresip", reject_with=603)


@pytest.mark.realtime
@pytest.mark.parametrize("backend", BOTH)
def test_an_agent_that_vanishes_is_asked_only_by_pjsua2(backend: Backend) -> None:
    async def main() -> bool:
        async with peer(media=stream(packets=20)) as agent:
            adapter = Sip(agent.uri, backend=backend, media_timeout=0.4)
            async with on_line(adapter) as line:
                await line.until_position(12000)
            assert [each.kind for each in adapter.findings if each.fault] == ["one_way_audio"]
            return "OPTIONS" in agent.methods()

    assert run_real(main()) is (backend == "pjsua2")
