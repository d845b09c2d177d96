"""Rules about what is carried: sound and events of both sides, whole and in order."""

from __future__ import annotations

import asyncio
from itertools import cycle
from typing import TYPE_CHECKING, Final

import numpy as np

from voiceharness.audio.chunk import AudioChunk
from voiceharness.clock import NS, LoopClock
from voiceharness.doubles.probe_agent import ProbeAgent
from voiceharness.events import EndOfStream, Mark
from voiceharness.testing.rules.sound import DURATION, LENGTH_TOLERANCE, LEVELS_DB, judge_rising, rising, sound_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from voiceharness.adapter import Received
    from voiceharness.testing.bench import Bench

__all__ = ["carries_the_agent", "carries_the_user", "loses_nothing_when_cancelled", "says_when_nothing_came"]

START: Final = 0.1
AFTER: Final = 0.5
FRAME: Final = 0.02
WAIT: Final = 0.1
CANCELLED_AFTER_US: Final = (1700, 2300, 3100, 4900)


async def carries_the_user(bench: Bench) -> None:
    """What the user says reaches the agent's door."""
    async with bench.call() as call:
        rate = call.adapter.adapter.rate
        await call.say(np.concatenate((rising(rate), np.zeros(round(AFTER * rate), np.int16))))
        least = DURATION + AFTER - LENGTH_TOLERANCE
        await call.agent_has("the user's audio in full", lambda log: len(log.audio) >= least * log.rate)
        judge_rising(call.adapter, "the agent", call.agent.log.audio.samples, call.agent.log.rate)


async def carries_the_agent(bench: Bench) -> None:
    """What the agent sends in one burst, marks among it, is received as it was sent, at the line rate."""
    agent = ProbeAgent()
    async with bench.adapter(agent) as guarded:
        rate = guarded.adapter.rate
        agent.cues = tuple(_burst(rate))
        await guarded.connect()
        received = await guarded.received_for(START + DURATION + AFTER)
        judge_rising(guarded, "receive_audio()", sound_of(received))
        rates = {item.rate for item in received if isinstance(item, AudioChunk)}
        if rates != {rate}:
            raise guarded.broken(f"agent audio came at {sorted(rates)} Hz on a line of {rate} Hz")
        marks = [item.name for item in received if isinstance(item, Mark)]
        if marks != sorted(marks):
            raise guarded.broken(f"marks came in the order {', '.join(marks)}")


async def says_when_nothing_came(bench: Bench) -> None:
    """While the agent is silent, a wait ends at its time with None (or goes on bringing silence)."""
    async with bench.call() as call:
        clock = LoopClock()
        give_up_ns = clock.now_ns() + round(bench.patience * NS)
        for timeout in (0.0, WAIT):
            start = clock.now_ns()
            while (item := await call.adapter.receive_audio(timeout)) is not None and clock.now_ns() < give_up_ns:
                if isinstance(item, EndOfStream):
                    raise call.adapter.broken("the stream ended while the agent was on the line")
                start = clock.now_ns()
            waited = (clock.now_ns() - start) / NS
            if waited > timeout + WAIT:
                raise call.adapter.broken(f"receive_audio(timeout={timeout:g}) waited {waited:.3f} s")


async def loses_nothing_when_cancelled(bench: Bench) -> None:
    """A reader that is cancelled every few milliseconds gets all of the sound."""
    agent = ProbeAgent()
    async with bench.adapter(agent) as guarded:
        rate = guarded.adapter.rate
        frames = np.split(rising(rate), round(DURATION / FRAME))
        chunks = [AudioChunk.from_samples(frame, rate) for frame in frames]
        agent.cues = tuple((START + FRAME * index, chunk) for index, chunk in enumerate(chunks))
        await guarded.connect()
        received: list[Received] = []
        clock = LoopClock()
        end_ns = clock.now_ns() + round((START + DURATION + AFTER) * NS)
        patience_us = cycle(CANCELLED_AFTER_US)
        while clock.now_ns() < end_ns:
            waiting = asyncio.create_task(guarded.receive_audio(WAIT))
            timer = clock.call_at_ns(clock.now_ns() + next(patience_us) * 1000, waiting.cancel)
            await asyncio.wait([waiting])
            timer.cancel()
            if not waiting.cancelled() and (item := waiting.result()) is not None:
                received.append(item)
        judge_rising(guarded, "receive_audio(), cancelled again and again,", sound_of(received))


def _burst(rate: int) -> Iterator[tuple[float, AudioChunk | Mark]]:
    for number, block in enumerate(np.split(rising(rate), len(LEVELS_DB))):
        yield START, AudioChunk.from_samples(block, rate)
        yield START, Mark(str(number))
