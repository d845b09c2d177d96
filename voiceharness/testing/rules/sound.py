"""Sound whose order can be told through any codec: blocks of one tone, each louder than the one before."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.signals import tone

if TYPE_CHECKING:
    from voiceharness.adapter import Received
    from voiceharness.testing.bench import GuardedAdapter

__all__ = [
    "BLOCK",
    "DURATION",
    "LENGTH_TOLERANCE",
    "LEVELS_DB",
    "QUIET",
    "judge_rising",
    "judge_steps",
    "rising",
    "sound_of",
]

LEVELS_DB: Final = (-30.0, -24.0, -18.0, -12.0)
BLOCK: Final = 0.1
DURATION: Final = BLOCK * len(LEVELS_DB)
LENGTH_TOLERANCE: Final = 0.04
QUIET: Final = 100
LEAST_STEP_DB: Final = 3.0


def rising(rate: int) -> Any:  # Any: an int16 array
    """Make the blocks, in one piece."""
    return np.concatenate([tone(440, BLOCK, rate, level_db=level) for level in LEVELS_DB])


def sound_of(items: list[Received]) -> Any:  # Any: an int16 array
    """Join the audio among what was received."""
    chunks = [item.samples for item in items if isinstance(item, AudioChunk)]
    return np.concatenate(chunks) if chunks else np.zeros(0, np.int16)


def judge_rising(guarded: GuardedAdapter, who: str, samples: Any, rate: int | None = None) -> None:
    """See that the blocks came whole and in their order; silence around them does not count.

    ``rate`` is that of ``samples`` where it is not the line's.
    """
    rate = rate or guarded.adapter.rate
    loud = np.flatnonzero(np.abs(samples.astype(int)) > QUIET)
    heard = samples[loud[0] : loud[-1] + 1] if len(loud) else samples[:0]
    if abs(len(heard) / rate - DURATION) > LENGTH_TOLERANCE:
        raise guarded.broken(f"{who} got {len(heard) / rate:.3f} s of sound where {DURATION:g} s were sent")
    judge_steps(guarded, who, heard, len(LEVELS_DB))


def judge_steps(guarded: GuardedAdapter, who: str, heard: Any, blocks: int) -> None:
    """See that equal parts of a sound are each louder than the one before."""
    parts = np.array_split(heard.astype(float), blocks)
    levels = [20 * np.log10(np.sqrt(np.mean(part**2)) / 32768 + 1e-9) for part in parts]
    if any(later - earlier < LEAST_STEP_DB for earlier, later in pairwise(levels)):
        shown = ", ".join(f"{level:.0f}" for level in levels)
        raise guarded.broken(f"{who} got blocks of sound at {shown} dB, which were sent from quiet to loud")
