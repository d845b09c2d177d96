"""A call's audio port: both directions of one tick of pjsua2's 20 ms media clock.

The bridge asks for what to send, then gives what was heard, on its own clock thread. So one count of ticks serves both
directions, and it goes on while a call is held or has no stream. Nothing here may raise: an exception in a callback
would keep its frame alive beyond the end of the library, which aborts the process.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Final

import pjsua2 as pj

from voiceharness_adapters.sip.channel import now_ns
from voiceharness_adapters.sip.missed import MissedTicks
from voiceharness_adapters.sip.pjsua2_worker.rtp_clock import RtpClock
from voiceharness_adapters.sip.wire import NOTHING_SENT

if TYPE_CHECKING:
    from collections.abc import Callable

    from voiceharness_adapters.sip.channel import Channel
    from voiceharness_adapters.sip.pjsua2_worker.clock_thread import ClockThread
    from voiceharness_adapters.sip.wire import Frame

__all__ = ["FRAME_MS", "TickPort"]

FRAME_MS: Final = 20
_AHEAD: Final = 100
_BITS: Final = 16


class TickPort(pj.AudioMediaPort):
    """Sends the owner's frames at the ticks they are meant for, and tells what every tick heard.

    It serves one call after another and is never freed: the clock's thread may be in it at any time.
    """

    def __init__(self, name: str, rate: int, channel: Channel, clock: ClockThread) -> None:
        super().__init__()
        self.live = False
        self._channel = channel
        self._clock = clock
        size = 2 * rate * FRAME_MS // 1000
        self._silence = bytes(size)
        self._outgoing = pj.ByteVector(self._silence)
        self._read, self._write = _vector_access()
        form = pj.MediaFormatAudio()
        form.type = pj.PJMEDIA_TYPE_AUDIO
        form.init(pj.PJMEDIA_FORMAT_PCM, rate, 1, FRAME_MS * 1000, _BITS)
        self._reset(0)
        self.createPort(name, form)

    def begin(self, call: int) -> None:
        """Serve a call from now on; its ticks count from 0."""
        self._reset(call)
        self.live = True

    def _reset(self, call: int) -> None:
        self.late = 0
        self.tick_ns = 0
        self.failure: str | None = None
        self.sender = RtpClock()
        self._missed = MissedTicks()
        self._call = call
        self._frames: dict[int, bytes] = {}
        self._tick = 0
        self._sent = NOTHING_SENT

    def put(self, frame: Frame) -> None:
        """Take a frame for a tick to come. Called on the reading thread; a dict's single operations are atomic."""
        if frame.tick < self._tick:
            self.late += 1
        elif len(frame.pcm) == len(self._silence) and len(self._frames) < _AHEAD:
            self._frames[frame.tick] = frame.pcm

    def onFrameRequested(self, frame: pj.MediaFrame) -> None:  # noqa: N802  pjsua2's name
        """Give the bridge what this tick sends."""
        try:
            pcm = self._frames.pop(self._tick, None)
            self._sent = NOTHING_SENT if pcm is None else self._tick
            frame.type = pj.PJMEDIA_FRAME_TYPE_AUDIO
            self._write(self._outgoing, pcm or self._silence)
            frame.buf = self._outgoing
            frame.size = len(self._silence)
            if self.live:
                self._clock.ask()
            if missed := self._missed.take(now_ns()):
                self.sender.skip(missed)
        except Exception as error:  # nothing may leave a callback
            self.failure = repr(error)

    def onFrameReceived(self, frame: pj.MediaFrame) -> None:  # noqa: N802  pjsua2's name
        """Tell the owner what this tick heard."""
        try:
            self._clock.keep_state()
            if not self.live:
                return
            self.tick_ns = now_ns()
            has_sound = frame.type == pj.PJMEDIA_FRAME_TYPE_AUDIO and frame.size
            pcm = self._read(frame.buf) if has_sound else b""
            self._channel.heard(self._call, self._tick, self._sent, self.tick_ns, pcm, more=self._clock.give())
            self._frames.pop(self._tick, None)
            self._tick += 1
            self._sent = NOTHING_SENT
        except Exception as error:  # nothing may leave a callback
            self.failure = repr(error)


def _vector_access() -> tuple[Callable[[pj.ByteVector], bytes], Callable[[pj.ByteVector, bytes], None]]:
    """Return functions that read and write a byte vector: straight in its memory where that is laid out as known.

    SWIG copies element by element, 240 us for a frame. A ``std::vector`` of libstdc++ begins with a pointer to its
    first element and one past its last.
    """
    sample = bytes(range(16))
    probe = pj.ByteVector(sample)
    if bytes(probe) == sample == _fast_read(probe):
        return _fast_read, _fast_write
    return bytes, _slow_write


def _bounds(vector: pj.ByteVector) -> tuple[int, int]:
    begin, end = (ctypes.c_void_p * 2).from_address(int(vector.this))
    return begin or 0, end or 0


def _fast_read(vector: pj.ByteVector) -> bytes:
    begin, end = _bounds(vector)
    return ctypes.string_at(begin, end - begin)


def _fast_write(vector: pj.ByteVector, data: bytes) -> None:
    begin, end = _bounds(vector)
    ctypes.memmove(begin, data, min(end - begin, len(data)))


def _slow_write(vector: pj.ByteVector, data: bytes) -> None:
    vector.assign(len(data), 0)
    for index, byte in enumerate(data):
        vector[index] = byte
