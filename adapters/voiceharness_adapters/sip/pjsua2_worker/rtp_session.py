"""What pjsua2 knows of a stream's packets and tells nobody: their source, how many came, the latest timestamp.

The wheel's library exports the C functions of pjmedia. ``pjmedia_stream_get_rtp_session_info`` (pjmedia/stream.h) gives
pointers to the structures that a stream keeps of its packets. They are declared here as they stand in
pjmedia/rtp.h and pjmedia/rtcp.h of pjproject, as far as they are read, and were compared with what calls of known
packets leave there. Nothing here writes to them. The state of the jitter buffer is asked here as well, by
``pjmedia_stream_get_stat_jbuf`` (pjmedia/jbuf.h): pjsua2 tells it, too, but with a lot else that takes time.

With any other version nothing is read, for its structures may be laid out otherwise. A stream may only be asked on the
main thread, and never after ``onStreamDestroyed``.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import cache
from typing import Final

import pjsua2 as pj

from voiceharness.protocols.rtp import timestamp_step

__all__ = ["CHECKED_VERSION", "Packets", "RtpSession", "is_checked"]

CHECKED_VERSION: Final = "2.15.1"
"""The version of the library that these structures were checked with."""

_NS: Final = 1_000_000_000
_SUCCESS: Final = 0


class _Sequence(ctypes.Structure):
    """``pjmedia_rtp_seq_session``."""

    _fields_ = (
        ("max_seq", ctypes.c_uint16),
        ("cycles", ctypes.c_uint32),
        ("base_seq", ctypes.c_uint32),
        ("bad_seq", ctypes.c_uint32),
        ("probation", ctypes.c_uint32),
    )


class _Rtp(ctypes.Structure):
    """``pjmedia_rtp_session``."""

    _fields_ = (
        ("out_hdr", ctypes.c_uint32 * 3),
        ("seq_ctrl", _Sequence),
        ("out_pt", ctypes.c_uint16),
        ("out_extseq", ctypes.c_uint32),
        ("has_peer_ssrc", ctypes.c_int),
        ("peer_ssrc", ctypes.c_uint32),
        ("received", ctypes.c_uint32),
    )


class _Rtcp(ctypes.Structure):
    """The beginning of ``pjmedia_rtcp_session``; ``unnamed`` is in no header that was at hand, but in the memory."""

    _fields_ = (
        ("name", ctypes.c_void_p),
        ("rtcp_sr_pkt", ctypes.c_uint32 * 13),
        ("rtcp_rr_pkt", ctypes.c_uint32 * 8),
        ("rtcp_fb_com", ctypes.c_uint32 * 3),
        ("seq_ctrl", _Sequence),
        ("rtp_last_ts", ctypes.c_uint32),
        ("clock_rate", ctypes.c_uint32),
        ("pkt_size", ctypes.c_uint32),
        ("unnamed", ctypes.c_uint32),
        ("received", ctypes.c_uint32),
    )


class _Info(ctypes.Structure):
    """``pjmedia_stream_rtp_sess_info``."""

    _fields_ = (
        ("rx_rtp", ctypes.POINTER(_Rtp)),
        ("tx_rtp", ctypes.POINTER(_Rtp)),
        ("rtcp", ctypes.POINTER(_Rtcp)),
    )


class _BufferState(ctypes.Structure):
    """``pjmedia_jb_state``: the state of a jitter buffer, and what it counted; and room, should it be longer."""

    _fields_ = (
        ("settings", ctypes.c_uint32 * 4),
        ("burst", ctypes.c_uint32),
        ("prefetch", ctypes.c_uint32),
        ("size", ctypes.c_uint32),
        ("delays", ctypes.c_uint32 * 4),
        ("avg_burst", ctypes.c_uint32),
        ("lost", ctypes.c_uint32),
        ("discard", ctypes.c_uint32),
        ("empty", ctypes.c_uint32),
        ("room", ctypes.c_uint32 * 16),
    )


@dataclass(frozen=True, slots=True)
class Packets:
    """Packets that came so far, and how much sound they are by their timestamps; the source of the latest.

    The count begins anew where the sequence numbers jump.
    """

    packets: int
    sound_ns: int
    source: int


class RtpSession:
    """The received packets of one stream, while it lives."""

    def __init__(self, stream: int, info: _Info) -> None:
        self._stream = stream
        self._rtp: _Rtp = info.rx_rtp.contents
        self._rtcp: _Rtcp = info.rtcp.contents
        self._buffer = _BufferState()
        self._packets = 0
        self._timestamp: int | None = None
        self._units = 0

    @classmethod
    def of(cls, stream: int) -> RtpSession | None:
        """Return the packets of a stream by the address that ``onStreamCreated`` gives.

        None: this version of the library has not been checked, or the stream is not one.
        """
        if not is_checked():
            return None
        info = _Info()
        found = _library().pjmedia_stream_get_rtp_session_info(stream, ctypes.byref(info)) == _SUCCESS
        return cls(stream, info) if found else None

    def look(self) -> Packets | None:
        """Return what has come so far; None: nothing since the look before."""
        packets, timestamp = self._rtcp.received, self._rtcp.rtp_last_ts  # one is set right after the other
        if not packets or (packets == self._packets and timestamp == self._timestamp):
            return None
        self._packets = packets
        if self._timestamp is not None:
            self._units += timestamp_step(self._timestamp, timestamp)
        self._timestamp = timestamp
        return Packets(packets, self._units * _NS // self._rtcp.clock_rate, self._rtp.peer_ssrc)

    def buffered(self) -> tuple[int, int, int]:
        """Return packets that came so far, frames that wait in the jitter buffer, and how often it was found empty."""
        _library().pjmedia_stream_get_stat_jbuf(self._stream, ctypes.byref(self._buffer))
        return self._rtcp.received, self._buffer.size, self._buffer.empty


def is_checked() -> bool:
    """Say whether the library is the one that was checked."""
    return bool(pj.Endpoint.instance().libVersion().full == CHECKED_VERSION)


@cache
def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(pj._pjsua2.__file__)
    library.pjmedia_stream_get_rtp_session_info.argtypes = [ctypes.c_void_p, ctypes.POINTER(_Info)]
    library.pjmedia_stream_get_stat_jbuf.argtypes = [ctypes.c_void_p, ctypes.POINTER(_BufferState)]
    return library
