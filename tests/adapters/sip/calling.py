"""Calls to make in these tests: sounds, streams of a peer, and a line that is open for a while."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import numpy as np

from voiceharness.audio import g711
from voiceharness.clock import NS, LoopClock
from voiceharness.line.opening import open_line
from voiceharness.line.settings import LineSettings
from voiceharness.protocols.rtp import RtpPacket

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable

    from numpy.typing import NDArray

    from tests.adapters.sip.peer import Media, SipPeer
    from voiceharness.line.line import Line
    from voiceharness.line.record import CallRecord
    from voiceharness_adapters.sip import Sip

__all__ = ["heard_from", "lag_of", "level", "mulaw_noise", "on_line", "sent_as", "sent_at", "stream", "tone_packet"]

Spoil = "Callable[[RtpPacket], Iterable[RtpPacket]]"


def mulaw_noise(seconds: float, *, seed: int = 1) -> NDArray[np.int16]:
    """Noise that mu-law carries without any change."""
    noise = np.random.default_rng(seed).integers(-8000, 8000, round(8000 * seconds)).astype("<i2")
    return np.frombuffer(g711.decode(g711.encode(noise.tobytes())), "<i2")


def tone_packet(index: int, *, frequency: float = 440.0, samples: int = 160) -> RtpPacket:
    """The packet of a place in an endless tone."""
    times = np.arange(samples * index, samples * (index + 1)) / 8000
    pcm = (8000 * np.sin(2 * np.pi * frequency * times)).astype("<i2").tobytes()
    return RtpPacket(0, index, samples * index, 5, g711.encode(pcm), marker=index == 0)


def stream(
    spoil: Callable[[RtpPacket], Iterable[RtpPacket]] = lambda packet: (packet,),
    *,
    packets: int = 500,
    frequency: float = 440.0,
    samples: int = 160,
) -> Media:
    """A peer that sends a tone, at exact times, each packet as spoilt."""

    async def media(peer: SipPeer) -> None:
        clock = LoopClock()
        start = clock.now_ns()
        for index in range(packets):
            await clock.sleep_until_ns(start + index * samples * NS // 8000)
            for packet in spoil(tone_packet(index, frequency=frequency, samples=samples)):
                peer.send(packet)

    return media


def sent_as(packet_of: Callable[[int], tuple[float, RtpPacket]], *, packets: int = 150) -> Media:
    """A peer that sends packets of its own, each at a time of its own, in seconds; in the order of those times."""

    async def media(peer: SipPeer) -> None:
        clock = LoopClock()
        start = clock.now_ns()
        for seconds, packet in sorted(map(packet_of, range(packets)), key=lambda due: due[0]):
            await clock.sleep_until_ns(start + round(seconds * NS))
            peer.send(packet)

    return media


def sent_at(due: Callable[[int], float], *, packets: int = 150) -> Media:
    """A peer that sends each packet of a tone at a time of its own, in seconds; in the order of those times."""
    return sent_as(lambda index: (due(index), tone_packet(index)), packets=packets)


@asynccontextmanager
async def on_line(adapter: Sip, *, connect_timeout: float = 10.0) -> AsyncIterator[Line]:
    """Open a line."""
    async with open_line(adapter, LineSettings(rate=adapter.rate), connect_timeout=connect_timeout) as line:
        yield line


def level(samples: NDArray[np.int16], start: float, end: float) -> float:
    """RMS of a stretch of a track, given in seconds."""
    part = samples[round(8000 * start) : round(8000 * end)].astype(float)
    return float(np.sqrt(np.mean(part**2))) if len(part) else 0.0


def heard_from(record: CallRecord, frequency: float, start: float, end: float) -> float:
    """Share of a frequency in the agent's track, from 0 to 1."""
    part = record.agent[round(8000 * start) : round(8000 * end)].astype(float)
    times = np.arange(len(part)) / 8000
    energy = np.sum(part**2) or 1.0
    return float(2 * np.abs(np.sum(part * np.exp(-2j * np.pi * frequency * times))) ** 2 / len(part) / energy)


def lag_of(sent: NDArray[np.int16], track: NDArray[np.int16], start: int, *, most: int = 4000) -> int:
    """Samples by which a sound is later on another track, found by its first 0.1 s; -1: it is not there."""
    head = sent[:800]
    for lag in range(most):
        if np.array_equal(track[start + lag : start + lag + 800], head):
            return lag
    return -1
