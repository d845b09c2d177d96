"""What two sides agreed on for the sound of a call, read from the session descriptions that they exchanged.

An offer and its answer (RFC 3264) are in an INVITE or UPDATE and its response, or in a response and its ACK. Of the
formats that the answer keeps, the first is used (6.1); each side says under which number it wants to receive it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from voiceharness_adapters.sip.endpoint import SipMessage

__all__ = ["AudioSession", "agreed_session"]

_STATIC: Final[Mapping[int, tuple[str, int]]] = {0: ("PCMU", 8000), 8: ("PCMA", 8000), 9: ("G722", 8000)}
"""Payload types that need no ``rtpmap`` (RFC 3551, 6). G.722's clock is 8000 Hz by an old mistake."""

_MEDIA: Final = re.compile(r"(?m)^m=audio \d+ \S+ (?P<formats>[\d ]+)")
_FORMAT: Final = re.compile(r"(?m)^a=rtpmap:(?P<type>\d+) (?P<name>[^/\s]+)/(?P<rate>\d+)")
_PACKET_TIME: Final = re.compile(r"(?m)^a=ptime:(\d+)")
_SUITE: Final = re.compile(r"(?m)^a=crypto:\d+ (\S+)")
_DTLS: Final = re.compile(r"(?m)^a=fingerprint:")
_CSEQ: Final = re.compile(r"(?im)^CSeq\s*:\s*(\d+)")
_REFUSAL: Final = re.compile(r"SIP/2\.0 [3-6]")
_PTIME_MS: Final = 20


@dataclass(frozen=True, slots=True)
class AudioSession:
    """The codec in use, its RTP clock in hertz, and its payload types; ``suite`` is that of SRTP (empty: none).

    ``ptime_ms`` is how much sound the peer wants in a packet (20, if it does not say).
    """

    codec: str
    clock_hz: int
    sent_type: int
    received_type: int
    ptime_ms: int
    suite: str

    def facts(self) -> dict[str, str | int]:
        """Return what the report tells of it, beside the codec's name."""
        return {
            "codec_clock_hz": self.clock_hz,
            "codec_ptime_ms": self.ptime_ms,
            "payload_type_sent": self.sent_type,
            "payload_type_received": self.received_type,
            "srtp_suite": self.suite,
        }


def agreed_session(messages: Iterable[SipMessage]) -> AudioSession | None:
    """Return what the last offer and its answer in a call's messages amount to; None: nothing was agreed."""
    exchanges: dict[tuple[str, str], dict[str, str]] = {}
    agreed = None
    for message in messages:
        body = _MEDIA.search(message.text)
        if body is None or _REFUSAL.match(message.text):
            continue
        sides = exchanges.setdefault(_exchange(message), {})
        sides[message.way] = message.text
        if len(sides) == 2:
            agreed = _session(sides["sent"], sides["received"], answer=message.text) or agreed
    return agreed


def _exchange(message: SipMessage) -> tuple[str, str]:
    """Return whose offer and answer a message belongs to: each side counts its own requests; an ACK closes one."""
    is_response = message.text.startswith("SIP/2.0")
    found = _CSEQ.search(message.text)
    return ("received" if message.way == "sent" else "sent") if is_response else message.way, found[1] if found else ""


def _session(ours: str, theirs: str, *, answer: str) -> AudioSession | None:
    """Return what an answer makes of an offer; None where they have no codec in common."""
    our_types, their_types = _types(ours), _types(theirs)
    kept = [format_ for format_ in _types(answer) if format_ in our_types and format_ in their_types]
    if not kept:
        return None
    codec, clock_hz = kept[0]
    packet_time = _PACKET_TIME.search(theirs)
    return AudioSession(
        codec,
        clock_hz,
        their_types[kept[0]],
        our_types[kept[0]],
        int(packet_time[1]) if packet_time else _PTIME_MS,
        _suite(answer),
    )


def _types(description: str) -> dict[tuple[str, int], int]:
    """Return the payload type of each codec, in order of preference."""
    media = _MEDIA.search(description)
    named = {int(each["type"]): (each["name"].upper(), int(each["rate"])) for each in _FORMAT.finditer(description)}
    known = {**_STATIC, **named}
    offered = [int(number) for number in media["formats"].split()] if media else []
    codecs = [(known[number], number) for number in offered if number in known]
    return {codec: number for codec, number in codecs if codec[0] not in ("TELEPHONE-EVENT", "CN")}


def _suite(answer: str) -> str:
    if found := _SUITE.search(answer):
        return found[1]
    return "DTLS-SRTP" if _DTLS.search(answer) else ""
