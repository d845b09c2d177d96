"""Calls through a voice webhook: the requests, the document, and what the user hears of it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import pytest

from tests.adapters.twilio.wire_agent import STREAM, VOICE, WireAgent, burst, near, play, tone_media
from voiceharness.audio import signals
from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.dtmf import detect
from voiceharness.audio.wav import wav_bytes
from voiceharness.clock import run_virtual
from voiceharness.errors import (
    AgentCrashedError,
    CallRejectedError,
    ConnectError,
    RemoteProtocolError,
    ScenarioError,
    UnsupportedCapabilityError,
)
from voiceharness.protocols.media_streams.signature import is_signed
from voiceharness.scenario.run import run_call
from voiceharness.scenario.scenario import Scenario
from voiceharness.scenario.steps import Hangup, Press, Say, Wait
from voiceharness.speech.synthesis import Speech
from voiceharness_adapters.twilio import Twilio

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__: list[str] = []

TOKEN = "0123456789abcdef0123456789abcdef"
CONNECT = f'<Connect><Stream url="{STREAM}"><Parameter name="who" value="me"/></Stream></Connect>'


class Server:
    """A voice webhook with documents by path, and the wire agent's stream."""

    def __init__(
        self,
        documents: dict[str, Any],
        stream: WireAgent | None = None,
        content_types: Mapping[str, str] | None = None,
    ) -> None:
        self.documents = documents
        self.content_types = content_types or {}
        self.stream = stream or WireAgent()
        self.requests: list[tuple[str, str, dict[str, str], dict[str, str]]] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "websocket":
            await self.stream(scope, receive, send)
            return
        assert scope["type"] == "http"
        form = dict(parse_qsl((await receive())["body"].decode()))
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        self.requests.append((scope["method"], scope["path"], form, headers))
        status, body = self.answer(scope["path"])
        if body.startswith(b"<Response>/"):
            location = body.removeprefix(b"<Response>").removesuffix(b"</Response>")
            await send({"type": "http.response.start", "status": 307, "headers": [(b"location", location)]})
            await send({"type": "http.response.body"})
            return
        kind = self.content_types.get(scope["path"], "text/xml").encode()
        await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", kind)]})
        await send({"type": "http.response.body", "body": body[:10], "more_body": True})
        await send({"type": "http.response.body", "body": body[10:]})

    def answer(self, path: str) -> tuple[int, bytes]:
        found = self.documents.get(path, 404)
        if isinstance(found, Exception):
            raise found
        if isinstance(found, int):
            return found, b"no"
        return 200, found if isinstance(found, bytes) else f"<Response>{found}</Response>".encode()


class Speaker:
    """Speaks a second of tone, whatever the text."""

    name, version, rate = "speaker", "1", 8000

    def synthesize(self, text: str, *, voice: str | None = None, speed: float = 1.0) -> Speech:
        return Speech(AudioChunk.from_samples(signals.tone(700, 1.0)), ())


def test_the_webhook_is_asked_as_the_carrier_asks() -> None:
    server = Server({"/voice": CONNECT})
    played = play(server, Wait(0.5), Hangup(), url=VOICE, token=TOKEN, user="+15550100003", agent="+15550100004")
    assert played.result.outcome == "passed"
    ((method, _, form, headers),) = server.requests
    assert (method, headers["content-type"]) == ("POST", "application/x-www-form-urlencoded; charset=UTF-8")
    assert (form["From"], form["To"], form["CallStatus"], form["Direction"]) == (
        "+15550100003",
        "+15550100004",
        "ringing",
        "inbound",
    )
    assert is_signed(headers["x-twilio-signature"], TOKEN, VOICE, form.items())
    start = server.stream.of("start")[0].message["start"]
    assert (start["callSid"], start["accountSid"]) == (form["CallSid"], form["AccountSid"])
    assert start["customParameters"] == {"who": "me"}
    upgrade = dict(server.stream.scopes[0]["headers"])[b"x-twilio-signature"].decode()
    assert is_signed(upgrade, TOKEN, STREAM)


def test_prompts_are_heard_before_the_stream_opens_and_after_it_closed() -> None:
    tone = wav_bytes(signals.tone(600, 0.5, 16000), 16000)
    document = f"<Pause/><Say>Hello</Say><Play>/a.wav</Play>{CONNECT}<Play digits='1w2'/><Hangup/>"
    server = Server({"/voice": document, "/a.wav": tone}, WireAgent([*burst(440, 0.5), (1.0, {"close": True})]))
    played = play(server, Wait(10), url=VOICE, synthesizer=Speaker())
    assert played.heard[0] == (near(1000), near(3000))
    record = played.result.record
    assert record is not None
    assert [digit.key for digit in detect(record.agent[3500 * 8 :])] == ["1", "2"]
    assert (played.result.ended_by, played.result.ended_reason) == ("agent", "the agent's document hung up")


def test_a_redirect_goes_on_at_the_other_document() -> None:
    server = Server({"/voice": "<Redirect>next?step=2</Redirect>", "/next": CONNECT})
    played = play(server, Wait(0.2), Hangup(), url=VOICE)
    assert played.result.outcome == "passed"
    assert [path for _, path, _, _ in server.requests] == ["/voice", "/next"]


def test_a_document_s_urls_are_meant_from_where_http_led() -> None:
    server = Server({"/voice": "/menu/", "/menu/": "<Redirect>next</Redirect>", "/menu/next": CONNECT})
    played = play(server, Wait(0.2), Hangup(), url=VOICE)
    assert played.result.outcome == "passed"
    assert [path for _, path, _, _ in server.requests] == ["/voice", "/menu/", "/menu/next"]


@pytest.mark.parametrize(
    "document",
    [
        "<Redirect>http://[::1</Redirect>",
        "<Play>http://[::1</Play>",
        '<Connect><Stream url="wss://[::1"/></Connect>',
        '<Connect><Stream url="wss://agent.example.test:media/"/></Connect>',
    ],
)
def test_a_url_in_a_document_that_is_none_is_the_agents_fault(document: str) -> None:
    played = play(Server({"/voice": document}), Wait(1), url=VOICE)
    assert played.result.outcome == "protocol_violation"
    assert "no URL: " in str(played.result.error)


def test_documents_that_lead_to_each_other_for_ever_are_the_agents_fault() -> None:
    played = play(Server({"/voice": "<Redirect/>"}), Wait(1), url=VOICE)
    assert isinstance(played.result.error, RemoteProtocolError)


def test_documents_that_take_their_time_may_lead_to_each_other_for_the_whole_call() -> None:
    server = Server({"/voice": "<Pause length='1'/><Redirect/>"})
    played = play(server, Wait(25), Hangup(), url=VOICE)
    assert played.result.outcome == "passed"
    assert len(server.requests) == 26


def test_a_stream_that_is_left_at_once_does_not_lead_in_a_circle_for_ever() -> None:
    again = f'<Connect action="/voice"><Stream url="{STREAM}"/></Connect>'
    played = play(Server({"/voice": again}, WireAgent([(0.0, {"close": True})])), Wait(5), url=VOICE)
    assert played.result.outcome == "protocol_violation"
    assert "lead to each other without end" in str(played.result.error)


@pytest.mark.parametrize(
    ("loop", "end"),
    [("", near(1000)), ("loop='2'", near(2000)), ("loop='0'", near(5000))],
    ids=["once", "twice", "until the call is over"],
)
def test_a_prompt_is_played_as_often_as_it_says(loop: str, end: Any) -> None:
    server = Server({"/voice": f"<Say {loop}>Hello</Say><Pause length='9'/>"})
    played = play(server, Wait(5), Hangup(), url=VOICE, synthesizer=Speaker())
    assert played.heard[-1][1] == end


class Mute:
    """Finds no word in any text, as engines do where there is none."""

    name, version, rate = "mute", "1", 8000

    def synthesize(self, text: str, *, voice: str | None = None, speed: float = 1.0) -> Speech:
        raise ScenarioError(f"there is nothing to speak in {text!r}")


@pytest.mark.parametrize("prompt", ["<Say/>", "<Say loop='0'>...</Say>"])
def test_a_prompt_without_sound_is_passed_over(prompt: str) -> None:
    server = Server({"/voice": prompt + CONNECT})
    played = play(server, Wait(0.5), Hangup(), url=VOICE, synthesizer=Mute())
    assert played.result.outcome == "passed"
    assert len(server.stream.of("start")) == 1


@pytest.mark.parametrize(
    ("content_type", "error"),
    [("audio/mpeg", UnsupportedCapabilityError), ("audio/x-wav", RemoteProtocolError), ("", RemoteProtocolError)],
)
def test_a_file_that_cannot_be_played_is_not_the_harnesss_fault(content_type: str, error: type[Exception]) -> None:
    server = Server({"/voice": "<Play>/a</Play>", "/a": b"ID3 and more"}, content_types={"/a": content_type})
    assert isinstance(play(server, Wait(1), url=VOICE).result.error, error)


GATHER = '<Gather action="/got" numDigits="3" timeout="2"><Say>Type</Say></Gather><Redirect>/none</Redirect>'


def test_keys_are_gathered_and_posted() -> None:
    server = Server({"/voice": GATHER, "/got": CONNECT})
    played = play(server, Wait(0.5), Press("123"), Wait(0.5), Hangup(), url=VOICE, synthesizer=Speaker())
    assert played.result.outcome == "passed"
    assert server.requests[1][1:3] == ("/got", {**server.requests[1][2], "Digits": "123", "CallStatus": "in-progress"})
    assert len(server.stream.of("start")) == 1
    assert server.stream.of("dtmf") == []


@pytest.mark.parametrize(("pressed", "digits"), [("12#", "12"), ("1", "1")])
def test_a_finishing_key_or_a_pause_ends_the_gathering(pressed: str, digits: str) -> None:
    server = Server({"/voice": GATHER, "/got": CONNECT})
    play(server, Press(pressed), Wait(4), Hangup(), url=VOICE, synthesizer=Speaker())
    assert server.requests[1][2]["Digits"] == digits


def test_no_keys_lead_on_in_the_document_after_prompt_and_timeout() -> None:
    server = Server({"/voice": GATHER, "/none": CONNECT})
    played = play(server, Wait(4), Hangup(), url=VOICE, synthesizer=Speaker())
    assert [path for _, path, _, _ in server.requests] == ["/voice", "/none"]
    assert played.result.metrics is not None
    assert server.stream.of("stop")[0].at == pytest.approx(1.0, abs=0.02)


def test_the_first_key_stops_the_prompt() -> None:
    server = Server({"/voice": GATHER, "/got": "<Pause length='5'/>"})
    played = play(server, Wait(0.3), Press("123"), Wait(1), Hangup(), url=VOICE, synthesizer=Speaker())
    assert played.heard == [(near(0), near(300))]


def test_a_prompt_that_breaks_while_keys_are_gathered_breaks_the_call() -> None:
    server = Server({"/voice": "<Gather><Play>/missing.wav</Play></Gather><Say>Go on</Say>"})
    played = play(server, Wait(2), url=VOICE, synthesizer=Speaker())
    assert isinstance(played.result.error, CallRejectedError)
    assert "missing.wav to be played answered HTTP 404" in str(played.result.error)


def test_a_call_that_ends_while_keys_are_gathered_leaves_nobody_waiting() -> None:
    async def tasks_left() -> set[str]:
        adapter = Twilio(VOICE, app=Server({"/voice": "<Gather timeout='60'/>"}))
        await run_call(Scenario("gathers", [Wait(0.5), Hangup()]), adapter)
        return {task.get_name() for task in asyncio.all_tasks() if task is not asyncio.current_task()}

    assert run_virtual(tasks_left()) == set()


def test_a_stream_that_only_listens_gets_both_tracks() -> None:
    start = f'<Start><Stream url="{STREAM}" track="both_tracks"/></Start><Say>Hello</Say><Pause length="2"/>'
    server = Server({"/voice": start})
    user = AudioChunk.from_samples(signals.tone(500, 0.5))
    played = play(server, Wait(0.5), Say(audio=user), Wait(3), url=VOICE, synthesizer=Speaker())
    assert server.stream.of("start")[0].message["start"]["tracks"] == ["inbound", "outbound"]
    tracks = [got.message["media"]["track"] for got in server.stream.of("media")]
    assert tracks.count("inbound") == tracks.count("outbound") == pytest.approx(150, abs=2)
    loud = [got.at for got in server.stream.of("media") if not got.message["media"]["payload"].startswith("//////")]
    assert min(loud) < 0.1
    assert played.result.ended_reason == "the agent's document was over"


def test_what_is_sent_back_on_a_stream_that_only_listens_is_a_violation() -> None:
    start = f'<Start><Stream url="{STREAM}"/></Start><Pause length="2"/>'
    played = play(Server({"/voice": start}, WireAgent([(0.5, tone_media(440, 1.0))])), Wait(1.5), url=VOICE)
    assert played.faults == ["one_way_stream"]
    assert played.result.outcome == "protocol_violation"
    assert played.heard == []


@pytest.mark.parametrize(
    ("documents", "error", "exit_code"),
    [
        ({}, CallRejectedError, 3),
        ({"/voice": 500}, CallRejectedError, 3),
        ({"/voice": b"<html/>"}, RemoteProtocolError, 6),
        ({"/voice": b""}, CallRejectedError, 3),
        ({"/voice": "<Hangup/>"}, CallRejectedError, 3),
        ({"/voice": "<Reject reason='busy'/>"}, CallRejectedError, 3),
        ({"/voice": "<Dial>+15550100001</Dial>"}, UnsupportedCapabilityError, 4),
        ({"/voice": "<Play>/missing.wav</Play>"}, CallRejectedError, 3),
        ({"/voice": KeyError("boom")}, AgentCrashedError, 3),
    ],
    ids=["404", "500", "not TwiML", "nothing", "hung up", "rejected", "a verb of another trade", "no file", "crash"],
)
def test_a_webhook_that_is_no_use_refuses_the_call(documents: Any, error: type[Exception], exit_code: int) -> None:
    played = play(Server(documents), Wait(1), url=VOICE)
    assert isinstance(played.result.error, error)
    assert played.result.exit_code == exit_code
    assert played.result.record is None


def test_a_stream_that_refuses_the_upgrade_refuses_the_call() -> None:
    async def refuses(scope: Any, receive: Any, send: Any) -> None:
        assert scope["type"] == "websocket"
        await receive()
        await send({"type": "websocket.close"})

    played = play(refuses, Wait(1))
    assert isinstance(played.result.error, CallRejectedError)
    assert played.result.error.code == 403


def test_an_application_that_fails_to_start_refuses_the_call() -> None:
    async def fails(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "lifespan.startup.failed", "message": "no model"})

    played = play(fails, Wait(1))
    assert isinstance(played.result.error, ConnectError)
    assert "no model" in str(played.result.error)
