"""The timestamps of what is sent: moved on over ticks that pjsua2's media clock left out.

A stream counts its timestamps by the frames it is given. When the clock leaves ticks out, what is sent after that says
that no time has passed. A stream that is paused counts the frames it is given, too, but sends none; so it is paused for
a moment and given a frame for each tick that is missing, by functions that the library exports (pjmedia/stream.h and
pjmedia/port.h). Nothing here writes to its structures.
"""

from __future__ import annotations

import ctypes
from functools import cache
from threading import Lock
from typing import Final

import pjsua2 as pj

from voiceharness_adapters.sip.pjsua2_worker.rtp_session import is_checked

__all__ = ["RtpClock"]

_ENCODING: Final = 1
"""PJMEDIA_DIR_ENCODING."""


class _Frame(ctypes.Structure):
    """``pjmedia_frame``; all 0 is a frame without sound, of the stream's own length."""

    _fields_ = (
        ("type", ctypes.c_int),
        ("buf", ctypes.c_void_p),
        ("size", ctypes.c_size_t),
        ("timestamp", ctypes.c_uint64),
        ("bit_info", ctypes.c_uint32),
    )


class RtpClock:
    """The sending stream of a call, if it sends. The lock keeps the stream in being while it is used."""

    def __init__(self) -> None:
        self._stream: int | None = None
        self._lock = Lock()

    def follow(self, stream: int) -> None:
        """Move on the timestamps of this stream from now on, by its address."""
        with self._lock:
            self._stream = stream if is_checked() else None

    def leave(self, stream: int | None) -> None:
        """Touch a stream no more: it does not send, or is about to go."""
        with self._lock:
            if stream == self._stream:
                self._stream = None

    def skip(self, ticks: int) -> None:
        """Move on over so many ticks. Called on the clock's thread, which gives the stream its frames."""
        with self._lock:
            if self._stream is None:
                return
            library, port, frame = _library(), ctypes.c_void_p(), _Frame()
            library.pjmedia_stream_get_port(self._stream, ctypes.byref(port))
            library.pjmedia_stream_pause(self._stream, _ENCODING)
            for _ in range(ticks):
                library.pjmedia_port_put_frame(port, ctypes.byref(frame))
            library.pjmedia_stream_resume(self._stream, _ENCODING)


@cache
def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(pj._pjsua2.__file__)
    library.pjmedia_stream_get_port.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p)]
    library.pjmedia_stream_pause.argtypes = [ctypes.c_void_p, ctypes.c_int]
    library.pjmedia_stream_resume.argtypes = [ctypes.c_void_p, ctypes.c_int]
    library.pjmedia_port_put_frame.argtypes = [ctypes.c_void_p, ctypes.POINTER(_Frame)]
    return library
