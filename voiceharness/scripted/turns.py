"""A whole spoken turn of the agent, as the events a realtime transport would deliver, with their times."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from voiceharness.clock import NS, LoopClock
from voiceharness.scripted.errors import ScriptValueError
from voiceharness.scripted.inbound import (
    AudioDoneEvent,
    AudioEvent,
    AudioTranscriptDeltaEvent,
    RealtimeEvent,
    TurnDoneEvent,
    TurnStartedEvent,
)
from voiceharness.scripted.sounds import PCM_24K, WireFormat

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from voiceharness.clock import Clock

__all__ = ["AudioTurn", "Word", "audio_turn", "play", "spread_words"]


@dataclass(frozen=True, slots=True)
class Word:
    """A word, and when it is spoken: seconds into its item's audio."""

    text: str
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class AudioTurn:
    """Events with the time each is due, in seconds from the start of the turn; ``duration`` of its audio in seconds."""

    response_id: str
    item_id: str
    duration: float
    events: tuple[tuple[float, RealtimeEvent], ...]


def audio_turn(
    response_id: str,
    audio: bytes,
    *,
    words: str | Sequence[Word] = (),
    item_id: str | None = None,
    wire: WireFormat = PCM_24K,
    frame_ms: float = 20.0,
    speed: float = 1.0,
    usage: Any = None,
) -> AudioTurn:
    """Make a turn: turn started, audio in chunks with transcript deltas between them, audio done, turn done.

    A word comes right before the chunk in which it begins. ``words`` may be a text, which is spread over the audio.
    ``speed`` is how much faster than real time the chunks come; ``float("inf")`` makes one burst of them.

    Raises:
        ScriptValueError: if the speed is not above 0.
        AudioError: if a frame would not be a whole number of samples.
    """
    if not speed > 0:
        raise ScriptValueError(f"a turn at a speed of {speed:g} never ends; give a number above 0")
    item = item_id or f"{response_id}-item"
    duration = wire.duration(audio)
    spoken = spread_words(words, duration) if isinstance(words, str) else words
    chunks = wire.frames(audio, frame_ms)
    # Each event with the frame it belongs to: a word comes with the frame it begins in, and before its sound.
    placed: list[tuple[int, RealtimeEvent]] = [(0, TurnStartedEvent(response_id=response_id))]
    placed += [
        (min(int(word.start * 1000 // frame_ms), len(chunks)), _delta(word, item, response_id)) for word in spoken
    ]
    placed += [
        (number, AudioEvent(data=chunk, response_id=response_id, item_id=item)) for number, chunk in enumerate(chunks)
    ]
    placed.append((len(chunks), AudioDoneEvent(item_id=item, response_id=response_id)))
    placed.append((len(chunks), TurnDoneEvent(response_id=response_id, usage=usage)))
    placed.sort(key=lambda pair: pair[0])  # stable, so what belongs to one frame stays in this order
    events = tuple((number * frame_ms / 1000 / speed, event) for number, event in placed)
    return AudioTurn(response_id, item, duration, events)


def _delta(word: Word, item: str, response_id: str) -> AudioTranscriptDeltaEvent:
    return AudioTranscriptDeltaEvent(
        delta=f"{word.text} ", item_id=item, response_id=response_id, start=word.start, end=word.end
    )


def spread_words(text: str, duration: float) -> tuple[Word, ...]:
    """Spread the words of a text over a duration in seconds, each with time for its letters."""
    words = text.split()
    edges = [0, *itertools.accumulate(len(word) + 1 for word in words)]
    scale = duration / edges[-1] if words else 0.0
    spans = itertools.pairwise(edges)
    return tuple(Word(word, start * scale, end * scale) for word, (start, end) in zip(words, spans, strict=True))


async def play(turn: AudioTurn, emit: Callable[[RealtimeEvent], object], *, clock: Clock | None = None) -> None:
    """Emit the events of a turn at their times, on an absolute schedule from now.

    Cancelling it is how a turn is cut short.
    """
    clock = clock or LoopClock()
    start = clock.now_ns()
    reached = 0.0
    for due, event in turn.events:
        if due > reached:
            await clock.sleep_until_ns(start + round(due * NS))
            reached = due
        emit(event)
