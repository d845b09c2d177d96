"""Calls made by hand: sound and events at known positions, heard through the line's own playout and mu-law."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from voiceharness.audio import g711, signals
from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.edges import speech_edges
from voiceharness.audio.wav import read_wav
from voiceharness.line.playout import QueuedPlayout
from voiceharness.line.record import CallRecord
from voiceharness.line.timeline import Timeline
from voiceharness.line.track import Track

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from voiceharness.line.record import EventKind, Value

__all__ = ["Call", "noise", "silence", "speechlike", "spoken", "tone"]

FIXTURES = Path(__file__).parents[2] / "fixtures_audio"

FRAME = 0.02


def tone(hz: float, seconds: float, level_db: float = -6.0, rate: int = 8000) -> NDArray[np.int16]:
    """A sine; its level is that of its peak."""
    return signals.tone(hz, seconds, rate, level_db=level_db)


def noise(seconds: float, level_db: float = -15.0, seed: int = 1, rate: int = 8000) -> NDArray[np.int16]:
    """White noise at an RMS level."""
    return signals.white_noise(seconds, rate, level_db=level_db, seed=seed)


def speechlike(seconds: float, level_db: float = -20.0, seed: int = 1, rate: int = 8000) -> NDArray[np.int16]:
    """Noise of the telephone band in the rhythm of syllables."""
    return signals.speech_like(seconds, rate, level_db=level_db, seed=seed)


def spoken(name: str) -> NDArray[np.int16]:
    """Recorded speech from the fixtures, at 8 kHz."""
    return read_wav(FIXTURES / f"{name}.wav").samples


def silence(seconds: float, rate: int = 8000) -> NDArray[np.int16]:
    """Digital silence."""
    return np.zeros(round(seconds * rate), np.int16)


class Call:
    """A call under construction; times are seconds after the answer, whatever order they are given in."""

    def __init__(self, seconds: float, *, rate: int = 8000, mulaw: bool = True) -> None:
        self.rate = rate
        self._end = round(seconds * rate)
        self._mulaw = mulaw
        self._user = Track(self._end)
        self._playout = QueuedPlayout(capacity=self._end)
        self._timeline = Timeline()
        self._arriving: list[tuple[int, Callable[[int], object]]] = []

    def samples(self, seconds: float) -> int:
        return round(seconds * self.rate)

    def note(self, at: float, kind: EventKind, /, **data: Value) -> Call:
        """Put an event on the timeline."""
        self._timeline.note(self.samples(at), kind, **data)
        return self

    def user(self, at: float, sound: NDArray[np.int16], *, source: str = "say", **data: Value) -> Call:
        """Let the user say something whose first sound is at ``at``."""
        edges = speech_edges(sound, self.rate)
        assert edges is not None
        start = self.samples(at) - edges.onset
        lead = max(0, -start)
        self._user.add(start + lead, sound[lead:])
        onset, offset = start + edges.onset, start + edges.offset
        self._timeline.note(
            onset,
            "user_utterance",
            onset=onset,
            offset=offset,
            start=start,
            end=start + len(sound),
            source=source,
            **data,
        )
        return self

    def barge_in(self, at: float, sound: NDArray[np.int16], **data: Value) -> Call:
        """Let the user interrupt."""
        return self.user(at, sound, source="interrupt", **data)

    def agent(self, at: float, sound: NDArray[np.int16], item: str | None = None) -> Call:
        """Let the agent send sound in one burst."""
        return self._arrive(at, sound, item)

    def paced(self, at: float, sound: NDArray[np.int16], item: str | None = None) -> Call:
        """Let the agent send sound frame by frame in real time."""
        frame = self.samples(FRAME)
        for index in range(0, len(sound), frame):
            self._arrive(at + index / self.rate, sound[index : index + frame], item)
        return self

    def _arrive(self, at: float, sound: NDArray[np.int16], item: str | None) -> Call:
        chunk = AudioChunk.from_samples(self._coded(sound), self.rate, item=item)
        self._arriving.append((self.samples(at), lambda position: self._playout.arrive(chunk, position)))
        return self

    def flush(self, at: float) -> Call:
        """Let the agent empty the queue."""
        self._arriving.append((self.samples(at), self._flush))
        return self

    def _flush(self, position: int) -> None:
        self._timeline.note(position, "flush", cut=self._playout.flush(position).removed)

    def hang_up(self, by: str = "agent", at: float | None = None) -> Call:
        """End the call; by default where it was to end anyway."""
        if at is not None:
            self._end = self.samples(at)
        self._timeline.note(self._end, "hangup", by=by, reason="", code=None)
        self._arriving.append((self._end, self._playout.flush))
        return self

    def record(self) -> CallRecord:
        """Return the evidence."""
        for position, arrive in sorted(self._arriving, key=lambda each: each[0]):
            arrive(position)
        self._arriving.clear()
        return CallRecord(
            self.rate,
            self._coded(self._user.copy(self._end)),
            self._playout.track.copy(self._end),
            self._timeline.until(self._end),
            self._playout.arrivals(),
        )

    def _coded(self, sound: NDArray[np.int16]) -> NDArray[np.int16]:
        if not self._mulaw:
            return sound
        return np.frombuffer(g711.decode(g711.encode(sound.astype("<i2").tobytes())), "<i2")
