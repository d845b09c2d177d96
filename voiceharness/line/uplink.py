"""The user's side of the line: a track that never stops, cut into frames.

What the user says is placed on the track ahead of time; a frame is sent when its last sample has passed, as a phone
does, so anything may still be placed up to the present sample. Where nothing was placed there is silence.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING

from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.edges import speech_edges
from voiceharness.line.track import Track

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Uplink", "Utterance"]


@dataclass(frozen=True, slots=True)
class Utterance:
    """One clip of the user on the track.

    ``start`` and ``end`` bound its samples; ``onset`` and ``offset`` bound its speech, from the clean clip: the first
    and last 5 ms window above its peak less 35 dB. A silent clip has its onset at its start and its offset at its end.
    """

    start: int
    end: int
    onset: int
    offset: int


class Uplink:
    """The user's track, up to date with what was sent."""

    def __init__(self, rate: int, frame: int) -> None:
        self.rate = rate
        self.frame = frame
        self.track = Track(60 * rate)
        self.sent = 0
        self._silence = bytes(2 * frame)
        self._boundaries: list[tuple[int, int, Callable[[], None]]] = []
        self._notified = 0  # breaks ties: equal positions fire in the order they were asked for

    def place(self, samples: NDArray[np.int16], at: int, *, from_onset: bool = False) -> Utterance:
        """Put a clip on the track at a position, or at the first one that can still be sent.

        With ``from_onset`` it is the clip's speech, not its leading silence, that starts there.
        """
        edges = speech_edges(samples, self.rate)
        onset, offset = (edges.onset, edges.offset) if edges is not None else (0, len(samples))
        lead = onset if from_onset else 0
        start = max(at, self.sent)
        self.track.add(start, samples[lead:])
        return Utterance(start, start + len(samples) - lead, start + onset - lead, start + offset - lead)

    def notify(self, position: int, callback: Callable[[], None]) -> None:
        """Call back once the frame that holds the sample before ``position`` has been delivered."""
        self._notified += 1
        heapq.heappush(self._boundaries, (position, self._notified, callback))

    def next_frame(self) -> AudioChunk:
        """Return the frame that is due next. ``mark_sent`` says that it went out."""
        start, end = self.sent, self.sent + self.frame
        if start >= self.track.end:
            return AudioChunk(self._silence, self.rate, start)
        return AudioChunk(self.track.view(start, end).tobytes(), self.rate, start)

    def frame_at(self, position: int, samples: int) -> AudioChunk:
        """Return any stretch of the track."""
        return AudioChunk(self.track.view(position, position + samples).tobytes(), self.rate, position)

    def mark_sent(self, end: int) -> None:
        """Take note that everything before a position went out."""
        self.sent = end

    def mark_delivered(self, end: int) -> None:
        """Take note that everything before a position is with the agent, or lost; fire the notifications due."""
        while self._boundaries and self._boundaries[0][0] <= end:
            heapq.heappop(self._boundaries)[2]()
