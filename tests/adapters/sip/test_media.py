"""Sound on a SIP call: exact, in its place, in both directions."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pytest

from tests.adapters.sip.calling import heard_from, lag_of, mulaw_noise, on_line, stream, tone_packet
from tests.adapters.sip.peer import peer
from voiceharness.audio import g711
from voiceharness.audio.signals import tone
from voiceharness.clock import NS, LoopClock, run_real
from voiceharness.doubles import ProbeAgent
from voiceharness_adapters.sip import Sip, SipEndpoint, SipSettings, host
from voiceharness_adapters.sip.hosting import serve_calls

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from tests.adapters.sip.peer import SipPeer
    from voiceharness.protocols.rtp import RtpPacket
    from voiceharness_adapters.sip.settings import Backend

__all__: list[str] = []

Trouble: TypeAlias = "Mapping[int, int]"

pytestmark = pytest.mark.realtime


@asynccontextmanager
async def host_at_16000() -> AsyncIterator[Mapping[str, str]]:
    settings = SipSettings(rate=16000, codecs=("G722", "PCMU"))
    async with SipEndpoint(settings) as endpoint, serve_calls(ProbeAgent(echoes_sound=True), endpoint):
        yield {"target": endpoint.uri}


def test_sound_comes_back_bit_for_bit_with_one_lag() -> None:
    async def main() -> None:
        async with host(ProbeAgent(echoes_sound=True)) as target:
            adapter = Sip(str(target["target"]))
            noise = mulaw_noise(2.0)
            async with on_line(adapter) as line:
                said = line.say(noise, at=1600)
                await line.until_position(said.end + 2400)
            assert adapter.trust_reasons() == ()
            record = line.record()
            lag = lag_of(noise, record.agent, said.start)
            assert lag > 0
            assert np.array_equal(record.agent[said.start + lag : said.end + lag], noise)

    run_real(main())


@pytest.mark.parametrize("codec", ["G722", "PCMU"])
def test_an_agent_that_keeps_its_time_has_no_skew(codec: str) -> None:
    """The timestamps of G.722 count half of its samples (RFC 3551, 4.5.2)."""

    async def main() -> None:
        async with host_at_16000() as target:
            adapter = Sip(target["target"], rate=16000, codecs=codec)
            async with on_line(adapter) as line:
                await line.until_position(32000)
            assert adapter.call_facts()["codec"] == codec
            assert adapter.quality.received > 80
            assert adapter.quality.skew_ms == pytest.approx(0, abs=20)

    run_real(main())


def test_g722_carries_wideband_sound() -> None:
    async def main() -> None:
        async with host_at_16000() as target:
            adapter = Sip(target["target"], rate=16000, codecs="G722")
            sound = tone(5000, 0.5, 16000)
            async with on_line(adapter) as line:
                said = line.say(sound, at=3200)
                await line.until_position(said.end + 4800)
            assert adapter.call_facts()["codec"] == "G722"
            agent = line.record().agent[said.start :].astype(float)
            spectrum = np.abs(np.fft.rfft(agent * np.hanning(len(agent))))
            assert np.argmax(spectrum) * 16000 / len(agent) == pytest.approx(5000, abs=20)

    run_real(main())


ATTEMPTS = 3
"""Runs of a timing test on a machine that may be busy with something else."""


@pytest.mark.parametrize("backend", ["pjsua2", "baresip"])
@pytest.mark.parametrize("phase_ms", [4, 11, 17])
def test_latency_is_that_on_the_wire(phase_ms: int, backend: Backend) -> None:
    """A peer of plain sockets knows when the user's sound came and when its own left; the recording must agree."""
    errors = []
    for _ in range(ATTEMPTS):
        error, certain = run_real(_latency_error(phase_ms, backend))
        errors.append(error)
        if abs(error) < (0.004 if certain else 0.02):
            return
    pytest.fail(f"the recording's latency is off by {errors} s")


async def _latency_error(
    phase_ms: int, backend: Backend, *, trouble: Trouble = MappingProxyType({})
) -> tuple[float, bool]:
    """Measured less true latency of an agent whose packets have some phase, and whether it ought to be exact.

    ``trouble``: packets that are held up for so many milliseconds, or lost (-1), before the agent speaks.
    """
    wire: dict[str, float] = {}

    def heard(packet: RtpPacket, at_ns: int) -> None:
        loud = np.flatnonzero(np.abs(np.frombuffer(g711.decode(packet.payload), "<i2").astype(int)) > 1000)
        if len(loud):  # the packet ends where it arrives
            wire.setdefault("user", at_ns / NS + loud[0] / 8000 - 0.02)

    async def media(agent: SipPeer) -> None:
        clock = LoopClock()
        start = clock.now_ns() + phase_ms * NS // 1000
        for index in range(80):
            held_up_ms = trouble.get(index, 0)
            await clock.sleep_until_ns(start + index * NS // 50 + max(0, held_up_ms) * NS // 1000)
            if held_up_ms < 0:
                continue
            speaks = index >= 40
            if speaks:
                wire.setdefault("agent", clock.now_ns() / NS)
            packet = tone_packet(index)
            agent.send(packet if speaks else replace(packet, payload=g711.encode(bytes(320))))

    async with peer(media=media, heard=heard) as agent:
        adapter = Sip(agent.uri, backend=backend)
        async with on_line(adapter) as line:
            said = line.say(tone(700, 0.2), at=3200)
            await line.until_position(12000)
        track = line.record().agent.astype(int)
    measured = (int(np.flatnonzero(np.abs(track) > 1000)[0]) - said.onset) / 8000
    certain = adapter.call_facts()["timing"] == "exact" and not adapter.trust_reasons()
    return measured - (wire["agent"] - wire["user"]), certain


TROUBLE: Mapping[str, Trouble] = {
    "held up": {24: 90},
    "held up twice": {18: 50, 28: 70},
    "lost": {20: -1, 27: -1},
    "lost and held up": {18: -1, 24: 60, 31: -1},
}


@pytest.mark.parametrize("trouble", TROUBLE)
def test_latency_is_right_after_packets_were_held_up_or_lost(trouble: str) -> None:
    """The jitter buffer ran dry, and holds sound for another time from then on."""
    errors = [run_real(_latency_error(11, "pjsua2", trouble=TROUBLE[trouble]))[0] for _ in range(ATTEMPTS)]
    assert min(map(abs, errors)) < 0.004


def test_the_line_is_never_without_packets_even_if_nobody_speaks() -> None:
    """Case A54 (a)."""
    arrivals: list[int] = []

    async def main() -> None:
        async with peer(heard=lambda _packet, at_ns: arrivals.append(at_ns)) as agent:
            async with on_line(Sip(agent.uri)) as line:
                await line.until_position(8000)
            first = (arrivals[0] - agent.answered_ns) / NS
            assert first < 0.04
            assert len(arrivals) >= 45

    run_real(main())


def test_tracks_hold_each_side_only() -> None:
    """Case B43: the user's own sound is not in what is recorded of the agent."""

    async def main() -> None:
        async with peer(media=stream(frequency=500)) as agent:
            async with on_line(Sip(agent.uri)) as line:
                said = line.say(tone(900, 1.0), at=1600)
                await line.until_position(said.end + 800)
            record = line.record()
            begin, end = said.start / 8000 + 0.2, said.end / 8000 - 0.1
            assert heard_from(record, 500, begin, end) > 0.99
            assert heard_from(record, 900, begin, end) < 1e-4
            assert np.array_equal(record.user[said.start : said.end], tone(900, 1.0))

    run_real(main())


def test_the_agents_first_word_at_the_answer_is_whole() -> None:
    async def main() -> None:
        async with peer(media=stream(packets=50)) as agent:
            async with on_line(Sip(agent.uri)) as line:
                await line.until_position(12000)
            loud = np.flatnonzero(np.abs(line.record().agent.astype(int)) > 500)
            assert 0.99 < (loud[-1] - loud[0]) / 8000 < 1.08  # concealment lets the end fade out

    run_real(main())


def test_the_sample_clock_is_the_workers() -> None:
    async def main() -> None:
        async with peer(media=stream()) as agent:
            adapter = Sip(agent.uri)
            async with on_line(adapter) as line:
                await line.until_position(16000)
            fit = line.samples.fit()
            assert fit.observations >= 100
            if not adapter.trust_reasons():
                assert abs(fit.drift_ppm) < 1000

    run_real(main())


def test_rtp_statistics_are_facts_of_the_call() -> None:
    async def main() -> None:
        def without_every_tenth(packet: RtpPacket) -> tuple[RtpPacket, ...]:
            return () if packet.sequence % 10 == 5 else (packet,)

        async with peer(media=stream(without_every_tenth)) as agent:
            adapter = Sip(agent.uri)
            async with on_line(adapter) as line:
                await line.until_position(16000)
            quality = adapter.quality
            assert quality.lost == pytest.approx(quality.received / 9, rel=0.2)
            assert 1.0 < quality.opinion < 4.0
            assert adapter.call_facts()["rtp_lost"] == quality.lost

    run_real(main())
