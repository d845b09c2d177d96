"""The agent's side of the line: what arrived, what is heard of it, and what can be said about it now.

Everything is answered from positions. Audio that has arrived but is not heard yet is already on the track, so the
questions here ("when does speech begin after this sample?") can have an answer in the future; whoever asks waits until
then and asks again, because a flush may have come between.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from voiceharness.audio.vad import Ear
from voiceharness.errors import LocalProtocolError
from voiceharness.events import (
    AgentEvent,
    Digit,
    Flush,
    HistoryClaimed,
    Mark,
    MediaChanged,
    MediaTrouble,
    ProtocolFault,
    StateClaimed,
    TruncationClaimed,
    TurnDone,
    Words,
)
from voiceharness.line.record import TimelineEvent
from voiceharness.line.words import HeardWord, WordTrack

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from voiceharness.audio.chunk import AudioChunk
    from voiceharness.audio.edges import Span
    from voiceharness.line.bell import Bell
    from voiceharness.line.heard import HeardTrack
    from voiceharness.line.playout import PendingMark, Playout
    from voiceharness.line.record import Arrival
    from voiceharness.line.timeline import Timeline

__all__ = ["Downlink"]

LOUD: Final = 40
"""A sample beyond this may be sound; the ear's own gate lies above it."""


class Downlink:
    """Agent audio and events on the sample clock.

    ``on_mark`` is told when a mark's fate is known: ``(mark, flushed)``; for one that playout will reach, it is told
    on arrival, with the position at which it is due.
    """

    def __init__(
        self,
        *,
        rate: int,
        playout: Playout,
        heard: HeardTrack,
        now: Callable[[], int],
        timeline: Timeline,
        bell: Bell,
        on_mark: Callable[[PendingMark, bool], None],
    ) -> None:
        self.rate = rate
        self.playout = playout
        self.heard = heard
        self._now = now
        self.items: list[AudioChunk] = []
        self._timeline = timeline
        self._bell = bell
        self._on_mark = on_mark
        self._ear = Ear(rate)
        self._words = WordTrack(rate)
        self._unfinished: tuple[int, int] | None = None
        self._turns_done: list[tuple[int, str | None]] = []
        self._began: dict[str | None, int] = {}
        self._loud_until = self._looked_at = -rate
        self.flushed_at = -1
        """Position of the latest flush."""

    # What arrives

    def audio(self, chunk: AudioChunk, at: int) -> None:
        """Take a chunk that arrived at a position."""
        if not chunk.pcm:
            return
        if chunk.rate != self.rate:
            raise LocalProtocolError(f"the adapter delivered audio at {chunk.rate} Hz on a line at {self.rate} Hz")
        self.items.append(chunk)
        piece = self.playout.arrive(chunk, at)
        self._began.setdefault(chunk.item, piece.start)
        self.listen_again_from(max(0, piece.start))  # it may belong before the present, which was silence so far
        self._bell.ring("audio")
        if self._may_begin_a_segment(chunk, piece):
            self._bell.ring("onset")

    def _may_begin_a_segment(self, chunk: AudioChunk, piece: Arrival) -> bool:
        """Say whether somebody who waits for an onset should look.

        Sound that goes on without a gap cannot begin a segment, so most frames of a paced stream need no look. A line
        that is never silent is looked at every tenth of a second.
        """
        if not _is_loud(chunk):
            return False
        goes_on = piece.start - self._loud_until < self.rate // 25
        self._loud_until = piece.start + piece.samples
        if goes_on and piece.start - self._looked_at < self.rate // 10:
            return False
        self._looked_at = piece.start
        return True

    def event(self, event: AgentEvent, at: int) -> None:
        """Take an event that arrived at a position."""
        note = self._timeline.note
        match event:
            case Flush():
                self.flush(at)
            case Mark(name=name):
                mark = self.playout.add_mark(name, at)
                note(at, "mark", name=name, due=mark.due)
                self._on_mark(mark, False)
            case Words():
                self._words.add_words(event)
                self._bell.ring("words")
            case TurnDone(item=item):
                self._turns_done.append((at, item))
                note(at, "turn_done", item=item)
                self._bell.ring("words")
            case Digit(digit=digit, method=method, duration=duration):
                note(at, "digit_received", digit=digit, method=method, duration=duration)
                self._bell.ring()
            case StateClaimed(state=state):
                note(at, "state_claimed", state=state)
            case TruncationClaimed(item=item, heard=heard):
                note(at, "truncation_claimed", item=item, heard=heard)
            case HistoryClaimed(item=item, text=text):
                note(at, "history_claimed", item=item, text=text)
            case ProtocolFault(kind=kind, detail=detail):
                note(at, "protocol_fault", kind=kind, detail=detail)
            case MediaChanged(state=state, detail=detail):
                note(at, "media", state=state, detail=detail)
            case MediaTrouble(kind=kind, detail=detail, figure=figure, unit=unit, duration=duration):
                note(at, "media_trouble", kind=kind, detail=detail, figure=figure, unit=unit, duration=duration)

    def flush(self, at: int) -> None:
        """Drop what would be heard from a position on."""
        flushed = self.playout.flush(at)
        self.flushed_at = at
        self._loud_until = self._looked_at = at - self.rate  # what comes next may begin a segment
        self._timeline.note(at, "flush", cut=flushed.removed)
        self.listen_again_from(at)
        for mark in flushed.marks:
            self._on_mark(mark, True)
        self._bell.ring()

    def end(self, at: int) -> None:
        """Cut the track where the call ended."""
        self.playout.flush(at)
        self.listen_again_from(at)

    def listen_again_from(self, at: int) -> None:
        """Take note that what is heard from a position on has changed."""
        self.heard.forget_from(at)
        if self._ear.position > at:
            self._ear.truncate(at)

    def received(self) -> NDArray[np.int16]:
        """Return all audio that arrived, in the order in which it did."""
        return np.frombuffer(b"".join(chunk.pcm for chunk in self.items), "<i2")

    # What can be said

    def segments(self) -> list[Span]:
        """Segments of sound on the heard track, those that are only queued yet included."""
        known, end = self._ear.position, self.playout.known_until(self._now())
        if end > known:
            self._ear.feed(self.heard.view(known, end))
        return self._ear.segments()

    def onset_after(self, position: int) -> int | None:
        """Return where speech begins (or goes on) at or after a position, if any is known."""
        for span in self.segments():
            if span.offset > position:
                return max(span.onset, position)
        return None

    def next_onset(self, position: int) -> int | None:
        """Return the onset of the first segment that begins at or after a position, if any is known.

        The rest of a turn that was left unfinished is none: it goes on over its pauses, until it ends.
        """
        begun = (span.onset for span in self.segments() if span.onset >= position)
        return next((onset for onset in begun if not self._goes_on(onset)), None)

    def turn_onset(self, position: int, tail: int) -> int | None:
        """Return the onset of the turn that is being heard at a position; a silence of ``tail`` parts turns."""
        onset = until = None
        for span in self.segments():
            if span.onset > position:
                break
            if until is None or span.onset - until >= tail:
                onset = span.onset
            until = span.offset
        return onset if until is not None and until > position else None

    def leave_unfinished(self, onset: int, tail: int) -> None:
        """Take note that the wait for a turn ended before the turn did, which a silence of ``tail`` will end."""
        self._unfinished = (onset, tail)

    def _goes_on(self, onset: int) -> bool:
        """Say whether sound that begins somewhere is the rest of the unfinished turn."""
        if self._unfinished is None:
            return False
        began, tail = self._unfinished
        over = self.silence_after(began, tail)
        if over is None or onset >= over[0] or began < self.flushed_at <= onset:
            return False
        return self._item_at(onset) == self._item_at(began)

    def _item_at(self, position: int) -> str | None:
        pieces = self.playout.arrivals()
        return next((piece.item for piece in pieces if piece.start <= position < piece.start + piece.samples), None)

    def silence_after(self, position: int, length: int) -> tuple[int, int] | None:
        """Return where the speech that is heard at a position ends, and where a silence of ``length`` after it is over.

        The second figure moves on when more audio arrives. None if there is no speech at or after the position.
        """
        offset = None
        for span in self.segments():
            if span.offset <= position:
                continue
            if offset is not None and span.onset - offset >= length:
                break
            offset = span.offset
        return None if offset is None else (offset, offset + length)

    def empty_turn_after(self, position: int) -> int | None:
        """Return where the agent said that its turn is complete, if no sound came since a position.

        An item whose audio began before the position is an earlier turn, however late that is said to be complete.
        """
        if self.onset_after(position) is not None:
            return None
        done = ((at, item) for at, item in self._turns_done if at >= position)
        return next((at for at, item in done if item is None or self._began.get(item, position) >= position), None)

    def words(self) -> list[HeardWord]:
        """Return the words the transport delivered whose audio is, or is going to be, heard."""
        return self._words.placed(self.playout.arrivals())

    def word_events(self, end: int) -> list[TimelineEvent]:
        """Return the words that were heard until a position, as events of the timeline."""
        return [
            TimelineEvent(
                word.end,
                "word_heard",
                {
                    "text": word.text,
                    "start": word.start,
                    "end": word.end,
                    "item": word.item,
                    "source": "agent",
                    "estimated": word.estimated,
                },
            )
            for word in self.words()
            if word.end <= end
        ]


def _is_loud(chunk: AudioChunk) -> bool:
    samples = chunk.samples
    return bool(np.maximum.reduce(samples) > LOUD) or bool(np.minimum.reduce(samples) < -LOUD)
