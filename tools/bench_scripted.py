"""Measure a scripted 45 s conversation with 20 ms audio both ways, in virtual time.

Bare: the far side is a script of spoken turns, the code under test sends a frame every 20 ms. Then the same turns
through the adapter ``realtime`` and the whole scenario engine: line, recording, turns, latencies, findings. Times are
processor time of one core, the median of some rounds.

    python tools/bench_scripted.py [--rounds N]
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import TYPE_CHECKING

from voiceharness.audio import signals
from voiceharness.audio.chunk import AudioChunk
from voiceharness.clock import NS, LoopClock, run_virtual
from voiceharness.scenario.run import run_scenario
from voiceharness.scenario.scenario import Scenario
from voiceharness.scenario.steps import Hear, Say
from voiceharness.scripted.simulated_agent import SimulatedAgent, Speak
from voiceharness.scripted.sounds import PCM_24K
from voiceharness.scripted.transport import ScriptedRealtimeTransport
from voiceharness.scripted.turns import audio_turn, play
from voiceharness_adapters.realtime import TransportVoiceAdapter

if TYPE_CHECKING:
    from collections.abc import Callable

    from voiceharness.scripted.inbound import EventLike
    from voiceharness.scripted.run import ScenarioContext
    from voiceharness.scripted.turns import AudioTurn

SECONDS = 45.0
FRAME = 0.02
TEXT = "of course I can do that for you what day would suit you best"
MUST_MS = 50.0


def bare() -> Callable[[], None]:
    """Return a function that runs the conversation over the transport alone."""
    turns = [audio_turn(f"turn {number}", PCM_24K.speech(5.0), words=TEXT) for number in range(5)]
    frames = PCM_24K.frames(PCM_24K.speech(SECONDS))
    return lambda: run_virtual(_converse(turns, frames))


async def _converse(turns: list[AudioTurn], frames: list[bytes]) -> None:
    transport = ScriptedRealtimeTransport(ambient={"send_audio"})
    received: list[EventLike] = []
    transport.on("audio", received.append)

    async def far_side(script: ScenarioContext) -> None:
        await script.expect_call("connect")
        clock = LoopClock()
        for number, turn in enumerate(turns):
            await clock.sleep_until_ns(round((2.0 + number * SECONDS / len(turns)) * NS))
            await play(turn, script.emit)
        await script.expect_call("close")

    async def user() -> None:
        await transport.connect()
        clock = LoopClock()
        for number, frame in enumerate(frames, 1):
            await clock.sleep_until_ns(round(number * FRAME * NS))
            transport.send_audio(frame)
        transport.close()

    await transport.run_scenario(scenario=far_side, exercise=user)
    transport.assert_complete()
    assert len(transport.calls) == len(frames) + 2
    assert len(received) == sum(round(turn.duration / FRAME) for turn in turns)


def through_the_engine() -> Callable[[], None]:
    """Return a function that runs a conversation of that length over the adapter and the engine."""
    user = AudioChunk.from_samples(signals.speech_like(2.5, seed=1))
    steps = [step for _ in range(5) for step in (Say(audio=user), Hear())]
    scenario = Scenario("five turns", steps)
    speech = PCM_24K.speech(5.3)

    def call() -> None:
        transport = ScriptedRealtimeTransport()
        SimulatedAgent(transport, *[Speak(TEXT, audio=speech)] * 5, latency=0.5)
        result = run_scenario(scenario, lambda: TransportVoiceAdapter(transport, turn_detection="harness"))
        assert result.passed, result.explain()
        assert result.record is not None
        assert abs(result.record.duration - SECONDS) < 1, result.record.duration

    return call


def measured_ms(work: Callable[[], None], rounds: int) -> list[float]:
    """Return the processor time of each round in milliseconds, after one round that is not counted."""
    work()
    times = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        times.append(1000 * (time.process_time() - start))
    return times


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    for name, work in (("transport alone", bare()), ("adapter and engine", through_the_engine())):
        times = measured_ms(work, rounds)
        median = statistics.median(times)
        print(
            f"{name:20} median {median:6.1f} ms, best {min(times):6.1f} ms, {1000 * SECONDS / median:6.0f}x real time"
        )
    print(f"the transport alone must stay under {MUST_MS:.0f} ms")


if __name__ == "__main__":
    main()
