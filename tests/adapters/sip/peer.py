"""A SIP agent of plain sockets, whose every message can be spoilt: what no proper SIP stack would do."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from voiceharness.clock import NS, LoopClock
from voiceharness.errors import RemoteProtocolError
from voiceharness.protocols.rtp import RtpPacket

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator

__all__ = ["SDP", "Reply", "SipPeer", "peer"]

SDP = """v=0
o=- 1 1 IN IP4 127.0.0.1
s=-
c=IN IP4 127.0.0.1
t=0 0
m=audio {port} RTP/AVP 0 {events}
a=rtpmap:0 PCMU/8000
a=rtpmap:{events} telephone-event/8000
a=fmtp:{events} 0-16
a=ptime:20
"""
FRAME_NS = NS // 50

Address = tuple[str, int]
Media = Callable[["SipPeer"], Coroutine[Any, Any, None]]  # Any: a coroutine's own


@dataclass(frozen=True, slots=True)
class Reply:
    """One response to an INVITE; ``sdp`` may hold ``{port}``."""

    code: int
    reason: str = "OK"
    sdp: str = ""
    headers: str = ""
    pause: float = 0.0


RINGING = Reply(180, "Ringing")
OK = Reply(200, "OK", SDP)


class _Socket(asyncio.DatagramProtocol):
    def __init__(self, take: Callable[[bytes, Address], None]) -> None:
        self.take = take
        self.transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: Address) -> None:
        self.take(data, addr)

    def error_received(self, exc: Exception) -> None:
        """The other side is gone; a peer of plain sockets does not mind."""


@dataclass(slots=True, eq=False)
class SipPeer:
    """Answers every INVITE with ``replies`` and runs ``media`` once it is acknowledged.

    ``later`` are the replies to each INVITE within the call, in order; when it is used up, they are accepted.
    ``heard`` gets every RTP packet with its time. ``deaf`` are the methods that get no answer.
    """

    replies: Iterable[Reply] = (RINGING, OK)
    later: Iterable[Iterable[Reply]] = ()
    media: Media | None = None
    heard: Callable[[RtpPacket, int], None] = lambda _packet, _at: None
    deaf: frozenset[str] = frozenset()
    refer_code: int = 202
    requests: list[str] = field(default_factory=list)
    address: str = ""
    rtp_port: int = 0
    events: int = 101
    invited: asyncio.Event = field(default_factory=asyncio.Event)
    rang: asyncio.Event = field(default_factory=asyncio.Event)
    early: Media | None = None
    acked: asyncio.Event = field(default_factory=asyncio.Event)
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    remote_rtp: Address = ("127.0.0.1", 9)
    answered_ns: int = 0
    invite: str = ""
    _sip: _Socket | None = None
    _rtp: _Socket | None = None
    _from: Address = ("127.0.0.1", 9)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _cancelled: bool = False
    _cseq: int = 100
    _later: Iterator[Iterable[Reply]] = field(init=False)

    def __post_init__(self) -> None:
        self._later = iter(self.later)

    @property
    def uri(self) -> str:
        return f"sip:agent@{self.address}"

    def methods(self) -> list[str]:
        return [request.split(" ", 1)[0] for request in self.requests]

    # Media

    def send(self, packet: RtpPacket, *, via: _Socket | None = None) -> None:
        socket = via or self._rtp
        assert socket is not None
        assert socket.transport is not None
        socket.transport.sendto(packet.encode(), self.remote_rtp)

    def reset_rtp(self) -> None:
        """Forget where media goes: nothing more is sent or heard."""
        assert self._rtp is not None
        self._rtp.take = lambda _data, _addr: None

    # SIP

    def bye(self, *, headers: str = "") -> None:
        """End the call from this side."""
        self._request("BYE", headers=headers)

    def _request(self, method: str, *, headers: str = "", body: str = "") -> None:
        self._cseq += 1
        target = re.search(r"(?im)^Contact:\s*<?([^>\r\n;]+)", self.invite)
        assert target is not None
        lines = [
            f"{method} {target[1]} SIP/2.0",
            f"Via: SIP/2.0/UDP {self.address};branch=z9hG4bK{method}{self._cseq}",
            "Max-Forwards: 70",
            f"From: {_header(self.invite, 'To')};tag=peer",
            f"To: {_header(self.invite, 'From')}",
            f"Call-ID: {_header(self.invite, 'Call-ID')}",
            f"CSeq: {self._cseq} {method}",
            f"Contact: <{self.uri}>",
        ]
        self._write(lines, headers, body)

    def refer(self, target: str) -> None:
        """Ask the other side to call somebody else."""
        self._request("REFER", headers=f"Refer-To: <{target}>")

    def _report_transfer(self) -> None:
        """Tell that the transfer succeeded (RFC 3515, 2.4.4)."""
        headers = "Event: refer\nSubscription-State: terminated;reason=noresource\nContent-Type: message/sipfrag"
        self._request("NOTIFY", headers=headers, body="SIP/2.0 200 OK\n")

    def info(self, body: str) -> None:
        """Send an INFO with a keypad digit."""
        self._request("INFO", headers="Content-Type: application/dtmf-relay", body=body)

    def reinvite(self, sdp: str) -> None:
        """Offer the session anew."""
        body = sdp.format(port=self.rtp_port, events=self.events)
        self._request("INVITE", headers="Content-Type: application/sdp", body=body)

    def _write(self, lines: list[str], headers: str, body: str) -> None:
        assert self._sip is not None
        assert self._sip.transport is not None
        body = body.replace("\n", "\r\n")
        extra = [line for line in headers.split("\n") if line]
        text = "\r\n".join([*lines, *extra, f"Content-Length: {len(body)}", "", body])
        self._sip.transport.sendto(text.encode(), self._from)

    def _take(self, data: bytes, addr: Address) -> None:
        text = data.decode(errors="replace")
        self._from = addr
        method = text.split(" ", 1)[0]
        if method.startswith("SIP/2.0"):
            if "100 Trying" not in text and "INVITE" in _header(text, "CSeq") and text.startswith("SIP/2.0 200"):
                self._acknowledge(text)
            return
        self.requests.append(text)
        if method in self.deaf:
            return
        if method == "INVITE":
            self._start(self._invited(text))
        elif method == "ACK":
            if not self.acked.is_set():
                self.answered_ns = LoopClock().now_ns()
                self.acked.set()
                if self.media is not None:
                    self._start(self.media(self))
        else:
            self._respond(text, Reply(self.refer_code if method == "REFER" else 200))
            if method == "REFER" and self.refer_code == 202:
                self._report_transfer()
            if method == "CANCEL":
                self._cancelled = True
                self._respond(self.invite, Reply(487, "Request Terminated"))
            if method in ("BYE", "CANCEL"):
                self.ended.set()

    def _acknowledge(self, response: str) -> None:
        cseq = _header(response, "CSeq").split()[0]
        target = re.search(r"(?im)^Contact:\s*<?([^>\r\n;]+)", response)
        lines = [
            f"ACK {target[1] if target else self.uri} SIP/2.0",
            f"Via: SIP/2.0/UDP {self.address};branch=z9hG4bKack{cseq}",
            f"From: {_header(response, 'From')}",
            f"To: {_header(response, 'To')}",
            f"Call-ID: {_header(response, 'Call-ID')}",
            f"CSeq: {cseq} ACK",
            "Max-Forwards: 70",
        ]
        self._write(lines, "", "")

    async def _invited(self, text: str) -> None:
        self.invite = self.invite or text
        self.invited.set()
        if found := re.search(r"m=audio (\d+)", text):
            self.remote_rtp = ("127.0.0.1", int(found[1]))
        if found := re.search(r"rtpmap:(\d+) telephone-event", text):
            self.events = int(found[1])
        replies = self.replies if not self.acked.is_set() else next(self._later, (OK,))
        for reply in replies:
            if reply.pause:
                await LoopClock().sleep(reply.pause)
            if self._cancelled:
                return
            self._respond(text, reply)
            self.rang.set()
            if reply.code == 183 and self.early is not None:
                self._start(self.early(self))

    def _respond(self, request: str, reply: Reply) -> None:
        to = _header(request, "To")
        lines = [
            f"SIP/2.0 {reply.code} {reply.reason}",
            *(f"Via: {value}" for value in re.findall(r"(?im)^Via:\s*([^\r\n]+)", request)),
            f"From: {_header(request, 'From')}",
            f"To: {to}" if "tag=" in to else f"To: {to};tag=peer",
            f"Call-ID: {_header(request, 'Call-ID')}",
            f"CSeq: {_header(request, 'CSeq')}",
            f"Contact: <{self.uri}>",
        ]
        kind = "Content-Type: application/sdp\n" if reply.sdp else ""
        body = reply.sdp.format(port=self.rtp_port, events=self.events) if reply.sdp else ""
        self._write(lines, kind + reply.headers, body)

    # Life

    async def open(self) -> None:
        loop = asyncio.get_running_loop()
        local = ("127.0.0.1", 0)
        _, self._sip = await loop.create_datagram_endpoint(lambda: _Socket(self._take), local_addr=local)
        _, self._rtp = await loop.create_datagram_endpoint(lambda: _Socket(self._hear), local_addr=local)
        assert self._sip.transport is not None
        assert self._rtp.transport is not None
        self.address = "{}:{}".format(*self._sip.transport.get_extra_info("sockname"))
        self.rtp_port = self._rtp.transport.get_extra_info("sockname")[1]

    async def another_port(self) -> _Socket:
        """Return one more RTP socket."""
        loop = asyncio.get_running_loop()
        transport, socket = await loop.create_datagram_endpoint(
            lambda: _Socket(self._hear), local_addr=("127.0.0.1", 0)
        )
        self.ended_later(transport)
        return socket

    def ended_later(self, transport: asyncio.DatagramTransport) -> None:
        async def close() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                transport.close()

        self._start(close())

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for socket in (self._sip, self._rtp):
            if socket is not None and socket.transport is not None:
                socket.transport.close()

    def die(self) -> None:
        """Vanish: no BYE, no answer, no media."""
        for task in self._tasks:
            task.cancel()
        for socket in (self._sip, self._rtp):
            assert socket is not None
            assert socket.transport is not None
            socket.transport.close()

    def _hear(self, data: bytes, _addr: Address) -> None:
        at_ns = LoopClock().now_ns()
        with suppress(RemoteProtocolError):  # RTCP on the same port, or nothing we know
            self.heard(RtpPacket.decode(data), at_ns)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:  # Any: a coroutine's own
        task = asyncio.create_task(work)
        self._tasks.add(task)


def _header(text: str, name: str) -> str:
    found = re.search(rf"(?im)^{name}:\s*([^\r\n]+)", text)
    return found[1] if found else ""


@asynccontextmanager
async def peer(**options: Any) -> AsyncIterator[SipPeer]:  # Any: a peer's own fields
    """Run a peer."""
    running = SipPeer(**options)
    await running.open()
    try:
        yield running
    finally:
        await running.close()
