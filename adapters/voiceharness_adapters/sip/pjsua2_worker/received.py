"""What the packets of one received stream tell, look by look: another source, late packets, a clock that lags."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from voiceharness_adapters.sip.lateness import LateWatch
from voiceharness_adapters.sip.pjsua2_worker.rtp_session import RtpSession
from voiceharness_adapters.sip.skew import SkewMeter
from voiceharness_adapters.sip.sources import SourceWatch

if TYPE_CHECKING:
    import pjsua2 as pj

    from voiceharness_adapters.sip.lateness import Late
    from voiceharness_adapters.sip.sources import SourceChange

__all__ = ["BufferState", "ReceivedStream", "figures_of"]


@dataclass(frozen=True, slots=True)
class BufferState:
    """Packets that came so far, how much sound waits, and how often a tick found none."""

    packets: int
    waiting_ns: int
    dry: int


class ReceivedStream:
    """One stream, from ``onStreamCreated`` to ``onStreamDestroyed``; to be looked at on the main thread."""

    def __init__(self, session: RtpSession) -> None:
        self._session = session
        self._sources = SourceWatch()
        self._lateness = LateWatch()
        self._skew = SkewMeter()
        self._sound_ns: int | None = None

    @classmethod
    def of(cls, stream: int) -> ReceivedStream | None:
        """Return a stream by its address; None: the library tells nothing of it."""
        session = RtpSession.of(stream)
        return None if session is None else cls(session)

    @property
    def skew_ms(self) -> float:
        """By how many milliseconds packets come later than at first, by their timestamps."""
        return self._skew.skew_ns / 1e6

    def buffer(self, frame_ns: int) -> BufferState:
        """Return what the jitter buffer holds, in frames of so many nanoseconds."""
        packets, frames, dry = self._session.buffered()
        return BufferState(packets, frames * frame_ns, dry)

    def look(self, at_ns: int) -> tuple[SourceChange | None, Late | None]:
        """Look at what has come by now; return what it shows."""
        packets = self._session.look()
        if packets is None:
            self._lateness.take_nothing(at_ns)
            return None, None
        change = self._sources.take(packets.source, at_ns)
        if packets.sound_ns != self._sound_ns:
            self._sound_ns = packets.sound_ns
            self._skew.take(packets.sound_ns, at_ns)
        return change, self._lateness.take(packets.packets, packets.sound_ns, at_ns)


def figures_of(stat: pj.StreamStat) -> dict[str, float]:
    """Return what the library counts of a stream, in packets and milliseconds."""
    received, sent = stat.rtcp.rxStat, stat.rtcp.txStat
    return {
        "received": received.pkt,
        "lost": received.loss,
        "doubled": received.dup,
        "discarded": received.discard,
        "jitter_ms": received.jitterUsec.mean / 1000,
        "jitter_max_ms": received.jitterUsec.max / 1000,
        "jitter_last_ms": received.jitterUsec.last / 1000,
        "sent": sent.pkt,
        "sent_lost": sent.loss,
        "sent_jitter_ms": sent.jitterUsec.mean / 1000,
        "round_trip_ms": stat.rtcp.rttUsec.mean / 1000,
        "buffer_ms": stat.jbuf.avgDelayMsec,
        "buffer_lost": stat.jbuf.lost,
        "buffer_empty": stat.jbuf.empty,
    }
