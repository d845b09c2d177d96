"""The second backend behind the same worker protocol, and the two against each other."""

from __future__ import annotations

import asyncio
import statistics
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.adapters.sip.calling import heard_from, level, mulaw_noise, on_line, stream
from tests.adapters.sip.peer import SDP, Reply, peer
from tests.adapters.sip.programs import certificate, kamailio
from voiceharness import CallResult, Hangup, Scenario, Wait, run_call
from voiceharness.audio import g711
from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.signals import tone
from voiceharness.clock import NS, LoopClock, run_real
from voiceharness.doubles import ProbeAgent, ScriptedPhoneAgent
from voiceharness.errors import (
    CallRejectedError,
    MediaTimeoutError,
    OptionError,
    RemoteProtocolError,
    UnsupportedCapabilityError,
)
from voiceharness.events import RemoteHangup
from voiceharness.protocols.rtp import RtpPacket
from voiceharness.report.console import call_text
from voiceharness.report.document import call_document
from voiceharness_adapters.sip import Sip, SipEndpoint, SipSettings
from voiceharness_adapters.sip.hosting import serve_calls

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from tests.adapters.sip.peer import SipPeer
    from voiceharness_adapters.sip.settings import Backend

__all__: list[str] = []

pytestmark = pytest.mark.realtime

HAS_PJSUA2 = sys.version_info < (3, 13)
"""Whether there is a wheel of pjsua2 for this Python."""

PAIRS: list[tuple[Backend, Backend]] = [("baresip", "baresip")]
if HAS_PJSUA2:
    PAIRS += [("baresip", "pjsua2"), ("pjsua2", "baresip")]


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_the_backends_hear_each_other(ours: Backend, theirs: Backend) -> None:
    async def main() -> None:
        agent = ProbeAgent([(0.2, AudioChunk.from_samples(tone(600, 1.2)))])
        async with SipEndpoint(SipSettings(backend=theirs)) as endpoint, serve_calls(agent, endpoint):
            async with on_line(Sip(endpoint.uri, backend=ours)) as line:
                line.say(tone(900, 1.0), at=2400)
                await line.until_position(16000)
            assert heard_from(line.record(), 600, 0.6, 1.2) > 0.98
            heard = agent.log.audio.samples.astype(float)
            spectrum = np.abs(np.fft.rfft(heard))
            assert np.argmax(spectrum) * 8000 / len(heard) == pytest.approx(900, abs=5)

    run_real(main())


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_the_backends_press_keys_for_each_other(ours: Backend, theirs: Backend) -> None:
    async def main() -> None:
        agent = ProbeAgent()
        async with SipEndpoint(SipSettings(backend=theirs)) as endpoint, serve_calls(agent, endpoint):
            async with on_line(Sip(endpoint.uri, backend=ours)) as line:
                await line.press("17#", "rfc4733", tone_ms=120, gap_ms=200)
            assert agent.log.digits == "17#"

    run_real(main())


@pytest.mark.parametrize("code", [486, 603, 404])
def test_refusals_have_their_status(code: int) -> None:
    async def main() -> None:
        async with peer(replies=(Reply(code, "No"),)) as agent:
            adapter = Sip(agent.uri, backend="baresip")
            with pytest.raises(CallRejectedError) as raised:
                await adapter.connect()
            await adapter.disconnect()
            assert raised.value.code == code
            assert f"SIP/2.0 {code}" in adapter.artefacts()["sip.txt"].decode()

    run_real(main())


def test_an_answer_without_a_usable_codec_has_no_media() -> None:
    async def main() -> None:
        unknown = SDP.replace("0 {events}", "97").replace("0 PCMU", "97 XYZ")
        async with peer(replies=(Reply(200, "OK", unknown),)) as agent:
            adapter = Sip(agent.uri, backend="baresip", media_timeout=0.5)
            with pytest.raises((MediaTimeoutError, RemoteProtocolError)):
                await adapter.connect()
            await adapter.disconnect()

    run_real(main())


def test_a_hang_up_of_the_agent_ends_the_call() -> None:
    async def main() -> None:
        async with peer(media=stream()) as agent:
            async with on_line(Sip(agent.uri, backend="baresip")) as line:
                await line.until_position(6400)
                agent.bye()
                await line.until(lambda: None)
            assert line.ended is not None
            assert line.ended.by == "agent"
            assert level(line.record().agent, 0.4, 0.7) > 4000

    run_real(main())


def test_hold_and_resume() -> None:
    async def main() -> None:
        async with peer(media=stream()) as agent:
            adapter = Sip(agent.uri, backend="baresip", media_timeout=0.5)
            async with on_line(adapter) as line:
                await line.until_position(4000)
                await adapter.control("hold")
                await line.until_position(10400)
                await adapter.control("resume")
                await line.until_position(16000)
            offers = [request for request in agent.requests if request.startswith("INVITE")]
            assert len(offers) == 3
            assert level(line.record().agent, 1.7, 1.9) > 4000

    run_real(main())


def test_the_agent_can_dial_the_user() -> None:
    async def main() -> None:
        async with SipEndpoint(SipSettings(backend="baresip", user="tester")) as ours:
            adapter = Sip(endpoint=ours, identity="tester")
            connecting = asyncio.create_task(adapter.connect())
            caller = Sip(ours.uri)
            await caller.connect()
            await connecting
            await adapter.disconnect()
            await caller.disconnect()

    run_real(main())


def test_loss_makes_the_timing_approximate_and_moves_nothing() -> None:
    """Every packet that came is heard where it would be had none been lost, and the call says what it is worth."""
    noise = mulaw_noise(4.0, seed=3)
    lost = {index for index in range(200) if index % 10 == 5 or 100 <= index < 103}

    async def media(agent: SipPeer) -> None:
        clock = LoopClock()
        start = clock.now_ns()
        for index in range(200):
            await clock.sleep_until_ns(start + index * NS // 50)
            sound = noise[160 * index : 160 * (index + 1)].tobytes()
            if index not in lost:
                agent.send(RtpPacket(0, index, 160 * index, 5, g711.encode(sound)))

    async def main() -> tuple[CallResult, list[int]]:
        async with peer(media=media) as agent:
            scenario = Scenario("lossy", steps=[Wait(4.5), Hangup()])
            result = await run_call(scenario, Sip(agent.uri, backend="baresip"))
        assert result.record is not None
        places = (place_of(noise, index, result.record.agent) for index in range(10, 200) if index not in lost)
        return result, [lag for lag in places if lag is not None]

    result, lags = run_real(main())
    assert result.facts["timing"] == "approximate"
    assert result.facts["rtp_lost"] == pytest.approx(len(lost), abs=1)
    usual = statistics.median(lags)
    in_place = [lag for lag in lags if abs(lag - usual) < 80]  # half a frame; a busy machine may hold some up
    assert len(in_place) > 0.8 * len(lags)
    (found,) = [each for each in result.findings if each.kind == "rtp_lost"]
    assert "timing of this call is approximate" in found.explanation
    assert found.explanation in call_text(call_document(result))


def place_of(noise: NDArray[np.int16], index: int, track: NDArray[np.int16]) -> int | None:
    """Samples by which a packet of noise is later on a track than in the noise; None: it is not there."""
    packet = noise[160 * index : 160 * (index + 1)].astype(float)
    begin = max(0, 160 * index - 1600)
    part = track[begin : 160 * index + 1760].astype(float)
    match = np.correlate(part, packet, "valid")
    best = int(np.argmax(match))
    return begin + best - 160 * index if match[best] > 0.8 * float(packet @ packet) else None


def test_without_loss_the_timing_is_that_of_the_ticks() -> None:
    async def main() -> object:
        async with peer(media=stream()) as agent:
            adapter = Sip(agent.uri, backend="baresip")
            async with on_line(adapter) as line:
                await line.until_position(12000)
            return adapter.call_facts()["timing"]

    assert "to half a frame" in {run_real(main()) for _ in range(3)}  # a busy machine may hold packets up


def test_dtls_srtp(tmp_path: Path) -> None:
    async def main() -> None:
        cert, key = await certificate(tmp_path)
        (tmp_path / "both.pem").write_text(cert.read_text() + key.read_text())
        secure: dict[str, Any] = {"srtp": "dtls", "backend": "baresip"}
        agent = ScriptedPhoneAgent([(0.3, AudioChunk.from_samples(tone(600, 1.5)))])
        async with SipEndpoint(SipSettings(**secure)) as endpoint, serve_calls(agent, endpoint):
            adapter = Sip(endpoint.uri, **secure)
            async with on_line(adapter) as line:
                await line.until_position(14400)
            assert heard_from(line.record(), 600, 1.0, 1.5) > 0.98
            assert adapter.call_facts()["srtp"] is True

    run_real(main())


def test_opus_at_48000() -> None:
    async def main() -> None:
        wide = SipSettings(backend="baresip", rate=48000, codecs=("OPUS",))
        agent = ScriptedPhoneAgent([(0.3, AudioChunk.from_samples(tone(6000, 1.5, 48000), 48000))])
        async with SipEndpoint(wide) as endpoint, serve_calls(agent, endpoint):
            async with on_line(Sip(endpoint.uri, backend="baresip", rate=48000, codecs="OPUS")) as line:
                await line.until_position(48000 * 2)
            heard = line.record().agent.astype(float)
            assert np.argmax(np.abs(np.fft.rfft(heard))) * 48000 / len(heard) == pytest.approx(6000, abs=20)

    run_real(main())


def test_registration_with_digest(tmp_path: Path) -> None:
    async def main() -> None:
        async with kamailio(tmp_path) as (port, _):
            registrar = f"127.0.0.1:{port}"
            good = SipSettings(user="agent", password="secret-agent", registrar=registrar, backend="baresip")
            async with SipEndpoint(good) as endpoint:
                assert "secret-agent" not in "".join(message.text for message in endpoint.messages)
            wrong = SipSettings(user="agent", password="wrong", registrar=registrar, backend="baresip")
            with pytest.raises(CallRejectedError):
                await SipEndpoint(wrong).open()

    run_real(main())


@pytest.mark.parametrize(("rate", "codecs"), [(8000, ("PCMU", "PCMA")), (16000, ("G722",)), (48000, ("OPUS",))])
def test_a_line_has_the_codecs_of_its_rate_unless_others_are_asked_for(rate: int, codecs: tuple[str, ...]) -> None:
    assert Sip("sip:a@127.0.0.1", backend="baresip", rate=rate).endpoint.settings.codecs == codecs


def test_what_it_cannot_do_is_not_declared_and_refused() -> None:
    async def main() -> None:
        async with peer() as agent:
            adapter = Sip(agent.uri, backend="baresip")
            async with on_line(adapter):
                with pytest.raises(UnsupportedCapabilityError, match="dtmf:info"):
                    await adapter.send_dtmf("1", method="info")

    assert "info" not in Sip.capabilities_for({"backend": "baresip"}).dtmf
    with pytest.raises(OptionError, match="carries 8000"):
        Sip("sip:a@127.0.0.1", backend="baresip", rate=16000, codecs="PCMU")
    run_real(main())


def test_the_last_words_before_a_hang_up_are_heard_whole() -> None:
    """What was given to be said has left before the BYE, and what waits when that comes is heard."""

    async def main() -> None:
        said = AudioChunk.from_samples(tone(600, 0.4))
        agent = ProbeAgent([(0.5, said), (0.9, RemoteHangup("done"))])
        async with SipEndpoint(SipSettings(backend="baresip")) as endpoint, serve_calls(agent, endpoint):
            async with on_line(Sip(endpoint.uri, backend="baresip")) as line:
                await line.until(lambda: None)
            loud = np.flatnonzero(np.abs(line.record().agent.astype(int)) > 1000)
            assert (loud[-1] - loud[0]) / 8000 == pytest.approx(0.4, abs=0.021)

    run_real(main())
