"""The agent's web server as the carrier asks it: where its answers lead, and what they say that they are."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from voiceharness.clock import run_virtual
from voiceharness.errors import CallRejectedError, RemoteProtocolError, UnsupportedCapabilityError
from voiceharness.protocols.media_streams.signature import is_signed
from voiceharness.protocols.media_streams.twiml import Pause
from voiceharness_adapters.twilio.agent_server import AgentServer, Document, joined
from voiceharness_adapters.twilio.door import HttpAnswer
from voiceharness_adapters.twilio.identity import CallIdentity
from voiceharness_adapters.twilio.network_door import NetworkDoor

__all__: list[str] = []

TOKEN = "0123456789abcdef0123456789abcdef"
VOICE = "https://agent.example.test/voice"
DOCUMENT = b"<Response><Pause/></Response>"
READ = HttpAnswer(200, "text/xml; charset=utf-8", DOCUMENT)


class Site:
    """A door whose server has one answer for each URL."""

    def __init__(self, answers: dict[str, HttpAnswer]) -> None:
        self.answers = answers
        self.asked: list[tuple[str, str, dict[str, str], bytes]] = []

    async def request(self, method: str, url: str, headers: Any, body: bytes) -> HttpAnswer:
        self.asked.append((method, url, dict(headers), body))
        return self.answers.get(url, HttpAnswer(404, "", b""))

    async def open_stream(self, url: str, headers: Any, listener: Any) -> Any:
        raise AssertionError("no stream is opened here")

    async def close(self) -> None:
        """Nothing is open."""


def leads(to: str, status: int = 307) -> HttpAnswer:
    return HttpAnswer(status, "", b"", to)


def document(site: Site, url: str = VOICE) -> Any:
    identity = CallIdentity("+15550100001", "+15550100002", TOKEN)
    return run_virtual(AgentServer(site, identity).document(url, "ringing"))


@pytest.mark.parametrize(("status", "method"), [(301, "GET"), (302, "GET"), (303, "GET"), (307, "POST"), (308, "POST")])
def test_a_redirect_is_followed_and_signed_anew(status: int, method: str) -> None:
    site = Site({VOICE: leads("/voice/", status), VOICE + "/": READ})
    assert document(site) == Document(VOICE + "/", (Pause(),))
    (_, first, _, _), (then, second, headers, body) = site.asked
    assert (first, then, second) == (VOICE, method, VOICE + "/")
    assert bool(body) == (method == "POST")
    fields = [] if method == "GET" else [tuple(each.split("=")) for each in body.decode().split("&")]
    plain = [(name, value.replace("%2B", "+")) for name, value in fields]
    assert is_signed(headers["X-Twilio-Signature"], TOKEN, VOICE + "/", plain)


def test_redirects_without_end_are_the_agents_fault() -> None:
    site = Site({VOICE: leads("/b"), "https://agent.example.test/b": leads("/voice")})
    with pytest.raises(RemoteProtocolError, match="more than 10 HTTP redirects"):
        document(site)
    assert len(site.asked) == 11


@pytest.mark.parametrize("to", ["ftp://agent.example.test/", "javascript:alert(1)", "b\r\nX: y", "b c", "http://[::1"])
def test_a_redirect_that_leads_nowhere_is_the_agents_fault(to: str) -> None:
    with pytest.raises(RemoteProtocolError, match="no URL"):
        document(Site({VOICE: leads(to)}))


def test_a_redirect_that_names_no_place_is_an_answer_like_any_other() -> None:
    with pytest.raises(CallRejectedError, match="answered HTTP 307"):
        document(Site({VOICE: leads("")}))


@pytest.mark.parametrize("content_type", ["text/xml", "application/xml", "Text/HTML; charset=utf-8"])
def test_what_a_carrier_reads_as_twiml_is_read(content_type: str) -> None:
    assert document(Site({VOICE: HttpAnswer(200, content_type, DOCUMENT)})).verbs == (Pause(),)


@pytest.mark.parametrize(
    ("content_type", "told"),
    [("application/json", "says that it is 'application/json'"), ("", "has no content type")],
)
def test_twiml_that_does_not_say_that_it_is_one_is_the_agents_fault(content_type: str, told: str) -> None:
    with pytest.raises(RemoteProtocolError, match=told):
        document(Site({VOICE: HttpAnswer(200, content_type, DOCUMENT)}))


@pytest.mark.parametrize("content_type", ["text/plain", "audio/mpeg"])
def test_what_a_carrier_would_speak_or_play_is_refused_by_its_name(content_type: str) -> None:
    with pytest.raises(UnsupportedCapabilityError, match=content_type):
        document(Site({VOICE: HttpAnswer(200, content_type, b"Hello")}))


def test_an_empty_answer_needs_no_content_type() -> None:
    assert document(Site({VOICE: HttpAnswer(204, "", b"")})).verbs == ()


def test_a_url_is_meant_from_where_the_document_is() -> None:
    assert joined(VOICE, "") == VOICE
    assert joined(VOICE, "next?step=2") == "https://agent.example.test/next?step=2"


@pytest.mark.realtime
def test_over_the_network_an_answer_tells_where_it_leads() -> None:
    async def answered() -> HttpAnswer:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 307 Temporary Redirect\r\nLocation: /voice/\r\nContent-Length: 0\r\n\r\n")
            await writer.drain()
            writer.close()

        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            return await NetworkDoor().request("POST", f"http://127.0.0.1:{port}/voice", [], b"")

    assert asyncio.run(answered()) == leads("/voice/")
