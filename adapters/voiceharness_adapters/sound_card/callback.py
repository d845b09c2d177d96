"""What runs on the device's own thread: it moves samples between queues, notes when, and does nothing else.

``deque.append`` and ``deque.popleft`` are atomic, so neither side ever waits for the other.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from voiceharness_adapters.sound_card.stream import Block

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Callback"]


class Callback:
    """The two queues of a stream, and the function that PortAudio calls for each block."""

    def __init__(self, block_bytes: int) -> None:
        self.captured: deque[Block] = deque()
        self.to_play: deque[tuple[int, bytes]] = deque()
        self.wake: Callable[[], object] = _nothing
        self.finish: Callable[[], object] = _nothing
        self.now_ns: Callable[[], int] = _never
        self._silence = bytes(block_bytes)
        self.next_tick = 0

    def __call__(self, indata: Any, outdata: Any, _frames: int, time: Any, status: Any) -> None:
        # Any: PortAudio's buffers, its times and its flags
        """Move one block in and one out."""
        tick = self.next_tick
        self.next_tick = tick + 1
        pcm = self._next(tick)
        outdata[:] = self._silence if pcm is None else pcm
        self.captured.append(
            Block(
                tick,
                bytes(indata),
                time.inputBufferAdcTime,
                overflow=bool(status.input_overflow),
                underflow=bool(status.output_underflow),
                starved=pcm is None,
                at_ns=self.now_ns(),
            )
        )
        self.wake()

    def finished(self) -> None:
        """Tell that the device stopped."""
        self.finish()

    def silence_news(self) -> None:
        """Tell nobody any more."""
        self.wake = self.finish = _nothing

    def _next(self, tick: int) -> bytes | None:
        """Take what was put for a tick; what was put for an earlier one came too late."""
        while self.to_play and self.to_play[0][0] <= tick:
            put_for, pcm = self.to_play.popleft()
            if put_for == tick:
                return pcm
        return None


def _nothing() -> None:
    """Nobody listens."""


def _never() -> int:
    """Nobody has said what time it is."""
    return 0
