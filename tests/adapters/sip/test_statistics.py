"""RTP figures of a call against what a peer really did to its packets."""

from __future__ import annotations

import asyncio
import struct
from typing import TYPE_CHECKING, cast

import pytest

from tests.adapters.sip.calling import on_line, stream, tone_packet
from tests.adapters.sip.peer import peer
from voiceharness.clock import NS, LoopClock, run_real
from voiceharness_adapters.sip import Sip
from voiceharness_adapters.sip.quality import mean_opinion, rating

if TYPE_CHECKING:
    from tests.adapters.sip.peer import SipPeer
    from voiceharness.protocols.rtp import RtpPacket
    from voiceharness_adapters.sip.quality import RtpQuality
    from voiceharness_adapters.sip.settings import Backend

__all__: list[str] = []

pytestmark = pytest.mark.realtime

SECONDS = 4.0


def figures(media: object, *, backend: Backend = "pjsua2") -> RtpQuality:
    async def main() -> RtpQuality:
        async with peer(media=media) as agent:
            adapter = Sip(agent.uri, backend=backend)
            async with on_line(adapter) as line:
                await line.until_position(round(8000 * SECONDS))
            return adapter.quality

    return run_real(main())


@pytest.mark.parametrize("backend", ["pjsua2", "baresip"])
def test_a_clean_line_has_the_best_score(backend: Backend) -> None:
    quality = figures(stream(), backend=backend)
    assert quality.received == pytest.approx(50 * SECONDS, abs=15)
    assert (quality.lost, quality.doubled, quality.reordered) == (0, 0, 0)
    assert quality.opinion > 4.3


@pytest.mark.parametrize("backend", ["pjsua2", "baresip"])
@pytest.mark.parametrize("every", [5, 20])
def test_loss_is_counted_and_lowers_the_score_as_the_e_model_says(backend: Backend, every: int) -> None:
    quality = figures(stream(lambda packet: () if packet.sequence % every == 3 else (packet,)), backend=backend)
    sent = quality.received + quality.lost
    assert quality.lost == pytest.approx(sent / every, abs=2)
    assert quality.opinion == pytest.approx(mean_opinion(rating(30, 100 / every, codec="PCMU")), abs=0.15)


def test_doubled_packets_are_counted() -> None:
    quality = figures(stream(lambda packet: (packet, packet) if packet.sequence % 4 == 0 else (packet,)))
    assert quality.doubled == pytest.approx(50 * SECONDS / 4, abs=4)
    assert quality.lost == 0


def test_packets_out_of_order_are_counted_and_not_lost() -> None:
    kept: list[RtpPacket] = []

    def swap(packet: RtpPacket) -> tuple[RtpPacket, ...]:
        if packet.sequence % 10 == 8:
            kept.append(packet)
            return ()
        return (packet, kept.pop()) if packet.sequence % 10 == 9 and kept else (packet,)

    quality = figures(stream(swap))
    assert quality.reordered == pytest.approx(50 * SECONDS / 10, abs=3)


def test_jitter_is_that_of_the_packets() -> None:
    """RFC 3550, 6.4.1, over the times at which they were really sent."""
    jitter_ms: list[float] = [0.0]

    async def media(agent: SipPeer) -> None:
        clock = LoopClock()
        start = clock.now_ns()
        before: float | None = None
        for index in range(300):
            await clock.sleep_until_ns(start + index * NS // 50 + (index % 2) * 10_000_000)
            agent.send(tone_packet(index))
            transit = clock.now_ns() / 1e6 - 20 * index
            if before is not None:
                jitter_ms.append(jitter_ms[-1] + (abs(transit - before) - jitter_ms[-1]) / 16)
            before = transit

    quality = figures(media)
    known = jitter_ms[: quality.received]
    assert quality.jitter_ms == pytest.approx(sum(known) / len(known), rel=0.15)
    assert quality.jitter_ms < quality.jitter_max_ms < 1.1 * max(known)


class Reports(asyncio.DatagramProtocol):
    """Answers each sender report ``delay`` seconds later, as if there had been no delay (RFC 3550, 6.4)."""

    def __init__(self, delay: float) -> None:
        self.delay = delay
        self.transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        kind, ssrc, seconds, fraction = struct.unpack_from("!xBxxIII", data)
        if kind == 200:
            middle = (seconds & 0xFFFF) << 16 | fraction >> 16
            report = struct.pack("!BBHI6I", 0x81, 201, 7, 5, ssrc, 0, 0, 0, middle, 1)  # 15 us
            asyncio.get_running_loop().call_later(self.delay, self._answer, report, addr)

    def _answer(self, report: bytes, addr: tuple[str, int]) -> None:
        assert self.transport is not None
        self.transport.sendto(report, addr)


def test_the_round_trip_is_that_of_the_reports() -> None:
    async def main() -> RtpQuality:
        async with peer(media=stream(packets=1000)) as agent:
            transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
                lambda: Reports(0.08), local_addr=("127.0.0.1", agent.rtp_port + 1)
            )
            adapter = Sip(agent.uri)
            async with on_line(adapter) as line:
                await line.until_position(8000 * 12)  # a report comes about every 5 s
            transport.close()
            return adapter.quality

    quality = run_real(main())
    assert quality.round_trip_ms == pytest.approx(80, abs=25)
    assert quality.opinion == pytest.approx(mean_opinion(rating(40 + 30, 0, codec="PCMU")), abs=0.1)
