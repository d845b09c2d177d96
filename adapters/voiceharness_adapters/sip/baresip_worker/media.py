"""A call's audio on baresip: a 20 ms tick of our own between the stack's buffers and the owner.

The stack sends and receives on threads of its own and gives neither time nor position of what it received. So what has
come is looked at twice in each tick, and its time says which tick takes it
(:mod:`~voiceharness_adapters.sip.baresip_worker.reserve`). Sound has the place of that tick: right to half a frame.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import numpy as np
from baresip import AudioNotActive, AudioRestarted

from voiceharness.clock import LoopClock
from voiceharness_adapters.sip.baresip_worker.reserve import FRAME_NS, Reserve
from voiceharness_adapters.sip.channel import now_ns
from voiceharness_adapters.sip.wire import NOTHING_SENT

if TYPE_CHECKING:
    from collections.abc import Callable

    from baresip import Call

    from voiceharness_adapters.sip.channel import Channel
    from voiceharness_adapters.sip.wire import Frame

__all__ = ["Pump"]

FRAME_MS: Final = FRAME_NS // 1_000_000
_READ_SIZE: Final = 1 << 16
_LAST_TICKS: Final = 3
_WRITTEN_AHEAD: Final = 4
"""Ticks from the writing of a frame until it has left, one being always in reserve, and the other side has it.

What is still in the other side's jitter buffer when a BYE comes is heard by nobody.
"""


class Pump:
    """Ticks for one call, from its first media to its end.

    ``on_ready`` is called when the stack has audio streams. ``late`` counts the owner's frames that came after their
    tick; ``reserve`` counts those that were received.
    """

    def __init__(self, number: int, call: Call, rate: int, channel: Channel) -> None:
        self.late = 0
        self.reserve = Reserve(2 * rate * FRAME_MS // 1000)
        self.on_ready: Callable[[], None] = lambda: None
        self._number = number
        self._call = call
        self._channel = channel
        self._frames: dict[int, bytes] = {}
        self._tick = 0
        self._size = 2 * rate * FRAME_MS // 1000
        self._silence = bytes(self._size)
        self._primed = False
        self._ticked = asyncio.Event()
        self._last_tick: int | None = None

    def follow(self, call: Call) -> None:
        """Go on with another call: the one this was referred to."""
        self._call = call
        self._primed = False
        self.reserve.restart()

    def put(self, frame: Frame) -> None:
        """Take a frame for a tick to come; called on the reading thread."""
        if frame.tick < self._tick:
            self.late += 1
        elif len(frame.pcm) == self._size:
            self._frames[frame.tick] = frame.pcm

    def finish(self) -> None:
        """Let the call's last ticks hear what still waits: it came before the call ended."""
        self._last_tick = self._tick + _LAST_TICKS

    async def sent(self) -> None:
        """Wait until what was written before has left."""
        written = self._tick + _WRITTEN_AHEAD
        while self._last_tick is None and self._tick < written:
            await self._ticked.wait()

    async def run(self) -> None:
        """Tick at absolute times until the call has ended."""
        try:
            await self._run(LoopClock())
        finally:
            self._last_tick = self._tick
            self._ticked.set()

    async def _run(self, clock: LoopClock) -> None:
        start_ns = clock.now_ns()
        while self._last_tick is None or (self.reserve.waits and self._tick < self._last_tick):
            due_ns = start_ns + self._tick * FRAME_NS
            await clock.sleep_until_ns(due_ns)
            sent = self._send()
            self._look(clock.now_ns())
            self._channel.heard(self._number, self._tick, sent, now_ns(), self.reserve.take(due_ns))
            self._tick += 1
            self._ticked.set()
            self._ticked = asyncio.Event()
            await clock.sleep_until_ns(due_ns + FRAME_NS // 2)
            self._look(clock.now_ns())

    def _send(self) -> int:
        pcm = self._frames.pop(self._tick, None)
        with suppress(AudioNotActive, AudioRestarted):
            channels = self._call.audio.info().tx_channels
            if not self._primed:  # a frame in reserve, so that the sending thread never finds the buffer empty
                self._call.audio.write(_spread(self._silence, channels))
                self._primed = True
                self.on_ready()
            self._call.audio.write(_spread(pcm or self._silence, channels))
        return NOTHING_SENT if pcm is None else self._tick

    def _look(self, now_ns: int) -> None:
        with suppress(AudioNotActive, AudioRestarted):
            if pcm := self._call.audio.read(_READ_SIZE):
                self.reserve.put(_joined(pcm, self._call.audio.info().rx_channels), now_ns)


def _spread(pcm: bytes, channels: int) -> bytes:
    """Return mono sound on so many channels."""
    return pcm if channels < 2 else np.repeat(np.frombuffer(pcm, "<i2"), channels).tobytes()


def _joined(pcm: bytes, channels: int) -> bytes:
    """Return the first of interleaved channels."""
    return pcm if channels < 2 else np.frombuffer(pcm, "<i2")[::channels].tobytes()
