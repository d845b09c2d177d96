"""What the packets of one received stream tell, look by look: another source, late packets, a clock that lags."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from voiceharness_adapters.sip.lateness import LateWatch
from voiceharness_adapters.sip.pjsua2_worker.rtp_session import RtpSession
from voiceharness_adapters.sip.skew import SkewMeter
from voiceharness_adapters.sip.sources import SourceWatch

if TYPE_CHECKING:
    from voiceharness_adapters.sip.lateness import Late
    from voiceharness_adapters.sip.sources import SourceChange

__all__ = ["BufferState", "ReceivedStream"]


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

    def buffered(self) -> tuple[int, int, int]:
        """Return packets that came so far, frames that wait in the jitter buffer, and how often it was found empty."""
        return self._session.buffered()

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
