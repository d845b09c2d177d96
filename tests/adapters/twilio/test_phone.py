"""Real phone calls, against the carrier's REST paths on loopback and our own carrier as the far end."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.adapters.twilio.wire_agent import speech, trusted
from voiceharness.audio import signals
from voiceharness.audio.chunk import AudioChunk
from voiceharness.clock import LoopClock, run_real, run_virtual
from voiceharness.doubles import ScriptedPhoneAgent, SilentAgent, TurnTakingAgent
from voiceharness.errors import CallRejectedError, ConnectError, OptionError, VirtualTimeError
from voiceharness.events import CallEnded, RemoteHangup
from voiceharness.protocols.media_streams.signature import SIGNATURE_HEADER, sign
from voiceharness.scenario.run import run_call
from voiceharness.scenario.scenario import Scenario
from voiceharness.scenario.steps import Hear, Press, Say, Wait
from voiceharness_adapters.twilio import Twilio, TwilioNumber, TwilioPhone
from voiceharness_adapters.twilio.asgi_server import serve_asgi
from voiceharness_adapters.twilio.network_door import NetworkDoor
from voiceharness_adapters.twilio.telephone_network import ACCOUNT, TOKEN
from voiceharness_adapters.twilio.telephone_network import TelephoneNetwork as Network

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from voiceharness.agent import PhoneAgent
    from voiceharness.scenario.result import CallResult
    from voiceharness.scenario.steps import AnyStep

__all__: list[str] = []

OURS, THEIRS = "+15550100001", "+15550100002"
pytest.importorskip("twilio")


def free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@asynccontextmanager
async def phone(agent: PhoneAgent | None, **options: Any) -> AsyncIterator[tuple[TwilioPhone, Network]]:
    """An adapter whose calls go over a network on loopback to an agent at its phone."""
    network = Network(agent)
    async with serve_asgi(network) as rest:
        port = free_port()
        settings = {
            "to": THEIRS,
            "allow": [THEIRS],
            "dry_run": False,
            "account": ACCOUNT,
            "token": TOKEN,
            "public_url": f"http://127.0.0.1:{port}",
            "port": port,
            "api_url": f"http://127.0.0.1:{rest}",
        }
        yield TwilioPhone(OURS, **{**settings, **options}), network


def call(agent: PhoneAgent | None, *steps: AnyStep, **options: Any) -> tuple[CallResult, TwilioPhone, Network]:
    """Play a scenario on a phone call."""

    made: list[tuple[TwilioPhone, Network]] = []

    async def main() -> CallResult:
        async with phone(agent, **options) as (adapter, network):
            made.append((adapter, network))
            return await run_call(Scenario("phone", list(steps)), adapter)

    result = trusted(lambda: run_real(main()))
    return result, *made[-1]


def completions(network: Network) -> int:
    return sum(update.get("Status") == "completed" for placed in network.calls for update in placed.updates)


# A call


@pytest.mark.realtime
def test_a_call_is_placed_held_and_ended_once() -> None:
    """Case B35, success."""
    tone = AudioChunk.from_samples(signals.tone(440, 0.6))
    agent = TurnTakingAgent([tone], pause=0.3, thinking=0.1)
    result, adapter, network = call(agent, Say(audio=speech(0.6)), Hear(tail_silence=0.3), max_duration=60.0, ring=20.0)
    assert result.outcome == "passed", result.explain()
    assert result.metrics is not None
    assert result.metrics.latencies[0] == pytest.approx(0.4, abs=0.1)
    (placed,) = network.calls
    assert (placed.form["To"], placed.form["From"]) == (THEIRS, OURS)
    assert (placed.form["TimeLimit"], placed.form["Timeout"]) == ("60", "20")
    assert completions(network) == 1
    assert adapter.cost == "3 s for 0.01400 USD"
    assert isinstance(agent.log.items[-1].item, CallEnded)


@pytest.mark.realtime
def test_keys_are_played_by_the_carrier_and_the_call_goes_on() -> None:
    tones = [
        (0.1, AudioChunk.from_samples(signals.tone(440, 0.4))),
        (1.5, AudioChunk.from_samples(signals.tone(440, 0.4))),
    ]
    result, _, network = call(ScriptedPhoneAgent(tones), Wait(0.7), Press("42#", method="event"), Wait(1.2))
    assert network.calls[0].keys == "42#"
    assert result.error is None
    assert result.metrics is not None
    assert [turn.onset / 8000 for turn in result.metrics.agent_turns] == pytest.approx([0.1, 1.5], abs=0.15)


@pytest.mark.realtime
def test_an_agent_that_hangs_up_has_ended_the_call() -> None:
    result, _, network = call(ScriptedPhoneAgent([(0.3, RemoteHangup("bye"))]), Wait(3))
    assert result.ended_by == "agent"
    assert completions(network) <= 1


@pytest.mark.realtime
def test_a_busy_phone_is_a_call_that_was_not_set_up() -> None:
    result, _, network = call(None, Wait(1))
    assert isinstance(result.error, CallRejectedError)
    assert result.error.reason == "busy"
    assert completions(network) == 0


# However it ends, it is ended once


async def until_answered(network: Network) -> None:
    clock = LoopClock()
    while not network.calls or network.calls[0].status != "in-progress":
        await clock.sleep(0.01)


def interrupted_by(how: Callable[[asyncio.Task[Any]], object]) -> Network:
    """Run a call and do something to it once it is up; what that raises is let through to here."""
    kept: list[Network] = []

    async def main() -> None:
        async with phone(SilentAgent()) as (adapter, network):
            kept.append(network)
            run = asyncio.current_task()
            assert run is not None
            meddling = asyncio.create_task(meddle(network, run))
            try:
                await run_call(Scenario("long", [Wait(30)]), adapter)
            finally:
                meddling.cancel()

    async def meddle(network: Network, run: asyncio.Task[Any]) -> None:
        await until_answered(network)
        await LoopClock().sleep(0.2)
        how(run)

    with pytest.raises((asyncio.CancelledError, KeyboardInterrupt, SystemExit)):
        run_real(main())
    return kept[0]


@pytest.mark.realtime
@pytest.mark.parametrize(
    "how",
    [
        lambda run: run.cancel(),
        lambda _run: os.kill(os.getpid(), signal.SIGINT),
        lambda _run: os.kill(os.getpid(), signal.SIGTERM),
    ],
    ids=["cancel", "SIGINT", "SIGTERM"],
)
def test_an_interrupted_run_ends_its_call_once(how: Callable[[asyncio.Task[Any]], object]) -> None:
    """Case B35."""
    network = interrupted_by(how)
    assert completions(network) == 1


@pytest.mark.realtime
def test_a_failing_run_ends_its_call_once() -> None:
    """Case B35, exception and failure."""

    async def main() -> Network:
        async with phone(SilentAgent()) as (adapter, network):
            await adapter.connect()
            await asyncio.gather(adapter.disconnect(), adapter.disconnect())
            await adapter.disconnect()
            return network

    assert completions(run_real(main())) == 1


@pytest.mark.realtime
def test_a_call_that_is_given_up_while_it_is_placed_is_ended_all_the_same() -> None:
    async def main() -> Network:
        async with phone(SilentAgent()) as (adapter, network):
            connecting = asyncio.create_task(adapter.connect())
            clock = LoopClock()
            while not network.requests:
                await clock.sleep(0.001)
            connecting.cancel()
            await asyncio.wait([connecting])
            await adapter.disconnect()
            return network

    assert completions(run_real(main())) == 1


# What is never dialled


@pytest.mark.realtime
def test_a_dry_run_checks_everything_and_dials_nothing() -> None:
    result, _, network = call(SilentAgent(), Wait(1), dry_run=True)
    assert isinstance(result.error, ConnectError)
    assert "dry run: everything is ready to dial, at up to 5 min (about 0.07 USD)" in str(result.error)
    assert network.requests == []


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"to": THEIRS}, "allow list"),
        ({"to": THEIRS, "allow": ["+15550100009"]}, "allow list"),
        ({"to": "5550100002", "allow": ["5550100002"]}, "E.164"),
        ({"to": THEIRS, "allow": [THEIRS]}, "account and token and public_url"),
        ({"account": "a", "token": "t", "public_url": "http://harness.example.test"}, "https"),
        ({"account": "a", "token": "t", "public_url": "https://h.example.test", "max_duration": 0.0}, "max_duration"),
    ],
)
def test_a_call_that_must_not_be_is_refused_before_anything_is_done(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(OptionError, match=complaint) as refusal:
        TwilioPhone(OURS, **options)
    assert THEIRS not in str(refusal.value)


def test_a_phone_call_takes_real_time() -> None:
    adapter = TwilioPhone(OURS, account="a", token="t", public_url="https://harness.example.test")
    with pytest.raises(VirtualTimeError):
        run_virtual(adapter.connect())


@pytest.mark.realtime
def test_a_public_url_that_leads_elsewhere_is_found_out_before_dialling() -> None:
    async def elsewhere(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 404, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def main() -> tuple[CallResult, Network]:
        async with serve_asgi(elsewhere) as other, phone(SilentAgent(), public_url=f"http://127.0.0.1:{other}") as made:
            return await run_call(Scenario("phone", [Wait(1)]), made[0]), made[1]

    result, network = run_real(main())
    assert isinstance(result.error, ConnectError)
    assert "does not lead to this server" in str(result.error)
    assert network.requests == []


@pytest.mark.realtime
def test_the_carriers_refusal_keeps_its_status() -> None:
    async def main() -> CallResult:
        async with phone(SilentAgent()) as (adapter, network):
            network.refuse = 400
            return await run_call(Scenario("phone", [Wait(1)]), adapter)

    error = run_real(main()).error
    assert isinstance(error, CallRejectedError)
    assert (error.code, "no such number" in str(error)) == (400, True)


# Who comes in


@asynccontextmanager
async def number() -> AsyncIterator[TwilioNumber]:
    port = free_port()
    async with serve_asgi(Network(None)) as rest:
        settings = {"public_url": f"http://127.0.0.1:{port}", "api_url": f"http://127.0.0.1:{rest}"}
        async with TwilioNumber(account=ACCOUNT, token=TOKEN, port=port, **settings) as opened:
            yield opened


@pytest.mark.realtime
def test_an_agent_that_calls_us_reaches_the_adapter_that_waits() -> None:
    async def main() -> tuple[CallResult, CallResult]:
        async with number() as ours:
            adapter = TwilioPhone(OURS, endpoint=ours)
            waiting = asyncio.create_task(run_call(Scenario("in", [Wait(0.5)], direction="be_dialled"), adapter))
            await LoopClock().sleep(0.05)
            caller = Twilio(f"{ours.public_url}/voice", token=TOKEN, user=THEIRS, agent=OURS)
            outgoing = await run_call(Scenario("out", [Say(audio=speech(0.3)), Wait(2)]), caller)
            return await waiting, outgoing

    incoming, outgoing = run_real(main())
    assert incoming.outcome == "passed", incoming.explain()
    assert incoming.metrics is not None
    assert incoming.metrics.agent_talk == pytest.approx(0.3, abs=0.1)
    assert outgoing.ended_by == "agent"


@pytest.mark.realtime
def test_a_call_that_nobody_waits_for_is_rejected() -> None:
    async def main() -> tuple[CallResult, int]:
        async with number() as ours:
            caller = Twilio(f"{ours.public_url}/voice", token=TOKEN, user=THEIRS, agent=OURS)
            return await run_call(Scenario("out", [Wait(1)]), caller), ours.unclaimed

    result, unclaimed = run_real(main())
    assert isinstance(result.error, CallRejectedError)
    assert unclaimed == 1


@pytest.mark.realtime
def test_requests_that_are_not_the_carriers_are_refused() -> None:
    """Case B33: unsigned, signed by another, for another URL, and for a call that nobody expects."""

    async def main() -> list[int]:
        async with number() as ours:
            door, statuses = NetworkDoor(), []
            session = ours.expect()
            url = ours.voice_url(session)
            for signature in (None, sign("f" * 32, url), sign(TOKEN, f"{url}/"), sign(TOKEN, url)):
                headers = [] if signature is None else [(SIGNATURE_HEADER, signature)]
                statuses.append((await door.request("POST", url, headers, b"")).status)
            unknown = f"{ours.public_url}/voice/nobody"
            answer = await door.request("POST", unknown, [(SIGNATURE_HEADER, sign(TOKEN, unknown))], b"")
            return [*statuses, answer.status]

    assert run_real(main()) == [403, 403, 403, 200, 404]


@pytest.mark.realtime
def test_two_calls_are_placed_a_second_apart() -> None:
    async def main() -> float:
        async with number() as ours:
            clock = LoopClock()
            await ours.wait_for_turn()
            start_ns = clock.now_ns()
            await ours.wait_for_turn()
            return (clock.now_ns() - start_ns) / 1e9

    assert run_real(main()) >= 0.99
