"""Measure the sound card on private virtual cables: bit-exactness, the path, opening and closing, latencies.

Run ``python tools/bench_sound_card.py [SECONDS] [CYCLES]`` on a quiet machine with PulseAudio and PortAudio.
"""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

import numpy as np

from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.signals import speech_like
from voiceharness.clock import LoopClock, run_real, stopwatch
from voiceharness.doubles import TurnTakingAgent
from voiceharness.scenario.run import run_call
from voiceharness.scenario.scenario import Scenario
from voiceharness.scenario.steps import Hear, Say
from voiceharness.testing.residue import Residue
from voiceharness_adapters.sound_card import Cables, SoundCard
from voiceharness_adapters.sound_card.cables import CABLE_RATE, temporary_cables
from voiceharness_adapters.sound_card.host import serve_on
from voiceharness_adapters.sound_card.measuring import measure_path
from voiceharness_adapters.sound_card.portaudio import PortAudio
from voiceharness_adapters.sound_card.pulse import private_server
from voiceharness_adapters.sound_card.session import Session
from voiceharness_adapters.sound_card.stream import Block, Opening, SoundStream

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAD = 20
CALLS = 5
DEFAULTS = ["60", "200"]


def clip(seconds: float, seed: int) -> AudioChunk:
    """Make sound that stands for speech."""
    return AudioChunk.from_samples(speech_like(seconds, seed=seed))


class Loop:
    """Plays noise and keeps what comes back."""

    def __init__(self, stream: SoundStream, seconds: float) -> None:
        self.done = asyncio.Event()
        self.played = np.random.default_rng(1).integers(-9000, 9000, round(seconds * CABLE_RATE)).astype(np.int16)
        self._stream = stream
        self._blocks = self.played.reshape(-1, stream.block)
        self._captured: list[NDArray[np.int16]] = []
        self._first = -1

    def take(self, block: Block) -> None:
        """Put the block that is due, and keep what was captured from the first one's turn on."""
        if self._first < 0:
            self._first = block.tick + LEAD
        index = block.tick + LEAD - self._first
        if index < len(self._blocks):
            self._stream.put(block.tick + LEAD, self._blocks[index].tobytes())
        if block.tick >= self._first:
            self._captured.append(np.frombuffer(block.pcm, np.int16).reshape(-1, 2)[:, 0])
        if block.tick - self._first > len(self._blocks) + LEAD:
            self.done.set()

    def compared(self) -> tuple[float, int, int]:
        """Return the delay in ms, mismatching samples, and samples compared."""
        captured, template = np.concatenate(self._captured), self.played[:2400].astype(float)
        delay = int(np.argmax(np.correlate(captured[: CABLE_RATE // 2].astype(float), template, "valid")))
        count = min(len(self.played), len(captured) - delay)
        wrong = int(np.count_nonzero(self.played[:count] != captured[delay : delay + count]))
        return delay / CABLE_RATE * 1000, wrong, count


async def exactness(opening: Opening, seconds: float) -> None:
    """Loop noise back and compare every sample; compare the measured path with the true one."""
    session = Session(PortAudio(), opening)
    try:
        stream = await session.open()
        measured = await measure_path(session, 0)
        loop = Loop(stream, seconds)
        session.on_block = loop.take
        await loop.done.wait()
    finally:
        await session.close()
    delay, wrong, count = loop.compared()
    print(f"loopback: {wrong} of {count} samples differ; path {delay:.2f} ms, measured {measured.delay * 1000:.2f} ms")


async def cycles(opening: Opening, count: int) -> None:
    """Open and close many times, and say what is left."""
    before, read = Residue.now(), stopwatch()
    for _ in range(count):
        session = Session(PortAudio(), opening)
        try:
            await session.open()
        finally:
            await session.close()
    left = await before.since(LoopClock(), patience=5.0)
    print(f"{count} times opened and closed in {read():.1f} s; left: {left or 'nothing'}")


async def latencies(cables: Cables) -> None:
    """Call an agent that answers half a second after a turn."""
    scenario = Scenario("bench", steps=(Hear(), Say(audio=clip(1.0, 7)), Hear(), Say(audio=clip(1.0, 8)), Hear()))
    for _ in range(CALLS):
        agent = TurnTakingAgent([clip(1.0, 5)], greeting=clip(1.0, 6), pause=0.3, thinking=0.2)
        async with serve_on(agent, cables) as far_side:
            adapter = SoundCard(cables.name, server=cables.server.address, far_side=far_side)
            result = await run_call(scenario, adapter)
        assert result.metrics is not None
        found = [f"{exchange.latency * 1000:.1f}" for exchange in result.metrics.exchanges if exchange.latency]
        path = result.facts["path_ms"]
        print(f"call: {result.outcome}; latencies {', '.join(found)} ms; path {path} ms; {result.clock}")


async def main() -> None:
    """Measure everything."""
    seconds, count = (int(value) for value in (sys.argv[1:] + DEFAULTS[len(sys.argv) - 1 :])[:2])
    async with private_server() as server, temporary_cables(Cables("bench", server)) as cables:
        opening = Opening(
            f"pulse:{cables.monitor}", f"pulse:{cables.to_agent}", 2, rate=CABLE_RATE, server=server.address
        )
        await exactness(opening, seconds)
        await cycles(opening, count)
        await latencies(cables)


if __name__ == "__main__":
    run_real(main())
