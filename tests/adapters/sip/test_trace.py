"""The SIP messages of a call as text, without secrets."""

from __future__ import annotations

from voiceharness_adapters.sip.artefacts import trace_text
from voiceharness_adapters.sip.endpoint import SipMessage
from voiceharness_adapters.sip.trace import redact

__all__: list[str] = []

REGISTER = """REGISTER sip:pbx.example SIP/2.0
Call-ID: 4711
Authorization: Digest username="me", realm="pbx", nonce="n", uri="sip:pbx", response="0123456789abcdef"
 , algorithm=MD5
Proxy-Authorization: Digest username="me", response="fedcba"
CSeq: 2 REGISTER

a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:WVNfX19zZW1jdGwgKCkgewkyMjA7fQp9CnVubGVz
a=fingerprint:sha-256 AA:BB
"""


def test_credentials_and_keys_are_taken_out_and_the_rest_is_kept() -> None:
    shown = redact(REGISTER)
    assert not [word for word in ("username", "0123456789", "MD5", "fedcba", "WVNf", "AA:BB") if word in shown]
    assert "Authorization: Digest [secret]" in shown
    assert "CSeq: 2 REGISTER" in shown
    assert "AES_CM_128_HMAC_SHA1_80 inline: [secret]" in shown


def test_a_trace_tells_when_which_way_and_with_whom() -> None:
    messages = [
        SipMessage(900_000_000, "sent", "UDP 127.0.0.1:5060", "INVITE sip:a SIP/2.0\nCall-ID: x"),
        SipMessage(1_000_000_000, "received", "UDP 127.0.0.1:5060", "SIP/2.0 200 OK\ni: x"),
    ]
    text = trace_text(messages, answered_ns=1_000_000_000)
    assert text.startswith("-0.100 s  sent  UDP 127.0.0.1:5060\n\nINVITE")
    assert "+0.000 s  received" in text
    assert [message.call_id for message in messages] == ["x", "x"]


def test_the_trace_of_a_call_that_was_not_answered_begins_at_0() -> None:
    messages = [
        SipMessage(900_000_000, "sent", "UDP 127.0.0.1:5060", "INVITE sip:a SIP/2.0"),
        SipMessage(950_000_000, "received", "UDP 127.0.0.1:5060", "SIP/2.0 486 Busy Here"),
    ]
    text = trace_text(messages, answered_ns=None)
    assert text.startswith("+0.000 s  sent")
    assert "+0.050 s  received" in text
    assert trace_text([], answered_ns=None) == ""
