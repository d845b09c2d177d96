"""Make engine output fit to be placed on a line: speech starts where it is placed, and words where they sound."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.edges import speech_edges
from voiceharness.speech.synthesis import Speech

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from voiceharness.events import Word

__all__ = ["MARGIN", "cut_silence"]

MARGIN = 0.02
"""Silence kept before the first and after the last sound, in seconds."""


def cut_silence(samples: NDArray[np.int16], words: Sequence[Word], rate: int) -> Speech | None:
    """Cut the silence around the sound and move the words with it; None if there is no sound.

    Words are kept in order and inside the sound, and each ends where its own sound does, not where the pause after it
    does.
    """
    edges = speech_edges(samples, rate)
    if edges is None:
        return None
    first = max(0, edges.onset - round(MARGIN * rate))
    last = min(len(samples), edges.offset + round(MARGIN * rate))
    floor, ceiling = edges.onset / rate, edges.offset / rate
    placed = []
    for word in words:
        start = min(max(word.start, floor), ceiling)
        end = min(max(word.end, start), ceiling)
        sound = speech_edges(samples[round(start * rate) : round(end * rate)], rate)
        if sound is not None:
            end = min(end, start + sound.offset / rate)
        placed.append(replace(word, start=start - first / rate, end=end - first / rate))
        floor = end
    audio = AudioChunk.from_samples(samples[first:last], rate)
    return Speech(audio, tuple(placed), any(word.estimated for word in placed))
