"""The SIP messages of a call as text, without secrets."""

from __future__ import annotations

import pytest

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
k=base64:c2VjcmV0IGtleQ==
a=key-mgmt:mikey AQAFgM0XflABAAAA
"""


def test_credentials_and_keys_are_taken_out_and_the_rest_is_kept() -> None:
    shown = redact(REGISTER)
    assert not [
        word for word in ("username", "0123456789", "MD5", "fedcba", "WVNf", "AA:BB", "c2Vj", "AQAF") if word in shown
    ]
    assert "Authorization: Digest [secret]" in shown
    assert "CSeq: 2 REGISTER" in shown
    assert "AES_CM_128_HMAC_SHA1_80 inline: [secret]" in shown


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("sip:agent:p4ss@127.0.0.1:5060;transport=tcp", "sip:agent: [secret]@127.0.0.1:5060;transport=tcp"),
        ("<SIPS:agent:p4ss@pbx.example>;tag=1", "<SIPS:agent: [secret]@pbx.example>;tag=1"),
        ("<sip:127.0.0.1:5060>, <sip:agent@127.0.0.1>", "<sip:127.0.0.1:5060>, <sip:agent@127.0.0.1>"),
        ("sip:127.0.0.1:5060;x=agent@127.0.0.1", "sip:127.0.0.1:5060;x=agent@127.0.0.1"),
        ("sip:127.0.0.1:5060?Replaces=1@127.0.0.1", "sip:127.0.0.1:5060?Replaces=1@127.0.0.1"),
    ],
    ids=["password", "in brackets", "a port and another address", "a port and a parameter", "a port and a header"],
)
def test_a_password_in_an_address_is_taken_out(address: str, shown: str) -> None:
    assert redact(f"INVITE {address} SIP/2.0") == f"INVITE {shown} SIP/2.0"


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
