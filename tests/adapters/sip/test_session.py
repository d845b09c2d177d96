"""What offers and answers agree on, alone and in real calls of both backends."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.adapters.sip.calling import heard_from, on_line, stream
from tests.adapters.sip.peer import OK, RINGING, SDP, Reply, peer
from voiceharness.audio import g711
from voiceharness.clock import run_real
from voiceharness_adapters.sip import Sip
from voiceharness_adapters.sip.endpoint import SipMessage
from voiceharness_adapters.sip.session import AudioSession, agreed_session

if TYPE_CHECKING:
    from voiceharness.protocols.rtp import RtpPacket
    from voiceharness_adapters.sip.settings import Backend

__all__: list[str] = []

OFFER = "m=audio 4000 RTP/AVP 0 8 101\na=rtpmap:0 PCMU/8000\na=rtpmap:8 PCMA/8000\na=rtpmap:101 telephone-event/8000"
BOTH: tuple[Backend, Backend] = ("pjsua2", "baresip")
PCMA = SDP.replace("0 {events}", "8 {events}").replace("0 PCMU", "8 PCMA")


def said(way: str, first_line: str, body: str = "", *, cseq: str = "1 INVITE") -> SipMessage:
    return SipMessage(0, way, "UDP 127.0.0.1:5060", f"{first_line}\nCSeq: {cseq}\n\nv=0\nc=IN IP4 127.0.0.1\n{body}\n")


def test_the_first_format_of_the_answer_is_used() -> None:
    messages = [
        said("sent", "INVITE sip:a@b SIP/2.0", OFFER),
        said("received", "SIP/2.0 180 Ringing"),
        said("received", "SIP/2.0 200 OK", "m=audio 5000 RTP/AVP 101 8 0\na=rtpmap:101 telephone-event/8\na=ptime:30"),
    ]
    assert agreed_session(messages) == AudioSession("PCMA", 8000, 8, 8, 30, "")
    assert agreed_session(messages[:2]) is None


def test_each_side_has_its_own_number_for_a_codec() -> None:
    ours = "m=audio 4000 RTP/SAVP 96\na=rtpmap:96 opus/48000/2\na=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:[secret]"
    theirs = "m=audio 5000 RTP/SAVP 111\na=rtpmap:111 OPUS/48000/2\na=crypto:1 AES_CM_128_HMAC_SHA1_32 inline:[secret]"
    messages = [said("received", "INVITE sip:a@b SIP/2.0", theirs), said("sent", "SIP/2.0 200 OK", ours)]
    assert agreed_session(messages) == AudioSession("OPUS", 48000, 111, 96, 20, "AES_CM_128_HMAC_SHA1_80")


def test_an_offer_may_come_with_the_answer_to_the_invite_and_be_answered_by_its_ack() -> None:
    messages = [
        said("sent", "INVITE sip:a@b SIP/2.0"),
        said("received", "SIP/2.0 200 OK", OFFER),
        said("sent", "ACK sip:a@b SIP/2.0", "m=audio 4000 RTP/AVP 8", cseq="1 ACK"),
    ]
    session = agreed_session(messages)
    assert session is not None
    assert session.codec == "PCMA"


def test_the_latest_offer_that_was_answered_holds_and_each_side_counts_its_own_requests() -> None:
    messages = [
        said("sent", "INVITE sip:a@b SIP/2.0", OFFER),
        said("received", "SIP/2.0 200 OK", "m=audio 5000 RTP/AVP 0"),
        said("received", "INVITE sip:b@a SIP/2.0", "m=audio 5000 RTP/AVP 8"),
        said("sent", "SIP/2.0 200 OK", "m=audio 4000 RTP/AVP 8"),
        said("sent", "UPDATE sip:a@b SIP/2.0", OFFER, cseq="2 UPDATE"),
        said("received", "SIP/2.0 488 Not Acceptable Here", OFFER, cseq="2 UPDATE"),
    ]
    codecs = [session and session.codec for session in (agreed_session(messages[:2]), agreed_session(messages))]
    assert codecs == ["PCMU", "PCMA"]


def test_keys_agreed_on_in_the_media_are_named_so() -> None:
    secure = OFFER + "\na=fingerprint: [secret]"
    messages = [said("sent", "INVITE sip:a@b SIP/2.0", secure), said("received", "SIP/2.0 200 OK", secure)]
    session = agreed_session(messages)
    assert session is not None
    assert session.suite == "DTLS-SRTP"


def test_an_answer_without_a_common_codec_agrees_on_nothing() -> None:
    answer = "m=audio 5000 RTP/AVP 97\na=rtpmap:97 XYZ/8000"
    messages = [said("sent", "INVITE sip:a@b SIP/2.0", OFFER), said("received", "SIP/2.0 200 OK", answer)]
    assert agreed_session(messages) is None


def in_a_law(packet: RtpPacket) -> tuple[RtpPacket, ...]:
    sound = g711.decode(packet.payload)
    return (replace(packet, payload_type=8, payload=g711.encode(sound, law="alaw")),)


@pytest.mark.realtime
@pytest.mark.parametrize("backend", BOTH)
def test_the_codec_of_a_call_is_the_one_that_the_agent_chose(backend: Backend) -> None:
    async def main() -> None:
        async with peer(media=stream(in_a_law), replies=(RINGING, Reply(200, "OK", PCMA))) as agent:
            adapter = Sip(agent.uri, backend=backend)
            async with on_line(adapter) as line:
                await line.until_position(8000)
            assert "RTP/AVP 0 8" in agent.invite
            facts = adapter.call_facts()
            told = {name: facts[name] for name in ("codec", "codec_clock_hz", "payload_type_sent", "srtp_suite")}
            assert told == {"codec": "PCMA", "codec_clock_hz": 8000, "payload_type_sent": 8, "srtp_suite": ""}
            assert max(heard_from(line.record(), 440, begin / 10, begin / 10 + 0.1) for begin in range(2, 9)) > 0.98

    run_real(main())


@pytest.mark.realtime
@pytest.mark.parametrize("backend", BOTH)
def test_another_codec_in_mid_call_is_the_codec_from_then_on(backend: Backend) -> None:
    heard: list[int] = []

    async def main() -> None:
        async with peer(replies=(RINGING, OK), heard=lambda packet, _at: heard.append(packet.payload_type)) as agent:
            adapter = Sip(agent.uri, backend=backend)
            async with on_line(adapter) as line:
                await line.until_position(4000)
                before = adapter.call_facts()["codec"]
                agent.reinvite(PCMA)
                await line.until_position(12000)
            assert (before, adapter.call_facts()["codec"]) == ("PCMU", "PCMA")
            assert (heard[0], heard[-1]) == (0, 8)

    run_real(main())
