"""Status callbacks: what the carrier posts of a call's progress, and what races with it."""

from __future__ import annotations

from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

import pytest

from tests.adapters.twilio.test_call_flow import CONNECT, TOKEN, Server
from tests.adapters.twilio.wire_agent import VOICE, WireAgent, burst, close, play, trusted
from voiceharness.clock import LoopClock, run_real
from voiceharness.errors import AgentCrashedError, OptionError
from voiceharness.protocols.media_streams.signature import is_signed
from voiceharness.registry import options_of
from voiceharness.scenario.run import run_call
from voiceharness.scenario.scenario import Scenario
from voiceharness.scenario.steps import Hangup, Hear, Wait
from voiceharness_adapters.twilio import Twilio
from voiceharness_adapters.twilio.asgi_server import serve_asgi

if TYPE_CHECKING:
    from voiceharness.scenario.result import CallResult

STATUS = "https://agent.example.test/status"


class Slow(Server):
    """A server whose stream is open some time after it was asked for."""

    def __init__(self, documents: dict[str, Any], stream: WireAgent, opens_after: float) -> None:
        super().__init__(documents, stream)
        self._opens_after = opens_after

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "websocket":
            await LoopClock().sleep(self._opens_after)
        await super().__call__(scope, receive, send)


def posts(server: Server, path: str = "/status") -> list[dict[str, str]]:
    """The forms that came to a path."""
    return [form for _, asked, form, _ in server.requests if asked == path]


def timeline(result: CallResult) -> list[tuple[str, int]]:
    """What became of the call, in milliseconds."""
    assert result.record is not None
    events = result.record.of_kind("answered", "media", "hangup")
    return [(str(event.data.get("state", event.kind)), round(event.at / 8)) for event in events]


def test_the_progress_is_posted_as_the_carrier_posts_it() -> None:
    server = Server({"/voice": CONNECT, "/status": b""})
    played = play(server, Wait(2.5), Hangup(), url=VOICE, token=TOKEN, status_callback="/status")
    assert played.result.passed, played.result.explain()
    answered, completed = posts(server)
    (webhook,) = posts(server, "/voice")
    same = ("AccountSid", "CallSid", "From", "To", "Caller", "Called", "Direction", "ApiVersion")
    for form in (answered, completed):
        assert {name: form[name] for name in same} == {name: webhook[name] for name in same}
        assert form["CallbackSource"] == "call-progress-events"
        assert parsedate_to_datetime(form["Timestamp"]).utcoffset() is not None
    assert (answered["CallStatus"], answered["SequenceNumber"]) == ("in-progress", "0")
    assert (completed["CallStatus"], completed["SequenceNumber"]) == ("completed", "1")
    assert (completed["CallDuration"], completed["Duration"]) == ("2", "1")
    assert "CallDuration" not in answered


def test_what_is_posted_is_what_the_option_says() -> None:
    server = Server({"/voice": CONNECT, "/status": b""})
    play(server, Wait(0.5), url=VOICE, status_callback="/status")
    (option,) = (option for option in options_of(Twilio) if option.name == "status_callback")
    assert option.help.rpartition(": ")[2] == ", ".join(form["CallStatus"] for form in posts(server))


def test_every_post_is_signed_over_its_own_url() -> None:
    server = Server({"/voice": CONNECT, "/status": b""})
    play(server, Wait(0.5), Hangup(), url=VOICE, token=TOKEN, status_callback=STATUS)
    signed = [
        is_signed(headers["x-twilio-signature"], TOKEN, STATUS, form.items())
        for _, path, form, headers in server.requests
        if path == "/status"
    ]
    assert signed == [True, True]


def test_a_fallback_that_kills_the_stream_at_once_is_named_so() -> None:
    """Case A60: answered at 0, the stream starts at 300 ms and stops at 311: not an agent that is silent."""
    server = Slow({"/voice": CONNECT, "/status": b""}, WireAgent([(0.011, close())]), opens_after=0.3)
    result = play(server, Hear(within=5), url=VOICE, status_callback=STATUS).result
    assert result.outcome == "failed"
    assert timeline(result) == [("answered", 0), ("started", 300), ("stopped", 311), ("hangup", 311)]
    assert "the agent closed the stream 11 ms after its start" in result.ended_reason
    assert "closed the stream 11 ms after its start" in result.explain()
    assert "no speech" not in result.explain()


def test_the_twin_that_keeps_its_stream_passes() -> None:
    """Case A60, without the fault."""
    server = Slow({"/voice": CONNECT, "/status": b""}, WireAgent(burst(440, 1.0, 0.2)), opens_after=0.3)
    result = play(server, Hear(within=5), Hangup(), url=VOICE, status_callback=STATUS).result
    assert result.passed, result.explain()
    assert timeline(result)[:2] == [("answered", 0), ("started", 300)]


def test_the_call_does_not_wait_for_its_callback() -> None:
    class Reluctant(Server):
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            if scope["path"] == "/status":
                await LoopClock().sleep(60)
            await super().__call__(scope, receive, send)

    result = play(Reluctant({"/voice": CONNECT, "/status": b""}), Wait(1), url=VOICE, status_callback=STATUS).result
    assert result.passed, result.explain()
    assert result.metrics is not None
    assert result.metrics.duration == pytest.approx(1.0, abs=0.02)


def test_what_the_callback_answers_is_only_noted() -> None:
    server = Server({"/voice": CONNECT, "/status": 503})
    played = play(server, Wait(0.5), url=VOICE, status_callback=STATUS)
    assert played.result.passed, played.result.explain()
    assert played.adapter.log.callbacks == [("in-progress", 503), ("completed", 503)]
    assert played.result.facts["callback in-progress"] == 503


def test_agent_code_that_raises_at_its_callback_is_the_agents_crash() -> None:
    server = Server({"/voice": CONNECT, "/status": KeyError("call")})
    result = play(server, Wait(3), url=VOICE, status_callback=STATUS).result
    assert result.outcome != "passed"
    assert isinstance(result.error, AgentCrashedError)
    assert "KeyError" in str(result.error)


def test_a_call_that_was_never_answered_posts_nothing() -> None:
    server = Server({"/voice": "<Reject/>", "/status": b""})
    assert play(server, url=VOICE, status_callback=STATUS).result.outcome == "not_called"
    assert posts(server) == []


def test_a_streams_own_callback_is_told_of_its_start_and_its_end() -> None:
    connect = '<Connect><Stream url="wss://agent.example.test/media" name="talk" statusCallback="/stream"/></Connect>'
    server = Server({"/voice": connect, "/stream": b""})
    played = play(server, Wait(0.5), url=VOICE, token=TOKEN)
    assert played.result.passed, played.result.explain()
    started, stopped = posts(server, "/stream")
    assert [started["StreamEvent"], stopped["StreamEvent"]] == ["stream-started", "stream-stopped"]
    for form in (started, stopped):
        assert (form["StreamSid"], form["StreamName"]) == (server.stream.stream, "talk")
        assert datetime.fromisoformat(form["Timestamp"]).utcoffset() is not None
    signatures = [headers["x-twilio-signature"] for _, path, _, headers in server.requests if path == "/stream"]
    url = "https://agent.example.test/stream"
    assert is_signed(signatures[0], TOKEN, url, started.items())
    assert is_signed(signatures[1], TOKEN, url, stopped.items())


def test_the_action_of_a_stream_is_asked_what_follows_it() -> None:
    connect = CONNECT.replace("<Connect>", '<Connect action="/after">')
    server = Server({"/voice": connect, "/after": "<Pause/><Hangup/>"}, WireAgent([(0.5, close())]))
    result = play(server, Wait(5), url=VOICE).result
    assert [path for _, path, _, _ in server.requests] == ["/voice", "/after"]
    assert result.ended_reason == "the agent's document hung up"
    assert result.metrics is not None
    assert result.metrics.duration == pytest.approx(1.5, abs=0.02)


@pytest.mark.parametrize(
    ("url", "callback"), [("wss://agent.example.test/media", STATUS), (VOICE, "ftp://agent.example.test/status")]
)
def test_a_callback_that_no_carrier_would_post_to_is_refused(url: str, callback: str) -> None:
    with pytest.raises(OptionError, match="status_callback"):
        Twilio(url, status_callback=callback)


@pytest.mark.realtime
def test_the_progress_is_posted_over_a_socket() -> None:
    """Case A60 on a real socket: the order of things, whatever the time between them."""

    async def main() -> tuple[CallResult, Server]:
        server = Server({"/status": b""}, WireAgent([(0.011, close())]))
        async with serve_asgi(server) as port:
            host = f"127.0.0.1:{port}"
            server.documents["/voice"] = f'<Connect><Stream url="ws://{host}/media"/></Connect>'
            twilio = Twilio(f"http://{host}/voice", status_callback="/status")
            return await run_call(Scenario("case", [Hear(within=3)]), twilio), server

    servers: list[Server] = []

    def run() -> CallResult:
        result, server = run_real(main())
        servers.append(server)
        return result

    result = trusted(run)
    assert [kind for kind, _ in timeline(result)] == ["answered", "started", "stopped", "hangup"]
    assert "ms after its start" in result.ended_reason
    assert [form["CallStatus"] for form in posts(servers[-1])] == ["in-progress", "completed"]
