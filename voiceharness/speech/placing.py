"""Make engine output fit to be placed on a line: speech starts where it is placed, and words where they sound."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.edges import Span, speech_edges
from voiceharness.audio.vad import RATES, find_segments
from voiceharness.speech.synthesis import Speech

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from voiceharness.events import Word

__all__ = ["LONGEST_PAUSE", "MARGIN", "cut_silence"]

MARGIN = 0.02
"""Silence kept before the first and after the last sound, in seconds."""

LONGEST_PAUSE = 0.4
"""Longest pause kept inside the sound, in seconds: as long as people pause between two sentences of one turn."""


def cut_silence(samples: NDArray[np.int16], words: Sequence[Word], rate: int) -> Speech | None:
    """Cut the silence around the sound, shorten long pauses in it, and move the words; None if there is no sound.

    Words are kept in order and inside the sound, and each ends where its own sound does, not where the pause after it
    does. A pause longer than ``LONGEST_PAUSE`` becomes that long: an engine's pause between two sentences would be
    taken for the end of the turn by whoever listens.
    """
    edges = speech_edges(samples, rate)
    if edges is None:
        return None
    placed = _inside(words, samples, edges, rate)
    kept = _kept(samples, edges, rate)
    audio = AudioChunk.from_samples(np.concatenate([samples[span.onset : span.offset] for span in kept]), rate)
    moved = tuple(
        replace(word, start=_moved(word.start, kept, rate), end=_moved(word.end, kept, rate)) for word in placed
    )
    return Speech(audio, moved, any(word.estimated for word in moved))


def _inside(words: Sequence[Word], samples: NDArray[np.int16], edges: Span, rate: int) -> list[Word]:
    """Move words that lie outside the sound into it, and end each where its own sound does."""
    floor, ceiling = edges.onset / rate, edges.offset / rate
    placed = []
    for word in words:
        start = min(max(word.start, floor), ceiling)
        end = min(max(word.end, start), ceiling)
        sound = speech_edges(samples[round(start * rate) : round(end * rate)], rate)
        if sound is not None:
            end = min(end, start + sound.offset / rate)
        placed.append(replace(word, start=start, end=end))
        floor = end
    return placed


def _kept(samples: NDArray[np.int16], edges: Span, rate: int) -> list[Span]:
    """Return the stretches that stay: all but the middles of long pauses, and the silence around the sound."""
    margin, longest = round(MARGIN * rate), round(LONGEST_PAUSE * rate)
    sounds = find_segments(samples[edges.onset : edges.offset], rate, LONGEST_PAUSE) if rate in RATES else []
    starts = [edges.onset + sound.onset for sound in sounds[1:]]
    ends = [edges.onset + sound.offset for sound in sounds[:-1]]
    kept, first = [], max(0, edges.onset - margin)
    for end, start in zip(ends, starts, strict=True):
        cut = end + longest // 2
        kept.append(Span(first, cut))
        first = start - (longest - longest // 2)
    return [*kept, Span(first, min(len(samples), edges.offset + margin))]


def _moved(seconds: float, kept: Sequence[Span], rate: int) -> float:
    """Return where a time of the whole lies in what is kept; inside a cut, at its place."""
    position, passed = seconds * rate, 0
    for span in kept:
        if position < span.onset:
            return passed / rate
        if position <= span.offset:
            return (passed + position - span.onset) / rate
        passed += len(span)
    return passed / rate
