"""Holding a call and resuming it: a new offer within the call, and the peer's answer to it (RFC 3261, 14).

Theory of operation. In one dialog only one INVITE transaction may be in progress, whoever began it (14.1), and neither
library waits for that or tells the peer's answer alike. The SIP messages do: an INVITE opens a transaction, its final
response ends it for who sent it, the ACK for who got it. So an offer waits until none is open, then for the answer to
itself. Where two offers cross, the peer answers 491 and the offer is made again after the time that 14.1 gives.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from functools import partial
from typing import TYPE_CHECKING, Final, Literal

from voiceharness.clock import LoopClock
from voiceharness.errors import CallRejectedError, ConnectError
from voiceharness_adapters.sip.backends import OFFERS_AGAIN
from voiceharness_adapters.sip.worker import SessionBusyError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voiceharness_adapters.sip.call import SipCall
    from voiceharness_adapters.sip.endpoint import SipEndpoint, SipMessage

__all__ = ["Exchange", "answers", "in_progress", "reinvite"]

TRANSACTION_TIMEOUT: Final = 32.0
"""Seconds that a final response may take: 64 times T1 (RFC 3261, 17.1.1.2, timer B)."""

_REQUEST_PENDING: Final = 491
_CHALLENGES: Final = (401, 407)
_CSEQ: Final = re.compile(r"(?im)^CSeq\s*:\s*(\d+)\s+(INVITE|ACK)")
_FINAL: Final = re.compile(r"SIP/2\.0 ([2-6]\d\d) ?([^\r\n]*)")

Exchange = tuple[str, int]
"""An INVITE transaction: ``sent`` or ``received``, and the number of its request, which each side counts for itself."""


def in_progress(messages: Sequence[SipMessage]) -> set[Exchange]:
    """Return the INVITE transactions that are open after these messages of one call."""
    is_open: set[Exchange] = set()
    for message in messages:
        found = _CSEQ.search(message.text)
        if found is None:
            continue
        number, final = int(found[1]), _FINAL.match(message.text)
        if final is not None and message.way == "received":
            is_open.discard(("sent", number))
        elif message.text.startswith("INVITE "):
            is_open.add((message.way, number))
        elif message.text.startswith("ACK ") and message.way == "received":
            is_open.discard(("received", number))
    return is_open


def answers(messages: Sequence[SipMessage], *, after: int) -> list[tuple[int, str]]:
    """Return the final responses to the INVITEs that were sent with a number above ``after``: status and reason."""
    finals: dict[int, tuple[int, str]] = {}
    for message in messages:
        found, final = _CSEQ.search(message.text), _FINAL.match(message.text)
        if found and final and found[2].upper() == "INVITE" and message.way == "received" and int(found[1]) > after:
            finals[int(found[1])] = (int(final[1]), final[2].strip())
    return [finals[number] for number in sorted(finals)]


async def reinvite(endpoint: SipEndpoint, call: SipCall, do: Literal["hold", "resume"]) -> None:
    """Hold an answered call, or resume it; returns when the peer has agreed. What is so already, is left alone.

    Raises:
        CallRejectedError: the peer refuses, with its status; the call goes on as before.
        ConnectError: the worker cannot, the call ends first, or the peer does not answer.
    """
    if call.held == (do == "hold"):
        return
    while True:
        try:
            async with asyncio.timeout(TRANSACTION_TIMEOUT):
                code, reason = await _offer(endpoint, call, do)
        except TimeoutError as error:
            waited = f"{TRANSACTION_TIMEOUT:g} s"
            raise ConnectError(f"sip: cannot {do}: the peer did not answer the new offer in {waited}") from error
        if code != _REQUEST_PENDING:
            break
        await LoopClock().sleep(_pause(endpoint.trace(call)))
    if code // 100 != 2:
        await call.worker.ask("as_before", call=call.number)
        raise CallRejectedError(f"sip: the peer refuses to {do} the call: {code} {reason}", code=code, reason=reason)
    call.held = do == "hold"


async def _offer(endpoint: SipEndpoint, call: SipCall, do: str) -> tuple[int, str]:
    """Make the offer once nothing else is under way; return the peer's final response."""
    after = await _asked(endpoint, call, do)
    challenges = 1 if endpoint.settings.password else 0
    passing = {_REQUEST_PENDING} if OFFERS_AGAIN[endpoint.settings.backend] else set()
    return await endpoint.seen(call, lambda messages: _final(answers(messages, after=after), challenges, passing))


async def _asked(endpoint: SipEndpoint, call: SipCall, do: str) -> int:
    """Have the worker make the offer; return the number of the last INVITE that was sent before."""
    while True:
        before = await endpoint.seen(call, lambda messages: None if in_progress(messages) else messages)
        try:
            await call.worker.ask(do, call=call.number)
        except SessionBusyError:  # the peer offers something that has not been seen yet
            await endpoint.seen(call, partial(_grown, len(before)))
        else:
            return max((number for way, number in _invites(before) if way == "sent"), default=0)


def _grown(known: int, messages: Sequence[SipMessage]) -> bool | None:
    return len(messages) != known or None


def _invites(messages: Sequence[SipMessage]) -> list[Exchange]:
    found = [(message.way, _CSEQ.search(message.text)) for message in messages if message.text.startswith("INVITE ")]
    return [(way, int(cseq[1])) for way, cseq in found if cseq is not None]


def _final(given: Sequence[tuple[int, str]], challenges: int, passing: set[int]) -> tuple[int, str] | None:
    """Return the answer that stands: the library meets a challenge by itself, once and where it has a password.

    After an answer with a status in ``passing`` it makes the offer again by itself, too.
    """
    for code, reason in given:
        if code in passing:
            continue
        if code in _CHALLENGES and challenges:
            challenges -= 1
            continue
        return code, reason
    return None


def _pause(messages: Sequence[SipMessage]) -> float:
    """Return how many seconds to wait after a 491: whoever chose the Call-ID waits longer (RFC 3261, 14.1)."""
    first = next((way for way, _ in _invites(messages)), "sent")
    return (210 + secrets.randbelow(191)) / 100 if first == "sent" else secrets.randbelow(201) / 100
