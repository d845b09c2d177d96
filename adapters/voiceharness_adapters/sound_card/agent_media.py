"""The agent's sound between its door and the device: what it sends is played at 1x, what it hears is handed over.

Theory of operation. What the agent has sent is put for the ticks to come at once, up to a second ahead, so that a busy
event loop tears no word of it. A flush takes back whatever has not reached the device. An agent that speaks after a
silence is heard a few ticks later, which gives one that sends piece by piece the time for the next; what is no whole
block waits until its tick is near. A mark is answered when the tick of its place has passed.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

import numpy as np

from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.resample import Resampler
from voiceharness.clock import LoopClock
from voiceharness.events import Flush, Mark, MarkPlayed
from voiceharness_adapters.sound_card.health import DeviceHealth, SoundingTicks

if TYPE_CHECKING:
    from collections.abc import Callable

    from voiceharness.agent import AgentCall, AgentItem
    from voiceharness_adapters.sound_card.stream import Block, SoundStream

__all__ = ["AgentMedia"]

SOONEST: Final = 5
"""Ticks from the next one to the one where speech begins after a silence."""

LATEST: Final = 2
"""Ticks from the next one to the first for which a block that is put now is surely in time."""

FURTHEST: Final = 100
"""Ticks from the next one up to which blocks are put."""


class AgentMedia:
    """Plays what the agent sends and hands it what is heard, call after call. ``door`` is None between calls."""

    def __init__(self, stream: SoundStream, rate: int) -> None:
        self.door: AgentCall | None = None
        self._stream = stream
        self._is_judged: Callable[[], bool] = lambda: False
        self._rate = rate
        self._frame = rate * stream.block // stream.rate
        self._down = Resampler(stream.rate, rate)
        self._reset()

    def _reset(self) -> None:
        self._up = Resampler(self._rate, self._stream.rate)
        self._waiting = np.zeros(0, np.int16)
        self._next_tick = 0
        self._has_tail = False
        self._put_until: deque[tuple[int, int]] = deque()
        self._sent = self._put = self._played = self._heard = 0
        self._marks: deque[tuple[int, str]] = deque()
        self._sounding = SoundingTicks()
        self.health = DeviceHealth(self._stream.rate, self._stream.block, "the agent's")

    def begin(self, door: AgentCall, is_judged: Callable[[], bool] = lambda: False) -> None:
        """Go on with another call; what is left of the last one is dropped.

        Once ``is_judged`` says so, what the device loses is no matter any more.
        """
        self._is_judged = is_judged
        self._stream.take_back()
        self._reset()
        self.door = door

    def send(self, item: AgentItem) -> None:
        """Take what the agent sent."""
        match item:
            case AudioChunk():
                self._waiting = np.concatenate((self._waiting, item.samples))
                self._sent += len(item)
                self._fill()
            case Flush():
                self._flush()
            case Mark(name=name):
                self._marks.append((self._sent, name))
                self._answer_marks()

    def _flush(self) -> None:
        """Take back what was put; the resampler begins anew, so that nothing of it lingers."""
        self._stream.take_back()
        self._sounding = SoundingTicks()
        self._up = Resampler(self._rate, self._stream.rate)
        self._waiting = self._waiting[:0]
        self._put_until.clear()
        self._next_tick, self._has_tail = 0, False
        self._put = self._played = self._sent
        self._answer_marks(flushed=True)

    def _answer_marks(self, *, flushed: bool = False) -> None:
        while self.door and self._marks and (flushed or self._marks[0][0] <= self._played):
            self.door.deliver(MarkPlayed(self._marks.popleft()[1], flushed))

    def take(self, block: Block) -> None:
        """Take note of a tick, and hand the agent what was heard."""
        self._watch(block)
        self._fill()
        if (len(self._waiting) or self._has_tail) and self._next_tick <= self._latest:  # nothing more has come for it
            self._put_block(len(self._waiting))
        heard = self._down.push(np.frombuffer(block.pcm, np.int16))
        if self.door is None:
            return
        self.door.deliver(AudioChunk(heard.tobytes(), self._rate, self._heard, at_ns=block.at_ns))
        self._heard += len(heard)
        while self._put_until and self._put_until[0][0] <= block.tick:
            self._played = self._put_until.popleft()[1]
        self._answer_marks()

    def _watch(self, block: Block) -> None:
        if self.door is not None and not self._is_judged():
            self.health.take(block, sounding=self._sounding.at(block.tick))
            self.health.note_lateness(LoopClock().now_ns() - block.at_ns)

    @property
    def _latest(self) -> int:
        return self._stream.next_tick + LATEST

    def _fill(self) -> None:
        """Put every whole block that waits, as far ahead as is allowed."""
        while len(self._waiting) >= self._frame and self._next_tick <= self._stream.next_tick + FURTHEST:
            self._put_block(self._frame)

    def _put_block(self, count: int) -> None:
        """Put so many of the samples that wait, and silence up to a whole block; the last one holds but the tail.

        After a silence the resampler begins anew. Its first block is short; it begins with that much silence.
        """
        if self._next_tick < self._latest:
            self._next_tick = self._stream.next_tick + SOONEST
            self._up = Resampler(self._rate, self._stream.rate)
        taken, self._waiting = self._waiting[:count], self._waiting[count:]
        made = self._up.push(np.concatenate((taken, np.zeros(self._frame - count, np.int16))))
        made = np.concatenate((np.zeros(self._stream.block - len(made), np.int16), made))
        self._put += count
        self._has_tail = count > 0
        self._sounding.note(self._next_tick, made)
        self._stream.put(self._next_tick, made.tobytes())
        self._put_until.append((self._next_tick, self._put))
        self._next_tick += 1
