"""When agent audio that arrived is heard. Arithmetic on positions: no task, no timer.

Theory of operation. Two ways, one interface.

* :class:`QueuedPlayout` is a phone line behind a stream: audio may arrive in bursts and is heard at 1x. A chunk starts
  at the later of the end of the queue and its arrival (plus an optional prebuffer where the queue had run empty). A
  flush at a position removes everything after it; a mark is due where the queue ends when it arrives, and answered at
  once when a flush removes it.
* :class:`LivePlayout` is a line whose audio already has its own place (RTP, a sound card): a chunk starts at its own
  position. There is nothing to flush, so a flush or a mark takes effect where it arrives.

Because starts are computed and not pumped, an agent that paces itself with summed floats leaves no hole, and the queue
can be asked about the future: audio that has arrived but is not heard yet is on the track already.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from voiceharness.line.record import Arrival
from voiceharness.line.track import Track

if TYPE_CHECKING:
    from voiceharness.audio.chunk import AudioChunk

__all__ = ["Flushed", "LivePlayout", "PendingMark", "Playout", "QueuedPlayout"]


@dataclass(frozen=True, slots=True, eq=False)
class PendingMark:
    """A mark and the position at which playout reaches it."""

    name: str
    due: int


@dataclass(frozen=True, slots=True)
class Flushed:
    """What a flush did: the position from which nothing is heard, samples removed, and marks removed with them."""

    at: int
    removed: int
    marks: tuple[PendingMark, ...]


class Playout(Protocol):
    """Where agent audio lands on the heard track."""

    track: Track

    @property
    def end(self) -> int:
        """Position at which the audio that has arrived ends."""

    def known_until(self, now: int) -> int:
        """Position up to which it is known what is heard, silence included."""

    def arrive(self, chunk: AudioChunk, at: int) -> Arrival:
        """Place a chunk that arrived at a position and say where it starts."""

    def add_mark(self, name: str, at: int) -> PendingMark:
        """Place a mark that arrived at a position and say when it is due."""

    def flush(self, at: int) -> Flushed:
        """Remove what would be heard from a position on."""

    def reach(self, mark: PendingMark) -> bool:
        """Take a mark that playout has come to; False if a flush took it before."""

    def arrivals(self) -> tuple[Arrival, ...]:
        """Return all that arrived so far, with how much of each piece is (or will be) heard."""


class _Marks:
    """Marks in the queue. Two may have one name and one place, so they are told apart by identity."""

    def __init__(self) -> None:
        self._pending: list[PendingMark] = []

    def add(self, mark: PendingMark) -> PendingMark:
        self._pending.append(mark)
        return mark

    def reach(self, mark: PendingMark) -> bool:
        for index, pending in enumerate(self._pending):
            if pending is mark:
                del self._pending[index]
                return True
        return False

    def beyond(self, position: int) -> tuple[PendingMark, ...]:
        """Take the marks that are due after a position."""
        removed = tuple(mark for mark in self._pending if mark.due > position)
        self._pending = [mark for mark in self._pending if mark.due <= position]
        return removed


class QueuedPlayout:
    """Playout of a transport that may send faster than real time."""

    def __init__(self, *, capacity: int, prebuffer: int = 0) -> None:
        self.track = Track(capacity)
        self._prebuffer = prebuffer
        self._marks = _Marks()
        self._pieces: list[Arrival] = []
        self._end = -1  # nothing was queued yet: not even an empty queue that ends at 0

    @property
    def end(self) -> int:
        """Position at which the queue ends."""
        return max(0, self._end)

    def known_until(self, now: int) -> int:
        """Where the queue ends, or the present: an empty queue is silence."""
        return max(self.end, now)

    def arrive(self, chunk: AudioChunk, at: int) -> Arrival:
        """Place a chunk at the end of the queue, or where it arrived if the queue had run empty."""
        start = self._end if self._end >= at else at + self._prebuffer
        piece = Arrival(at, start, len(chunk), len(chunk), chunk.item)
        self._pieces.append(piece)
        self.track.write(start, chunk.samples)
        self._end = start + len(chunk)
        return piece

    def add_mark(self, name: str, at: int) -> PendingMark:
        """Place a mark at the end of the queue."""
        return self._marks.add(PendingMark(name, max(self._end, at)))

    def flush(self, at: int) -> Flushed:
        """Empty the queue: nothing after ``at`` is heard."""
        removed = max(0, self._end - at)
        if removed:
            self._cut_pieces(at)
            self.track.cut(at)
            self._end = at
        return Flushed(at, removed, self._marks.beyond(at))

    def _cut_pieces(self, at: int) -> None:
        for index in range(len(self._pieces) - 1, -1, -1):
            piece = self._pieces[index]
            if piece.start + piece.heard <= at:
                return
            self._pieces[index] = piece._replace(heard=max(0, at - piece.start))

    def reach(self, mark: PendingMark) -> bool:
        """Take a mark that playout has come to."""
        return self._marks.reach(mark)

    def arrivals(self) -> tuple[Arrival, ...]:
        """Return all that arrived so far."""
        return tuple(self._pieces)


class LivePlayout:
    """Playout of a transport whose audio carries its own position; what comes late or twice replaces nothing."""

    def __init__(self, *, capacity: int) -> None:
        self.track = Track(capacity)
        self._marks = _Marks()
        self._pieces: list[Arrival] = []

    @property
    def end(self) -> int:
        """One past the last position that was heard."""
        return self.track.end

    def known_until(self, now: int) -> int:
        """Where the audio ends: what was on the line since may still be under way."""
        return self.end

    def arrive(self, chunk: AudioChunk, at: int) -> Arrival:
        """Place a chunk at its own position (where it arrived, if it has none)."""
        start = at if chunk.position is None else chunk.position
        known = min(len(chunk), max(0, self.track.end - start))
        self.track.write(start + known, chunk.samples[known:])
        piece = Arrival(at, start, len(chunk), len(chunk) - known, chunk.item)
        self._pieces.append(piece)
        return piece

    def add_mark(self, name: str, at: int) -> PendingMark:
        """Place a mark where it arrived: live audio does not wait."""
        return self._marks.add(PendingMark(name, at))

    def flush(self, at: int) -> Flushed:
        """Remove nothing: live audio does not wait."""
        return Flushed(at, 0, self._marks.beyond(at))

    def reach(self, mark: PendingMark) -> bool:
        """Take a mark that playout has come to."""
        return self._marks.reach(mark)

    def arrivals(self) -> tuple[Arrival, ...]:
        """Return all that arrived so far."""
        return tuple(self._pieces)
