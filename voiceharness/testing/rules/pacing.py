"""Rules about time: who keeps it, and what happens to audio that comes in a burst, or is lost."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from voiceharness.audio.chunk import AudioChunk
from voiceharness.clock import NS, LoopClock
from voiceharness.testing.rules.sound import BLOCK, LENGTH_TOLERANCE, LEVELS_DB, QUIET, judge_steps, rising

if TYPE_CHECKING:
    from voiceharness.testing.bench import Bench, BenchCall

__all__ = ["asks_for_frames_at_1x", "loses_only_what_is_skipped", "takes_a_burst"]

BURST: Final = 1.0
TAKEN_WITHIN: Final = 0.5
FRAMES: Final = 50
WATCHED: Final = 1.0
ASKED_WITHIN: Final = 0.2
AFTER: Final = 0.5
KEEPS_TIME: Final = "the transport keeps time, and is sent nothing"


async def takes_a_burst(bench: Bench) -> str | None:
    """A second of frames, given all at once, is taken at once: pacing is the line's business."""
    async with bench.call() as call:
        if call.keeps_time:
            return KEEPS_TIME
        rate, clock = call.adapter.adapter.rate, LoopClock()
        start_ns = clock.now_ns()
        for index, frame in enumerate(np.split(np.zeros(round(BURST * rate), np.int16), FRAMES)):
            await call.adapter.send_audio(AudioChunk.from_samples(frame, rate, index * len(frame)))
        took = (clock.now_ns() - start_ns) / NS
        if took > TAKEN_WITHIN:
            raise call.adapter.broken(f"it took {took:.2f} s to take {BURST:g} s of audio; send_audio() never waits")
    return None


async def loses_only_what_is_skipped(bench: Bench) -> str | None:
    """A jump in the positions of the user's audio is audio lost on purpose: all the rest arrives, in order."""
    async with bench.call() as call:
        if call.keeps_time:
            return KEEPS_TIME
        rate = call.adapter.adapter.rate
        block = round(BLOCK * rate)
        sound = rising(rate)
        await call.say(sound[:block])
        await call.say(np.concatenate((sound[2 * block :], np.zeros(round(AFTER * rate), np.int16))), at=2 * block)
        await call.agent_has("what came after the jump", lambda log: len(log.audio) >= (2 * BLOCK + AFTER) * log.rate)
        _judge_rest(call)
    return None


async def asks_for_frames_at_1x(bench: Bench) -> str | None:
    """A transport that keeps time asks its line for one frame after the other, as fast as they are heard."""
    async with bench.call() as call:
        if not call.keeps_time:
            return "the line keeps time"
        await LoopClock().sleep(WATCHED)
        asked = list(call.adapter.asked)
        spans = [f"{start}+{samples}" for start, samples in asked]
        if any(later[0] < earlier[0] + earlier[1] for earlier, later in pairwise(asked)):
            raise call.adapter.broken(f"it asked for user audio more than once, or backwards: {', '.join(spans)}")
        seconds = sum(samples for _, samples in asked) / call.adapter.adapter.rate
        if abs(seconds - WATCHED) > ASKED_WITHIN:
            raise call.adapter.broken(f"in {WATCHED:g} s it asked for {seconds:.2f} s of the user's audio")
    return None


def _judge_rest(call: BenchCall) -> None:
    """See that three of the four blocks came, whatever the transport put in the place of the lost one."""
    log = call.agent.log
    samples = log.audio.samples
    loud = samples[np.abs(samples.astype(int)) > QUIET]
    sent = rising(log.rate)
    kept = np.concatenate((sent[: round(BLOCK * log.rate)], sent[2 * round(BLOCK * log.rate) :]))
    wanted = np.count_nonzero(np.abs(kept.astype(int)) > QUIET)
    if abs(len(loud) - wanted) > LENGTH_TOLERANCE * log.rate:
        got, given = len(loud) / log.rate, wanted / log.rate
        raise call.adapter.broken(f"around a jump the agent got {got:.3f} s of sound where {given:.3f} s were sent")
    judge_steps(call.adapter, "the agent, around a jump,", loud, len(LEVELS_DB) - 1)
