"""TwiML: what is understood, what is refused by name, and what no carrier would understand."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voiceharness.errors import RemoteProtocolError, UnsupportedCapabilityError
from voiceharness.protocols.media_streams.twiml import (
    ConnectStream,
    Gather,
    Hangup,
    Pause,
    Play,
    Redirect,
    Reject,
    Say,
    StartStream,
    Stream,
    Verb,
    connect_stream,
    parse_twiml,
)

__all__: list[str] = []


def parsed(inner: str) -> tuple[Verb, ...]:
    return parse_twiml(f"<Response>{inner}</Response>".encode())


def test_a_document_that_we_write_is_read_back() -> None:
    document = connect_stream("wss://agent.example.test/media", {"nonce": 'a"<&>', "x": "\u20ac"})
    stream = Stream("wss://agent.example.test/media", parameters={"nonce": 'a"<&>', "x": "\u20ac"})
    assert parse_twiml(document.encode()) == (ConnectStream(stream),)


@pytest.mark.parametrize(
    ("inner", "verbs"),
    [
        ("", ()),
        ("<!-- nothing -->", ()),
        ('<Start><Stream url="wss://a.test/m" track="both_tracks" name="n"/></Start>',
         (StartStream(Stream("wss://a.test/m", "n", "both_tracks")),)),
        ("<Say>Hello <prosody rate='slow'>there</prosody></Say><Hangup/>", (Say("Hello there"), Hangup())),
        ('<Play loop="2">/a.wav</Play><Play digits="1w2"/>', (Play("/a.wav", loop=2), Play(digits="1w2"))),
        ('<Pause/><Pause length="3"/><Redirect>/next</Redirect>', (Pause(), Pause(3), Redirect("/next"))),
        ('<Gather action="/d" numDigits="4" timeout="3" finishOnKey="*"><Say>Type</Say></Gather>',
         (Gather("/d", 4, 3, "*", (Say("Type"),)),)),
        ('<Reject reason="busy"/>', (Reject("busy"),)),
        ('<Connect action="/after"><Stream url="wss://a.test/m" statusCallback="/s"/></Connect>',
         (ConnectStream(Stream("wss://a.test/m", status_callback="/s"), "/after"),)),
        ('<Redirect method="POST" unheard="of">/next</Redirect>', (Redirect("/next"),)),
        ('<Connect><Stream url="ws://127.0.0.1:80/m"/></Connect>', (ConnectStream(Stream("ws://127.0.0.1:80/m")),)),
    ],
)  # fmt: skip
def test_verbs_are_read(inner: str, verbs: tuple[Verb, ...]) -> None:
    assert parsed(inner) == verbs


@pytest.mark.parametrize(
    ("inner", "name"),
    [
        ("<Dial>+15550100001</Dial>", "TwiML <Dial>"),
        ("<Record/>", "TwiML <Record>"),
        ("<Connect><ConversationRelay url='wss://a.test'/></Connect>", "<Connect><ConversationRelay>"),
        ("<Gather input='speech'/>", "<Gather input='speech'>"),
        ("<Gather actionOnEmptyResult='true'/>", "<Gather actionOnEmptyResult='true'>"),
        ("<Redirect method='GET'>/next</Redirect>", "<Redirect method='GET'>"),
        ("<Connect method='GET'><Stream url='wss://a.test/m'/></Connect>", "<Connect method='GET'>"),
        ("<Start action='/next'><Stream url='wss://a.test/m'/></Start>", "<Start action='/next'>"),
        ("<Connect><Stream url='wss://a.test/m' connectorName='c'/></Connect>", "<Stream connectorName='c'>"),
        ("<Stop><Stream name='n'/></Stop>", "<Stop>"),
        ("<Connect><Stream url='wss://a.test/m'><Custom/></Stream></Connect>", "<Stream><Custom>"),
    ],
)
def test_what_is_not_played_here_is_refused_by_its_name(inner: str, name: str) -> None:
    with pytest.raises(UnsupportedCapabilityError, match=name):
        parsed(inner)


@pytest.mark.parametrize(
    "document",
    [
        b"",
        b"{}",
        b"<Response>",
        b"<html></html>",
        b"\xff\xfe",
        b"<?xml version='1.0' encoding='nonsense'?><Response/>",
        b"<!DOCTYPE x [<!ENTITY a 'b'>]><Response>&a;</Response>",
        b"<Response>" + b" " * 65536 + b"</Response>",
        b"<Response><Connect/></Response>",
        b"<Response><Connect><Stream/></Connect></Response>",
        b"<Response><Connect><Stream url='https://a.test/m'/></Connect></Response>",
        b"<Response><Connect><Stream url='ws://a.test/m'/></Connect></Response>",
        b"<Response><Connect><Stream url='wss://a.test/m?x=1'/></Connect></Response>",
        b"<Response><Start><Stream url='wss://a.test/m' track='all'/></Start></Response>",
        b"<Response><Connect><Stream url='wss://a.test/m' track='both_tracks'/></Connect></Response>",
        b"<Response><Connect><Stream url='wss://a.test/m'><Parameter value='v'/></Stream></Connect></Response>",
        b"<Response><Connect><Stream url='wss://a.test/m'><Parameter name='n' value='" + b"v" * 500
        + b"'/></Stream></Connect></Response>",
        b"<Response><Pause length='-1'/></Response>",
        b"<Response><Pause length='1.5'/></Response>",
        b"<Response><Gather><Hangup/></Gather></Response>",
        b"<Response><Pause length='" + b"9" * 5000 + b"'/></Response>",
        b"<Response><Play/></Response>",
        b"<Response><Play digits='12x'/></Response>",
        "<!DOCTYPE x [<!ENTITY a 'b'>]><Response><Say>&a;</Say></Response>".encode("utf-16"),
    ],
)  # fmt: skip
def test_what_no_carrier_understands_is_the_agents_fault(document: bytes) -> None:
    with pytest.raises(RemoteProtocolError, match="the webhook's answer cannot be used"):
        parse_twiml(document)


@given(st.binary() | st.text().map(lambda inner: f"<Response><Say>{inner}</Say></Response>".encode("utf-8", "replace")))
def test_whatever_comes_is_read_or_refused(document: bytes) -> None:
    with suppress(RemoteProtocolError, UnsupportedCapabilityError):
        assert isinstance(parse_twiml(document), tuple)
