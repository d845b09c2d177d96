"""What came from the stack and waits for its tick: one frame more than is due, against the two clocks' phases.

Theory of operation. Each tick takes one frame. The stack says nothing of a packet that was lost: its sound goes on with
the next one. So when a tick finds too little, a stand-in is put where the missing frame belongs, and nothing after it
moves. A frame that was merely late takes the stand-in's place; one whose stand-in has been heard already is dropped,
as is one when more than is due has waited for a second.
After ``GONE`` stand-ins in a row the agent does not send; its next frame begins anew.
"""

from __future__ import annotations

from collections import deque
from typing import Final

__all__ = ["Reserve"]

RESERVE: Final = 2
"""Frames that wait before a tick takes one."""

GONE: Final = 10
SETTLED: Final = 50
"""Ticks for which more must wait than is due until a frame is dropped: the agent was late when it began."""

MOST: Final = 50


class Reserve:
    """Frames in order of arrival; ``size`` is that of one in bytes.

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
        self._frames: deque[bytes | None] = deque()
        self._flowing = False
        self._missed = 0
        self._in_a_row = 0
        self._since = 0
        self._above = 0

    def put(self, pcm: bytes) -> None:
        """Take what came, however it is cut."""
        self._partial += pcm
        while len(self._partial) >= self._size:
            self._frames.append(bytes(self._partial[: self._size]))
            del self._partial[: self._size]

    def take(self, behind: int) -> bytes:
        """Return the frame of a tick that is ``behind`` whole ticks late; empty: there is none."""
        if not self._flowing and not self._begin(behind):
            return b""
        surplus = len(self._frames) - RESERVE - behind
        self._above = self._above + 1 if surplus > 0 else 0
        if surplus > 0:
            self._catch_up(surplus)
        elif surplus < 0 and not behind:
            self._frames.append(None)
        return self._next()

    def restart(self) -> None:
        """Forget what waits: another stream begins."""
        self._frames.clear()
        self._partial.clear()
        self._flowing = False

    def _begin(self, behind: int) -> bool:
        if len(self._frames) < RESERVE:
            return False
        while len(self._frames) > RESERVE + behind:
            self._frames.popleft()
        self._flowing = True
        self._missed = self._in_a_row = 0
        self.begun += 1
        return True

    def _catch_up(self, surplus: int) -> None:
        """More has come than is due: it was late, so it replaces its stand-ins, heard or not."""
        for _ in range(surplus):
            if None in self._frames:
                self._frames.remove(None)
            elif self._missed or self._above > SETTLED or len(self._frames) > MOST:
                self._frames.popleft()
                self._above = 0
                self.late += 1
                self.lost -= self._missed > 0
                self._missed = max(0, self._missed - 1)

    def _next(self) -> bytes:
        frame = self._frames.popleft() if self._frames else None
        if frame is None:
            self._in_a_row += 1
            self._missed += 1
            if self._in_a_row >= GONE:
                self._flowing = False
                self._frames.clear()
            self._since = 0
            return b""
        self._since += 1
        if self._since > GONE:  # whatever comes now did not come for a stand-in
            self._missed = 0
        if self._in_a_row:
            self.lost += self._in_a_row
            self._in_a_row = 0
        self.heard += 1
        return frame
