"""Dialling an agent: answers, cancelling, and agents that answer with nonsense."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from typing import Any

import pytest

from tests.adapters.sip.calling import on_line, stream
from tests.adapters.sip.peer import OK, RINGING, SDP, Reply, peer
from voiceharness.clock import run_real
from voiceharness.errors import (
    CallRejectedError,
    ConnectError,
    LocalProtocolError,
    MediaTimeoutError,
    OptionError,
    PendingTransportError,
    RemoteProtocolError,
)
from voiceharness_adapters.sip import Sip

__all__: list[str] = []

pytestmark = pytest.mark.realtime

EVENTS = "a=rtpmap:{events} telephone-event/8000\na=fmtp:{events} 0-16\n"
UNKNOWN_CODEC = SDP.replace("0 {events}", "97").replace("0 PCMU", "97 XYZ").replace(EVENTS, "")


def refusal(*replies: Reply, **options: Any) -> BaseException:  # Any: the adapter's options
    """Dial a peer that answers like this, and return what connect() raises."""

    async def main() -> BaseException:
        async with peer(replies=replies) as agent:
            adapter = Sip(agent.uri, **options)
            with pytest.raises(Exception) as raised:  # noqa: PT011  the caller looks at it
                await adapter.connect()
            await adapter.disconnect()
            return raised.value

    return run_real(main())


@pytest.mark.parametrize(
    "answer",
    [
        Reply(200, "OK", "hello\nworld\n"),
        Reply(200),
        Reply(200, "OK", UNKNOWN_CODEC),
        Reply(200, "OK", SDP.replace("{port}", "0")),
    ],
    ids=["no session description", "nothing", "unknown codec", "media refused"],
)
def test_an_answer_that_cannot_be_used_is_the_agents_fault(answer: Reply) -> None:
    error = refusal(answer)
    assert isinstance(error, RemoteProtocolError)
    assert "cannot be used" in str(error)


def test_a_call_that_rings_can_be_cancelled_by_the_user() -> None:
    async def main() -> None:
        async with peer(replies=(RINGING,)) as agent:
            adapter = Sip(agent.uri)
            connecting = asyncio.create_task(adapter.connect())
            await agent.rang.wait()
            await adapter.control("cancel")
            with pytest.raises(CallRejectedError) as raised:
                await connecting
            assert raised.value.code == 487
            await adapter.disconnect()
            assert agent.methods() == ["INVITE", "CANCEL", "ACK"]

    run_real(main())


@pytest.mark.parametrize("backend", ["pjsua2", "baresip"])
def test_an_agent_may_be_dialled_by_a_name_that_only_this_machine_knows(backend: str) -> None:
    async def main() -> None:
        async with peer() as agent:
            adapter = Sip(agent.uri.replace("127.0.0.1", "localhost"), backend=backend)
            async with on_line(adapter):
                assert adapter.answered_code == 200

    run_real(main())


def test_an_address_that_is_none_is_said_to_be_none() -> None:
    async def main() -> None:
        adapter = Sip("sip:")
        with pytest.raises(ConnectError, match="cannot dial"):
            await adapter.connect()
        await adapter.disconnect()

    run_real(main())


def test_early_media_is_kept_apart_from_the_call() -> None:
    async def main() -> None:
        early = Reply(183, "Session Progress", SDP)
        async with peer(replies=(early, Reply(200, "OK", SDP, pause=0.4)), early=stream(packets=15)) as agent:
            adapter = Sip(agent.uri)
            async with on_line(adapter) as line:
                await line.until_position(3200)
            assert not line.record().agent[:2400].any()
            assert adapter.early_media is not None
            assert adapter.early_media.samples.any()
            assert adapter.artefacts()["early_media.wav"].startswith(b"RIFF")

    run_real(main())


def test_headers_reach_the_agent() -> None:
    async def main() -> str:
        async with peer() as agent:
            async with on_line(Sip(agent.uri, headers={"X-Case": "seventeen"})):
                pass
            return agent.requests[0]

    assert "X-Case: seventeen" in run_real(main())


def test_codecs_are_offered_in_the_order_given() -> None:
    async def main() -> str:
        async with peer(replies=(Reply(486, "Busy Here"),)) as agent:
            adapter = Sip(agent.uri, codecs="PCMA,PCMU")
            with pytest.raises(CallRejectedError):
                await adapter.connect()
            await adapter.disconnect()
            return agent.requests[0]

    assert "RTP/AVP 8 0 " in run_real(main())


def test_the_answered_status_and_the_trace_are_known() -> None:
    async def main() -> None:
        async with peer() as agent:
            adapter = Sip(agent.uri, password="secret-word", auth_user="me")
            async with on_line(adapter):
                assert adapter.answered_code == 200
            trace = adapter.artefacts()["sip.txt"].decode()
            assert [
                word for word in ("INVITE sip:", "180 Ringing", "200 OK", "ACK sip:", "BYE sip:") if word not in trace
            ] == []
            assert "secret-word" not in trace + repr(adapter)

    run_real(main())


@pytest.mark.parametrize("backend", ["pjsua2", "baresip"])
def test_a_call_can_be_held_though_its_messages_are_as_long_as_messages_can_be(backend: str) -> None:
    """pjsua2 takes messages of up to 4000 bytes, and its log has somewhat less of them."""
    long = Reply(200, "OK", SDP, headers="\n".join(f"X-{number}: {'x' * 80}" for number in range(38)))

    async def main() -> None:
        async with peer(replies=(long,), later=((long,),)) as agent:
            adapter = Sip(agent.uri, backend=backend)
            async with on_line(adapter):
                await adapter.control("hold")
                assert adapter.answered_code == 200
            trace = adapter.artefacts()["sip.txt"].decode()
            assert trace.count("SIP/2.0 200 ") == 3
            assert trace.count("[cut short by the library]") == (2 if backend == "pjsua2" else 0)

    run_real(main())


@pytest.mark.parametrize("backend", ["pjsua2", "baresip"])
def test_the_answered_status_is_that_of_the_call_whatever_is_asked_for_later(backend: str) -> None:
    async def main() -> None:
        async with peer(later=((Reply(488, "Not Acceptable Here"),),)) as agent:
            adapter = Sip(agent.uri, backend=backend)
            async with on_line(adapter):
                with pytest.raises(CallRejectedError):
                    await adapter.control("hold")
                assert adapter.answered_code == 200

    run_real(main())


@pytest.mark.parametrize("backend", ["pjsua2", "baresip"])
def test_the_provisional_answers_are_facts_of_the_call(backend: str) -> None:
    progress = Reply(183, "Session Progress", SDP, pause=0.1)
    replies = (Reply(100, "Trying"), RINGING, RINGING, progress, Reply(200, "OK", SDP, pause=0.1))

    async def main() -> None:
        async with peer(replies=replies) as agent:
            adapter = Sip(agent.uri, backend=backend)
            assert adapter.call_facts()["provisional"] == ""
            async with on_line(adapter):
                pass
            assert adapter.call_facts()["provisional"] == "180, 183"

    run_real(main())


def test_the_answered_status_is_not_that_of_whom_the_agent_refers_to() -> None:
    async def main() -> None:
        busy = (Reply(486, "Busy Here"),)
        async with peer(media=stream()) as first, peer(replies=busy) as second:
            adapter = Sip(first.uri)
            async with on_line(adapter) as line:
                await line.until_position(1600)
                first.refer(second.uri)
                await second.acked.wait()
                await line.until_position(4800)
                assert adapter.answered_code == 200

    run_real(main())


def test_one_adapter_is_one_call() -> None:
    async def main() -> None:
        async with peer() as agent:
            adapter = Sip(agent.uri)
            with pytest.raises(PendingTransportError):
                await adapter.receive_audio(0)
            async with on_line(adapter):
                with pytest.raises(LocalProtocolError):
                    await adapter.connect()
            with pytest.raises(LocalProtocolError):
                await adapter.connect()

    run_real(main())


@pytest.mark.parametrize("ending", ["success", "assertion", "exception", "cancel", "interrupt"])
def test_the_call_ends_once_however_the_test_ends(ending: str) -> None:
    """Case B35."""
    errors: dict[str, BaseException] = {
        "assertion": AssertionError(),
        "exception": RuntimeError(),
        "interrupt": KeyboardInterrupt(),
    }

    async def scenario(uri: str, answered: asyncio.Event) -> None:
        async with on_line(Sip(uri)) as line:
            await line.until_position(800)
            answered.set()
            if ending in errors:
                raise errors[ending]
            if ending == "cancel":
                await asyncio.Event().wait()

    async def main() -> list[str]:
        async with peer() as agent:
            answered = asyncio.Event()
            running = asyncio.ensure_future(_contained(scenario(agent.uri, answered)))
            await answered.wait()
            if ending == "cancel":
                running.cancel()
            await asyncio.wait({running})
            await agent.ended.wait()
            return agent.methods()

    assert run_real(main()) == ["INVITE", "ACK", "BYE"]


OWNER = """
import sys
from voiceharness import Hangup, Scenario, Wait, run_call
from voiceharness.clock import run_real
from voiceharness_adapters.sip import Sip

scenario = Scenario("killed", steps=[Wait(30.0), Hangup()])
run_real(run_call(scenario, Sip(sys.argv[1], backend=sys.argv[2])))
"""


@pytest.mark.parametrize("replies", [(RINGING, OK), (RINGING,)], ids=["answered", "ringing"])
@pytest.mark.parametrize("backend", ["pjsua2", "baresip"])
def test_the_call_ends_even_if_its_owner_is_killed(backend: str, replies: tuple[Reply, ...]) -> None:
    async def main() -> list[str]:
        async with peer(replies=replies) as agent:
            owner = await asyncio.create_subprocess_exec(sys.executable, "-c", OWNER, agent.uri, backend)
            await (agent.acked if OK in replies else agent.rang).wait()
            owner.kill()
            await owner.wait()
            async with asyncio.timeout(10):
                await agent.ended.wait()
            return agent.methods()

    assert {"BYE", "CANCEL"} & set(run_real(main()))


async def _contained(work: Any) -> None:  # Any: a coroutine
    with suppress(AssertionError, RuntimeError, KeyboardInterrupt):
        await work


@pytest.mark.parametrize(
    "options",
    [
        {"codecs": "PCMU,GSM"},
        {"codecs": "G722"},
        {"rate": 11025},
        {"lead_ms": 30},
        {"backend": "carrier pigeon"},
        {"auth_user": "me"},
        {"srtp": "dtls", "backend": "pjsua2"},
        {"transport": "tls", "tls_certificate": "cert.pem"},
    ],
)
def test_options_that_cannot_be_meant_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(OptionError):
        Sip("sip:agent@127.0.0.1", **options)


def test_media_that_never_gets_ready_is_named() -> None:
    """The agent answers, but puts the call on hold at once."""

    async def main() -> None:
        inactive = SDP + "a=inactive\n"
        async with peer(replies=(Reply(200, "OK", inactive),)) as agent:
            adapter = Sip(agent.uri, media_timeout=0.5)
            with pytest.raises(MediaTimeoutError) as raised:
                await adapter.connect()
            assert raised.value.phase == "answered"
            await adapter.disconnect()
            await agent.ended.wait()

    run_real(main())
