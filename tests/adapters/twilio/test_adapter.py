"""The adapter against the contract, over every way to an agent, in virtual and in real time."""

from __future__ import annotations

import asyncio
import threading
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from fastapi import FastAPI
from websockets.server import ServerProtocol

from tests.adapters.twilio.wire_agent import STREAM, VOICE, WireAgent, burst, close, near, speech, tone_media, trusted
from voiceharness.audio import g711, signals
from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.vad import find_segments
from voiceharness.clock import run_real, run_virtual
from voiceharness.doubles import EchoAgent, SilentAgent, TurnTakingAgent
from voiceharness.errors import (
    CallDroppedError,
    CallRejectedError,
    ConnectError,
    LocalProtocolError,
    OptionError,
    VirtualTimeError,
)
from voiceharness.protocols.media_streams.dialects import TELNYX
from voiceharness.registry import create, load_adapter, load_host
from voiceharness.scenario.run import run_call, run_scenario
from voiceharness.scenario.scenario import Scenario
from voiceharness.scenario.steps import AnyStep, Hear, Interrupt, Press, Say, Wait
from voiceharness.scenario.triggers import seconds
from voiceharness.testing import check_adapter
from voiceharness_adapters.twilio import Twilio, TwilioAgentApp, host, network_door
from voiceharness_adapters.twilio.asgi_server import serve_asgi

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from voiceharness.agent import PhoneAgent
    from voiceharness.scenario.result import CallResult

__all__: list[str] = []


@asynccontextmanager
async def stream_host(agent: PhoneAgent) -> AsyncIterator[Mapping[str, object]]:
    """Serve an agent so that the adapter dials its stream, not its webhook."""
    yield {"url": STREAM, "app": TwilioAgentApp(agent), "honours_clear": True}


def telnyx(**options: Any) -> Twilio:
    return Twilio(**options, dialect="telnyx")


@pytest.fixture(params=["websockets", "picows"])
def _client(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a test over either websocket client."""
    if request.param == "picows":
        pytest.importorskip("picows")
    else:
        monkeypatch.setattr(network_door, "find_spec", lambda _name: None)


either_client = pytest.mark.usefixtures("_client")


# The contract


@pytest.mark.parametrize("serve", [host, stream_host])
def test_it_keeps_the_contract_in_virtual_time(serve: Any) -> None:
    run_virtual(check_adapter(Twilio, serve))


@either_client
@pytest.mark.realtime
def test_it_keeps_the_contract_over_sockets() -> None:
    run_real(check_adapter(Twilio, host))


def test_it_is_found_by_its_name() -> None:
    assert load_adapter("twilio") is Twilio
    assert load_host("twilio") is host
    adapter = create("twilio", {"url": STREAM, "marks": "lost", "app": "tests.adapters.twilio.wire_agent:WireAgent"})
    assert isinstance(adapter, Twilio)


@pytest.mark.parametrize(
    "options",
    [{"url": "sip:agent"}, {"url": STREAM, "goodbye": -1.0}, {"url": STREAM, "dialect": "semaphore"}],
    ids=["scheme", "goodbye", "dialect"],
)
def test_options_that_cannot_be_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(OptionError):
        Twilio(**options)


def test_an_application_is_something_that_can_be_called() -> None:
    with pytest.raises(OptionError, match="ASGI application"):
        run_virtual(Twilio(STREAM, app="no such thing").connect())  # type: ignore[arg-type] # what is refused


def test_the_network_is_refused_in_virtual_time() -> None:
    with pytest.raises(VirtualTimeError, match="run in real time"):
        run_virtual(Twilio(STREAM).connect())


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")  # the worker is told as well
def test_a_blocking_endpoint_in_virtual_time_is_named_with_what_to_do() -> None:
    app = FastAPI()
    workers: list[threading.Thread] = []

    @app.post("/voice")
    def voice() -> str:
        workers.append(threading.current_thread())
        return ""

    result = run_scenario(Scenario("blocked", [Hear()]), lambda: Twilio(VOICE, app=app))
    for worker in workers:  # its last words belong to this test
        worker.join()
    assert result.outcome == "harness_fault"
    assert isinstance(result.error, VirtualTimeError)
    assert str(result.error) == (
        "the application answered /voice in a thread, which virtual time cannot follow: make the endpoint `async def`, "
        "or run in real time (--real)"
    )
    assert "thread 'AnyIO worker thread' called back into the event loop" in str(result.error.__cause__)


def test_one_adapter_is_one_call() -> None:
    async def twice() -> None:
        adapter = Twilio(STREAM, app=WireAgent())
        await adapter.connect()
        await adapter.disconnect()
        await adapter.connect()

    with pytest.raises(LocalProtocolError):
        run_virtual(twice())


def test_virtual_runs_are_identical() -> None:
    def record() -> tuple[bytes, bytes]:
        agent = TurnTakingAgent([AudioChunk.from_samples(signals.tone(440, 1.0, 24000), 24000)])
        steps: list[AnyStep] = [Say(audio=speech(0.8)), Interrupt(audio=speech(0.5), after=seconds(0.4)), Hear()]
        result = run_scenario(Scenario("same", steps), lambda: Twilio(VOICE, app=TwilioAgentApp(agent)))
        assert result.record is not None
        return result.record.user.tobytes(), result.record.agent.tobytes()

    assert record() == record()


# Real sockets, one call of each kind


CONVERSATION = Scenario(
    "conversation",
    [
        Hear(tail_silence=0.2),
        Say(audio=speech(0.5)),
        Interrupt(audio=speech(0.4), after=seconds(0.3)),
        Press("7"),
        Hear(tail_silence=0.2),
    ],
)


def call(url: str, app: Any, scenario: Scenario, **options: Any) -> CallResult:
    """Serve an application on loopback and call it there."""

    async def main() -> CallResult:
        async with serve_asgi(app) as port:
            return await run_call(scenario, Twilio(url.format(port=port), **options))

    def run() -> CallResult:
        if isinstance(app, WireAgent):
            app.forget()
        return run_real(main())

    return trusted(run)


@pytest.mark.realtime
@pytest.mark.parametrize("url", ["ws://127.0.0.1:{port}/media", "http://127.0.0.1:{port}/voice"])
def test_a_conversation_over_a_socket_measures_what_virtual_time_measures(url: str) -> None:
    """Cases A01, B07 and B09 on the real clock: the same agent, the same figures."""

    def agent() -> TurnTakingAgent:
        tone = AudioChunk.from_samples(signals.tone(440, 0.8))
        return TurnTakingAgent([tone], greeting=tone, pause=0.3, thinking=0.1, stops_after=0.2)

    real = call(url, TwilioAgentApp(agent()), CONVERSATION)
    virtual = run_scenario(CONVERSATION, lambda: Twilio(STREAM, app=TwilioAgentApp(agent())))
    for result in (real, virtual):
        assert result.outcome == "passed", result.explain()
    assert real.metrics is not None
    assert virtual.metrics is not None
    assert real.metrics.latencies[0] == pytest.approx(virtual.metrics.latencies[0], abs=0.04)
    for barge_in, twin in zip(real.metrics.barge_ins, virtual.metrics.barge_ins, strict=True):
        assert barge_in.stop_latency == pytest.approx(twin.stop_latency, abs=0.04)


@either_client
@pytest.mark.realtime
def test_marks_come_back_by_playout_over_a_socket() -> None:
    """Case A10."""
    cues: list[Any] = [
        (0.0, wire) for n in range(3) for wire in (tone_media(440, 0.3), {"event": "mark", "mark": {"name": str(n)}})
    ]
    agent = WireAgent(cues)
    call("ws://127.0.0.1:{port}/media", agent, Scenario("marks", [Wait(1.5)]))
    assert [got.at for got in agent.of("mark")] == pytest.approx([0.3, 0.6, 0.9], abs=0.04)


@pytest.mark.realtime
def test_frames_leave_every_20_ms_over_a_socket() -> None:
    """Cases A64 and B23: the mean is exact, whatever a single frame is late."""
    agent = WireAgent()
    result = call("ws://127.0.0.1:{port}/media", agent, Scenario("frames", [Wait(2)]))
    frames = agent.of("media")
    assert len(frames) == pytest.approx(100, abs=1)
    assert [int(got.message["media"]["timestamp"]) for got in frames] == list(range(0, 20 * len(frames), 20))
    assert result.trust.trustworthy, result.trust.reasons


@either_client
@pytest.mark.realtime
def test_an_agent_that_hangs_up_over_a_socket_is_heard_until_then() -> None:
    """Cases A56 and B05."""
    result = call(
        "ws://127.0.0.1:{port}/media",
        WireAgent([*burst(440, 1.0), (0.6, close())]),
        Scenario("bye", [Hear(), Say(audio=speech(0.5))]),
    )
    assert (result.ended_by, result.error) == ("agent", None)
    assert result.record is not None
    assert [(s.onset / 8, s.offset / 8) for s in find_segments(result.record.agent, 8000)] == [
        (near(0, 40), near(600, 40))
    ]


@either_client
@pytest.mark.realtime
def test_a_socket_that_is_reset_is_a_dropped_call() -> None:
    """Case B01 (d)."""

    async def main() -> CallResult:
        server = await asyncio.start_server(_resets, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            return await run_call(Scenario("reset", [Hear(within=5)]), Twilio(f"ws://127.0.0.1:{port}/"))

    result = run_real(main())
    assert isinstance(result.error, CallDroppedError)
    assert result.exit_code == 3


async def _resets(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    protocol = ServerProtocol()
    while not (events := protocol.events_received()):
        protocol.receive_data(await reader.read(4096))
    protocol.send_response(protocol.accept(events[0]))  # type: ignore[arg-type] # the first event is the request
    writer.write(b"".join(protocol.data_to_send()))
    await reader.read(200)
    writer.transport.abort()


@either_client
@pytest.mark.realtime
def test_nobody_there_and_a_refusal_are_told_apart() -> None:
    """Case B58: unreachable, and refused."""

    async def refuses(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.close"})

    scenario = Scenario("nobody", [Wait(1)])
    refused = call("ws://127.0.0.1:{port}/", refuses, scenario)
    assert isinstance(refused.error, CallRejectedError)
    assert refused.error.code == 403
    for url in ("ws://127.0.0.1:9/", "http://127.0.0.1:9/voice"):

        async def main(url: str = url) -> CallResult:
            return await run_call(scenario, Twilio(url))

        assert isinstance(run_real(main()).error, ConnectError)


@either_client
@pytest.mark.realtime
def test_sound_is_carried_exactly_over_a_socket() -> None:
    said = AudioChunk.from_samples(signals.tone(440, 0.5))
    agent = WireAgent()
    result = call("ws://127.0.0.1:{port}/media", agent, Scenario("sound", [Say(audio=said), Wait(0.2)]))
    assert result.record is not None
    sent = g711.decode(g711.encode(result.record.user.astype("<i2").tobytes()))
    received = agent.user_audio.pcm
    assert received == sent[: len(received)]
    assert np.any(agent.user_audio.samples)


@pytest.mark.realtime
def test_an_echo_comes_back_and_a_silent_agent_says_nothing() -> None:
    scenario = Scenario("echo", [Say(audio=speech(0.5)), Wait(0.5)])
    echoed = call("ws://127.0.0.1:{port}/", TwilioAgentApp(EchoAgent()), scenario)
    silent = call("ws://127.0.0.1:{port}/", TwilioAgentApp(SilentAgent()), scenario)
    assert echoed.metrics is not None
    assert silent.metrics is not None
    assert echoed.metrics.agent_talk == pytest.approx(0.5, abs=0.06)
    assert silent.metrics.agent_talk == 0


def test_another_vendors_dialect_keeps_the_contract_as_well() -> None:

    @asynccontextmanager
    async def serve(agent: PhoneAgent) -> AsyncIterator[Mapping[str, object]]:
        yield {"url": STREAM, "app": TwilioAgentApp(agent, dialect=TELNYX), "honours_clear": True}

    run_virtual(check_adapter(telnyx, serve))
