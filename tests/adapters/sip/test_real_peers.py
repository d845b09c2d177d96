"""Calls with SIP programs of other makers: SIPp, baresip, kamailio; and over TCP, TLS and SRTP."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.adapters.sip.calling import heard_from, lag_of, mulaw_noise, on_line
from tests.adapters.sip.programs import baresip, certificate, kamailio, sipp
from voiceharness.audio.signals import tone
from voiceharness.audio.wav import read_wav, write_wav
from voiceharness.clock import LoopClock, run_real
from voiceharness.doubles import ProbeAgent
from voiceharness.errors import CallRejectedError, ConnectError
from voiceharness_adapters.sip import Sip, SipEndpoint, SipSettings
from voiceharness_adapters.sip.hosting import serve_calls

if TYPE_CHECKING:
    from pathlib import Path

    from voiceharness.line.line import Line

__all__: list[str] = []

pytestmark = pytest.mark.realtime

SECRET = "secret-"


async def echoed(adapter: Sip, *, seconds: float = 1.0) -> Line:
    """Call an echo, and see that it is one."""
    noise = mulaw_noise(seconds)
    async with on_line(adapter) as line:
        said = line.say(noise, at=2400)
        await line.until_position(said.end + 3200)
    assert adapter.trust_reasons() == ()
    record = line.record()
    lag = lag_of(noise, record.agent, said.start)
    assert lag > 0
    assert np.array_equal(record.agent[said.start + lag : said.end + lag], noise)
    return line


def test_sipp_echoes_bit_for_bit(tmp_path: Path) -> None:
    async def main() -> None:
        async with sipp(tmp_path, "-sn", "uas", "-rtp_echo") as address:
            await echoed(Sip(address))

    run_real(main())


def test_baresip_is_heard_and_hears(tmp_path: Path) -> None:
    write_wav(tmp_path / "agent.wav", tone(600, 3.0), 8000)

    async def main() -> None:
        async with baresip(tmp_path) as address:
            async with on_line(Sip(address)) as line:
                said = line.say(tone(900, 1.0), at=1600)
                await line.until_position(said.end + 800)
            assert heard_from(line.record(), 600, 0.5, 1.2) > 0.99

    run_real(main())
    recordings = sorted(tmp_path.glob("dump-*dec.wav"))
    assert len(recordings) == 1
    heard = read_wav(recordings[0]).samples.astype(float)
    spectrum = np.abs(np.fft.rfft(heard))
    assert np.argmax(spectrum) * 8000 / len(heard) == pytest.approx(900, abs=5)


def test_an_agent_registered_at_a_pbx_is_called_through_it(tmp_path: Path) -> None:
    async def main() -> None:
        async with kamailio(tmp_path) as (port, _):
            account: dict[str, Any] = {"registrar": f"127.0.0.1:{port}", "proxy": f"127.0.0.1:{port}"}
            theirs = SipSettings(user="agent", password=SECRET + "agent", **account)
            async with SipEndpoint(theirs) as endpoint, serve_calls(ProbeAgent(echoes_sound=True), endpoint):
                adapter = Sip(f"sip:agent@127.0.0.1:{port}", user="tester", password=SECRET + "tester", **account)
                await echoed(adapter)
                assert SECRET not in adapter.artefacts()["sip.txt"].decode()
                assert "407 Proxy Authentication" in adapter.artefacts()["sip.txt"].decode()

    run_real(main())


def test_an_adapter_registered_at_a_pbx_is_dialled_by_the_agent(tmp_path: Path) -> None:
    async def main() -> None:
        async with kamailio(tmp_path) as (port, _):
            account: dict[str, Any] = {"registrar": f"127.0.0.1:{port}", "proxy": f"127.0.0.1:{port}"}
            waiting = Sip(user="tester", password=SECRET + "tester", **account)
            connecting = asyncio.create_task(waiting.connect())
            caller = Sip(f"sip:tester@127.0.0.1:{port}", user="agent", password=SECRET + "agent", **account)
            await _until_registered(waiting)
            await caller.connect()
            await connecting
            await caller.disconnect()
            await waiting.disconnect()

    run_real(main())


async def _until_registered(adapter: Sip) -> None:
    while not any("SIP/2.0 200" in message.text for message in adapter.endpoint.messages):
        await LoopClock().sleep(0.01)


def test_a_wrong_password_and_an_unknown_user_are_told_apart(tmp_path: Path) -> None:
    async def main() -> None:
        async with kamailio(tmp_path) as (port, _):
            registrar = f"127.0.0.1:{port}"
            with pytest.raises(CallRejectedError) as raised:
                await SipEndpoint(SipSettings(user="agent", password="wrong", registrar=registrar)).open()
            assert raised.value.code in (401, 403)
            adapter = Sip(f"sip:nobody@{registrar}", user="tester", password=SECRET + "tester", proxy=registrar)
            with pytest.raises(CallRejectedError) as raised:
                await adapter.connect()
            await adapter.disconnect()
            assert raised.value.code == 404

    run_real(main())


@pytest.mark.parametrize("transport", ["tcp", "tls"])
def test_calls_go_over_tcp_and_over_tls_with_srtp(transport: str, tmp_path: Path) -> None:
    async def main() -> None:
        cert, key = await certificate(tmp_path)
        common: dict[str, Any] = {"transport": transport}
        verified: dict[str, Any] = {}
        if transport == "tls":
            common |= {"tls_certificate": str(cert), "tls_key": str(key), "srtp": "mandatory"}
            verified = {"tls_authorities": str(cert)}
        theirs = SipSettings(user="agent", **common)
        async with SipEndpoint(theirs) as endpoint, serve_calls(ProbeAgent(echoes_sound=True), endpoint):
            adapter = Sip(endpoint.uri, **common, **verified)
            await echoed(adapter)
            assert adapter.call_facts()["srtp"] is (transport == "tls")
            assert "inline: [secret]" in adapter.artefacts()["sip.txt"].decode() or transport == "tcp"

    run_real(main())


def test_a_certificate_of_an_unknown_authority_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()

    async def main() -> None:
        cert, key = await certificate(tmp_path)
        other, _ = await certificate(tmp_path / "other")
        theirs = SipSettings(transport="tls", tls_certificate=str(cert), tls_key=str(key))
        async with SipEndpoint(theirs) as endpoint:
            adapter = Sip(endpoint.uri, transport="tls", tls_authorities=str(other))
            with pytest.raises(ConnectError, match="could not be reached"):
                await adapter.connect()
            await adapter.disconnect()

    run_real(main())


def test_registration_over_tls(tmp_path: Path) -> None:
    async def main() -> None:
        cert, key = await certificate(tmp_path)
        async with kamailio(tmp_path, tls=(cert, key)) as (_, port):
            settings = SipSettings(
                user="agent",
                password=SECRET + "agent",
                registrar=f"127.0.0.1:{port}",
                transport="tls",
                tls_authorities=str(cert),
            )
            async with SipEndpoint(settings) as endpoint:
                assert any("REGISTER" in message.text for message in endpoint.messages)

    run_real(main())
