"""What came from the stack and waits for its tick: each frame in the slot in which it was due.

Theory of operation. The stack gives sound without number or time: a packet that was lost leaves no gap, the next one
follows at once. So the time at which a frame came says where it belongs. Frames are due every 20 ms; one that comes a
frame's time or more after it was due belongs in a later slot, and what it skipped is missing. Where frames then come
before they are due, those before them were late, not missing, and move down into the slots that they had skipped. When
they are due is learned from when they come, slowly, so that jitter of half a frame moves nothing.

A tick takes the slot that was due one to two frames before, so that a frame may be late by one. A slot that was empty
when it was taken is gone: its frame is dropped if it comes yet. Clocks that drift apart, and an agent that was late
when it began, are evened out by a frame left out, or by a tick that waits, once most of a frame has gathered.
"""

from __future__ import annotations

from typing import Final

__all__ = ["FRAME_NS", "Reserve"]

FRAME_NS: Final = 20_000_000

GONE: Final = 10
"""Slots in a row that are empty because the agent does not send; fewer were lost."""

SETTLED: Final = 50
"""Ticks for which frames must wait longer than they need until one is left out."""

_LONGER_NS: Final = 15_000_000
_SHORTEST_NS: Final = 5_000_000
_LEARNED: Final = 16


class Reserve:
    """Frames by their slots; ``size`` is that of one in bytes.

    ``heard`` counts the frames that ticks took, ``lost`` those that never came, ``late`` those that came too late, and
    ``begun`` how often the agent began to send.
    """

    def __init__(self, size: int) -> None:
        self.heard = 0
        self.lost = 0
        self.late = 0
        self.begun = 0
        self._size = size
        self._partial = bytearray()
        self._waiting: dict[int, bytes] = {}
        self._next_in = 0
        self._due_ns: int | None = None  # when the frame of the next slot comes
        self._next_out: int | None = None
        self._usual_ns = 0  # how long a frame waited when it began
        self._missed = 0
        self._in_a_row = GONE
        self._since = 0
        self._above = 0

    @property
    def waits(self) -> bool:
        """Whether there is a frame that no tick has taken."""
        return bool(self._waiting)

    def put(self, pcm: bytes, at_ns: int) -> None:
        """Take what had come by a time, however it is cut; the last of it came then."""
        self._partial += pcm
        rest = len(self._partial)
        while rest >= self._size:
            rest -= self._size
            frame = bytes(self._partial[: self._size])
            del self._partial[: self._size]
            self._arrive(frame, at_ns - rest * FRAME_NS // self._size)

    def take(self, tick_ns: int) -> bytes:
        """Return the frame of the tick that is due at a time, each 20 ms after the one before; empty: there is none."""
        if self._next_out is None and not self._begin(tick_ns):
            return b""
        assert self._next_out is not None  # it has begun
        waits_ns = tick_ns - self._came_ns(self._next_out)
        if self._waiting and waits_ns < _SHORTEST_NS:
            return b""  # the agent's clock is slower: the frames that come are heard a tick later from now on
        self._above = self._above + 1 if waits_ns >= self._usual_ns + _LONGER_NS else 0
        if self._above > SETTLED:
            self._leave_out()
            self._above = 0
        return self._next()

    def restart(self) -> None:
        """Forget what waits: another stream begins."""
        self._waiting.clear()
        self._partial.clear()
        self._due_ns = self._next_out = None
        self._in_a_row = GONE

    # In

    def _arrive(self, frame: bytes, at_ns: int) -> None:
        due_ns = at_ns if self._due_ns is None else self._due_ns
        skipped = round((at_ns - due_ns) / FRAME_NS)
        if skipped < 0:
            skipped = -self._move_down(-skipped)
        slot = self._next_in + skipped
        came_ns = due_ns + skipped * FRAME_NS
        learned_ns = at_ns if skipped >= GONE else came_ns + (at_ns - came_ns) // _LEARNED
        self._next_in, self._due_ns = slot + 1, learned_ns + FRAME_NS
        if self._next_out is None or slot >= self._next_out:
            self._waiting[slot] = frame
        else:
            self._drop()

    def _move_down(self, slots: int) -> int:
        """Give the frames that wait the slots that they had skipped, as far as there are any; return by how many.

        Those whose slots were empty when they were taken are dropped, the first of them first.
        """
        first = min(self._waiting, default=self._next_in) if self._next_out is None else self._next_out
        last = self._next_in - 1
        empty = last - first + 1 - len(self._waiting)
        too_late = min(slots - empty, self._missed) if slots > empty else 0
        for slot in sorted(self._waiting)[:too_late]:
            del self._waiting[slot]
            self._drop()
            empty += 1
        slots = min(slots, empty)
        highest = last - slots
        for slot in sorted(self._waiting, reverse=True):
            frame = self._waiting.pop(slot)
            highest = min(slot, highest)
            self._waiting[highest] = frame
            highest -= 1
        return slots

    def _drop(self) -> None:
        self.late += 1
        if self._missed:
            self._missed -= 1
            self.lost -= 1

    # Out

    def _came_ns(self, slot: int) -> int:
        """Return when the frame of a slot came, if it was in time."""
        assert self._due_ns is not None  # something has come
        return self._due_ns - (self._next_in - slot) * FRAME_NS

    def _begin(self, tick_ns: int) -> bool:
        """Begin with the slot that came one to two frames before a tick, if it is there."""
        if self._due_ns is None:
            return False
        slot = self._next_in - 1 + (tick_ns - self._due_ns) // FRAME_NS
        if not self._waiting or slot < min(self._waiting):
            return False
        self._next_out, self._usual_ns = slot, tick_ns - self._came_ns(slot)
        self._waiting = {place: frame for place, frame in self._waiting.items() if place >= slot}
        return True

    def _leave_out(self) -> None:
        assert self._next_out is not None  # it has begun
        if self._waiting.pop(self._next_out, None) is not None:
            self._drop()
        self._next_out += 1

    def _next(self) -> bytes:
        assert self._next_out is not None  # it has begun
        frame = self._waiting.pop(self._next_out, None)
        self._next_out += 1
        if frame is None:
            self._in_a_row += 1
            self._missed += 1
            self._since = 0
            return b""
        self._since += 1
        if self._since > GONE:  # whatever comes now did not come for an empty slot
            self._missed = 0
        if self._in_a_row >= GONE:
            self.begun += 1
        else:
            self.lost += self._in_a_row
        self._in_a_row = 0
        self.heard += 1
        return frame
