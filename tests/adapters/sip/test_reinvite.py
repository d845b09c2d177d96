"""Offers within a call: one after another, never two at once, and the peer's answer counts."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tests.adapters.sip.calling import level, on_line, stream
from tests.adapters.sip.peer import SDP, Reply, peer
from voiceharness.clock import run_real
from voiceharness.errors import CallRejectedError, ConnectError
from voiceharness_adapters.sip import Sip
from voiceharness_adapters.sip.endpoint import SipMessage
from voiceharness_adapters.sip.reinvite import answers, in_progress

if TYPE_CHECKING:
    from voiceharness_adapters.sip.settings import Backend

__all__: list[str] = []

BOTH: tuple[Backend, Backend] = ("pjsua2", "baresip")
PENDING = Reply(491, "Request Pending")
LATE = Reply(200, "OK", SDP, pause=0.3)


def said(way: str, first_line: str, cseq: str) -> SipMessage:
    return SipMessage(0, way, "UDP 127.0.0.1:5060", f"{first_line}\nCSeq: {cseq}\n\n")


def invite(way: str, number: int) -> SipMessage:
    return said(way, "INVITE sip:a@b SIP/2.0", f"{number} INVITE")


def final(way: str, number: int, status: str = "200 OK") -> SipMessage:
    return said(way, f"SIP/2.0 {status}", f"{number} INVITE")


def ack(way: str, number: int) -> SipMessage:
    return said(way, "ACK sip:a@b SIP/2.0", f"{number} ACK")


@pytest.mark.parametrize(
    ("messages", "is_open"),
    [
        ([], set()),
        ([invite("sent", 1)], {("sent", 1)}),
        ([invite("sent", 1), final("received", 1, "180 Ringing")], {("sent", 1)}),
        ([invite("sent", 1), final("received", 1)], set()),
        ([invite("sent", 1), final("received", 1, "491 Request Pending")], set()),
        ([invite("received", 7)], {("received", 7)}),
        ([invite("received", 7), final("sent", 7)], {("received", 7)}),
        ([invite("received", 7), final("sent", 7), ack("received", 7)], set()),
        ([invite("sent", 7), invite("received", 7), final("received", 7)], {("received", 7)}),
        ([said("sent", "BYE sip:a@b SIP/2.0", "2 BYE")], set()),
    ],
    ids=["nothing", "asked", "ringing", "answered", "refused", "offered", "accepted", "acknowledged", "crossed", "bye"],
)
def test_a_transaction_is_open_as_the_rfc_says(messages: list[SipMessage], is_open: set[tuple[str, int]]) -> None:
    """RFC 3261, 14.1: ours until its final response, the peer's until the ACK."""
    assert in_progress(messages) == is_open


def test_only_answers_to_later_invites_of_our_own_count() -> None:
    messages = [
        *(invite("sent", 1), final("received", 1), ack("sent", 1)),
        *(invite("received", 3), final("sent", 3), ack("received", 3)),
        *(invite("sent", 2), final("received", 2, "100 Trying"), final("received", 2, "488 Not Acceptable Here")),
    ]
    assert answers(messages, after=0) == [(200, "OK"), (488, "Not Acceptable Here")]
    assert answers(messages, after=1) == [(488, "Not Acceptable Here")]
    assert answers(messages, after=2) == []


@pytest.mark.realtime
@pytest.mark.parametrize("backend", BOTH)
def test_hold_and_resume_may_follow_each_other_at_once(backend: Backend) -> None:
    """The peer takes its time for every answer."""

    async def main() -> None:
        async with peer(media=stream(), later=[(LATE,)] * 6) as agent:
            adapter = Sip(agent.uri, backend=backend)
            async with on_line(adapter) as line:
                await line.until_position(1600)
                for _ in range(3):
                    await adapter.control("hold")
                    await adapter.control("resume")
                begin = line.now
                await line.until_position(begin + 8000)
            assert agent.methods().count("INVITE") == 7
            assert level(line.record().agent, begin / 8000 + 0.5, begin / 8000 + 0.9) > 4000

    run_real(main())


@pytest.mark.realtime
@pytest.mark.parametrize("backend", BOTH)
def test_what_is_so_already_is_not_offered_again(backend: Backend) -> None:
    async def main() -> None:
        async with peer(media=stream()) as agent:
            adapter = Sip(agent.uri, backend=backend)
            async with on_line(adapter):
                await adapter.control("resume")
                await adapter.control("hold")
                await adapter.control("hold")
            assert agent.methods().count("INVITE") == 2

    run_real(main())


@pytest.mark.realtime
@pytest.mark.parametrize("backend", BOTH)
def test_an_offer_that_crosses_another_is_made_again(backend: Backend) -> None:
    """RFC 3261, 14.1: the peer answers 491 while an offer of its own is under way."""

    async def main() -> None:
        async with peer(media=stream(), later=[(PENDING,)]) as agent:
            adapter = Sip(agent.uri, backend=backend)
            async with on_line(adapter) as line:
                await line.until_position(1600)
                await adapter.control("hold")
                assert line.now > 2.1 * 8000
            assert agent.methods().count("INVITE") == 3

    run_real(main())


@pytest.mark.realtime
@pytest.mark.parametrize("backend", BOTH)
def test_a_hold_waits_for_the_end_of_an_offer_of_the_peer(backend: Backend) -> None:
    async def main() -> None:
        async with peer(media=stream()) as agent:
            adapter = Sip(agent.uri, backend=backend)
            async with on_line(adapter) as line:
                await line.until_position(1600)
                agent.reinvite(SDP)
                await adapter.control("hold")
            sent = [request for request in agent.requests if request.startswith("INVITE")]
            assert "a=sendonly" in sent[-1]

    run_real(main())


@pytest.mark.realtime
@pytest.mark.parametrize("backend", BOTH)
def test_a_refused_hold_is_said_and_can_be_tried_again(backend: Backend) -> None:
    async def main() -> None:
        refusals = [(Reply(488, "Not Acceptable Here"),)] * (1 if backend == "pjsua2" else 2)
        async with peer(media=stream(), later=refusals) as agent:
            adapter = Sip(agent.uri, backend=backend)
            async with on_line(adapter) as line:
                await line.until_position(1600)
                with pytest.raises(CallRejectedError, match="488 Not Acceptable Here"):
                    await adapter.control("hold")
                await line.until_position(line.now + 4000)
                await adapter.control("hold")
            assert "a=sendonly" in [request for request in agent.requests if request.startswith("INVITE")][-1]

    run_real(main())


@pytest.mark.realtime
@pytest.mark.parametrize("backend", BOTH)
def test_a_call_that_ends_before_the_answer_ends_the_wait(backend: Backend) -> None:
    async def main() -> None:
        async with peer(media=stream(), later=[()]) as agent:
            adapter = Sip(agent.uri, backend=backend)
            async with on_line(adapter) as line:
                await line.until_position(1600)
                holding = asyncio.create_task(adapter.control("hold"))
                await line.until_position(4000)
                agent.bye()
                with pytest.raises(ConnectError, match="ended before the peer answered"):
                    await holding

    run_real(main())
