"""One call of the pjsua2 worker: its SIP legs, and the audio port that outlives them.

A call keeps its number and its port from the first INVITE to the last BYE. When the agent refers it elsewhere (RFC
3515) the new leg takes the port over, so the tick count goes on. All methods and callbacks run on the main thread, the
only one that calls the library.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import pjsua2 as pj

from voiceharness_adapters.sip.arrivals import ArrivalMeter
from voiceharness_adapters.sip.channel import now_ns
from voiceharness_adapters.sip.pjsua2_worker.media import FRAME_MS, TickPort
from voiceharness_adapters.sip.pjsua2_worker.received import BufferState, ReceivedStream, figures_of

if TYPE_CHECKING:
    from voiceharness_adapters.sip.pjsua2_worker.backend import Pjsua2Backend

__all__ = ["Leg", "WorkerCall"]

_REASON: Final = re.compile(r"(?im)^Reason\s*:\s*(?P<value>[^\r\n]+)")
_REASON_TEXT: Final = re.compile(r'text\s*=\s*"(?P<text>[^"]*)"')
_LOOK_NS: Final = 10_000_000
_DTMF_END: Final = 2

MEASURED: Final = 5
"""Ticks by which it is measured how long packets wait, when a stream begins."""

MEASURED_AGAIN: Final = 3
"""The same, after the buffer ran dry."""

_STATES: Final = {
    pj.PJSIP_INV_STATE_CALLING: "calling",
    pj.PJSIP_INV_STATE_INCOMING: "incoming",
    pj.PJSIP_INV_STATE_EARLY: "early",
    pj.PJSIP_INV_STATE_CONNECTING: "connecting",
    pj.PJSIP_INV_STATE_CONFIRMED: "confirmed",
    pj.PJSIP_INV_STATE_DISCONNECTED: "ended",
}
_MEDIA: Final = {
    pj.PJSUA_CALL_MEDIA_NONE: "none",
    pj.PJSUA_CALL_MEDIA_ACTIVE: "active",
    pj.PJSUA_CALL_MEDIA_LOCAL_HOLD: "local_hold",
    pj.PJSUA_CALL_MEDIA_REMOTE_HOLD: "remote_hold",
    pj.PJSUA_CALL_MEDIA_ERROR: "error",
}


@dataclass(slots=True, eq=False)
class _Digit:
    """A digit that is being received."""

    digit: str
    began_ns: int
    duration_ms: int = 0


@dataclass(slots=True, eq=False)
class WorkerCall:
    """What the owner calls a call. ``ours`` is set once the owner asked for its end.

    ``referred`` is the leg that a REFER asks for, until the library has begun it; it may be unable to.
    """

    number: int
    backend: Pjsua2Backend
    port: TickPort
    leg: Leg | None = None
    old_legs: list[Leg] = field(default_factory=list)
    referred: Leg | None = None
    ours: bool = False
    reason: str = ""
    stats: dict[str, Any] = field(default_factory=dict)  # Any: what JSON can hold
    digit: _Digit | None = None
    meter: ArrivalMeter | None = None
    looked_ns: int = 0
    packets_looked_ns: int = 0
    dry: int = 0

    def tell(self, event: str, **fields: object) -> None:
        """Send an event of this call."""
        self.backend.channel.tell(event, call=self.number, **fields)

    def refer(self, leg: Leg) -> None:
        """Have a leg for the library to begin."""
        before, self.referred = self.referred, leg
        if before is not None:
            self.backend.free_soon(before)

    def take_over(self) -> None:
        """Go on with the leg that was begun: the one before it no longer counts."""
        if self.leg is not None:
            self.old_legs.append(self.leg)
        self.leg, self.referred = self.referred, None

    def dtmf(self, digit: str, duration_ms: int, flags: int) -> None:
        """Take one report of a digit; the last of a digit says how long it was."""
        if not flags and self.digit is not None:
            self.end_digit()
        if self.digit is None:
            self.digit = _Digit(digit, now_ns())
        self.digit.duration_ms = duration_ms
        if flags & _DTMF_END:
            self.end_digit()

    def end_digit(self, method: str = "rfc4733") -> None:
        """Tell the digit that was being received: once, with its begin and its length."""
        digit, self.digit = self.digit, None
        if digit is not None:
            self.tell("digit", digit=digit.digit, method=method, ms=digit.duration_ms, began_ns=digit.began_ns)

    def begin_to_measure(self, enough: int) -> None:
        """Find out how long packets wait, by so many ticks; until then nobody knows."""
        self.meter = ArrivalMeter(enough, started_ns=now_ns())
        self.tell("unsettled")

    def look_at_buffer(self) -> None:
        """Look at the arriving packets once more; tell how long they wait when that is known.

        While that is known, one look at each tick is enough, to see that the buffer has run dry: what comes after has
        waited for another time.
        """
        self._look_at_packets()
        tick_ns = self.port.tick_ns
        if self.leg is None or (self.meter is None and tick_ns == self.looked_ns):
            return
        self.looked_ns = tick_ns
        state = self.leg.buffer()
        if state is None:
            return
        dry, self.dry = self.dry, state.dry
        if self.meter is None:
            if state.dry > dry:
                self.begin_to_measure(MEASURED_AGAIN)
            return
        if self.meter.take(state.packets, state.waiting_ns, now_ns(), tick_ns):
            self.tell("unsettled")
        if self.meter.done:
            self.tell("wait", seconds=self.meter.wait)
            self.meter = None

    def _look_at_packets(self) -> None:
        """Look at what has come twice in a tick: more looks would know times better, but hold up the other threads."""
        received = None if self.leg is None else self.leg.received
        now = now_ns()
        if received is None or now - self.packets_looked_ns < _LOOK_NS:
            return
        self.packets_looked_ns = now
        change, late = received.look(now)
        if change is not None:
            self.tell("rtp_fault", kind="rtp_source_changed", detail=str(change))
        if late is not None:
            self.tell("rtp_late", packets=late.packets, most_ns=late.most_ns, due_ns=late.due_ns)

    def keep_stats(self) -> None:
        """Ask for the RTP statistics while there is a stream."""
        if self.leg is not None:
            self.stats = self.leg.statistics() or self.stats
            self.leg.watch_source()


class Leg(pj.Call):
    """One SIP dialog of a call."""

    def __init__(self, account: pj.Account, call: WorkerCall, call_id: int = pj.PJSUA_INVALID_ID) -> None:
        super().__init__(account, call_id)
        self.call = call
        self.account = account
        self.connected_to: pj.AudioMedia | None = None
        self.stream: int | None = None
        self.address: int | None = None
        self.received: ReceivedStream | None = None
        self.source = ""
        self.frame_ns = 0

    # What the library tells

    def onCallState(self, prm: pj.OnCallStateParam) -> None:  # noqa: N802  pjsua2's name
        """Tell the owner of each state; an old leg's end is not the call's."""
        self.call.backend.guard(self._state)

    def onCallTsxState(self, prm: pj.OnCallTsxStateParam) -> None:  # noqa: N802  pjsua2's name
        """Keep the reason of a BYE (RFC 3326); tell the answer to OPTIONS."""
        self.call.backend.guard(lambda: self._transaction(prm))

    def onCallMediaState(self, prm: pj.OnCallMediaStateParam) -> None:  # noqa: N802  pjsua2's name
        """Connect the port to the audio stream, whichever media line it is."""
        self.call.backend.guard(self._media)

    def onStreamCreated(self, prm: pj.OnStreamCreatedParam) -> None:  # noqa: N802  pjsua2's name
        """Note the stream's address, under which the log speaks of it and its packets can be looked at."""
        self.call.backend.guard(lambda: self._begin_stream(_address(prm.stream)))

    def onStreamDestroyed(self, prm: pj.OnStreamDestroyedParam) -> None:  # noqa: N802  pjsua2's name
        """Look no more at a stream that is about to go."""
        self.call.backend.guard(lambda: self._end_stream(_address(prm.stream)))

    def onDtmfEvent(self, prm: pj.OnDtmfEventParam) -> None:  # noqa: N802  pjsua2's name
        """Take a report of a digit: RFC 4733 tells several of one, SIP INFO one."""
        digit, ms, flags, method = prm.digit, prm.duration, prm.flags, prm.method
        self.call.backend.guard(lambda: self._digit(digit, ms, flags, method))

    def onCallTransferRequest(self, prm: pj.OnCallTransferRequestParam) -> None:  # noqa: N802  pjsua2's name
        """Follow a REFER: the new leg is this call once it has begun."""
        leg = Leg(self.account, self.call)
        self.call.refer(leg)
        prm.newCall = leg
        self.call.tell("referred", target=prm.dstUri)

    def onCallReplaceRequest(self, prm: pj.OnCallReplaceRequestParam) -> None:  # noqa: N802  pjsua2's name
        """Decline a call that is to replace this one (RFC 3891): the library would answer it, and nobody hear it."""
        prm.statusCode = pj.PJSIP_SC_DECLINE

    def onCallTransferStatus(self, prm: pj.OnCallTransferStatusParam) -> None:  # noqa: N802  pjsua2's name
        """Tell how the peer gets on with our REFER."""
        self.call.tell("transfer", code=prm.statusCode, reason=prm.reason, final=prm.finalNotify)

    # What it means

    def _state(self) -> None:
        info = self.getInfo()
        state = _STATES.get(info.state, "calling")
        call = self.call
        if self is call.referred:
            call.take_over()
        if state == "ended":
            self._forget_stream()  # from here on the library does not say when it goes
        if (state == "ended" and self._is_only_a_part(info.lastStatusCode)) or self is not call.leg:
            return
        if state == "ended":
            call.end_digit()
            call.backend.bury(call)
        reason = (call.reason if state == "ended" else "") or info.lastReason
        call.tell(
            "state",
            state=state,
            code=info.lastStatusCode,
            reason=reason,
            ours=call.ours,
            sip_id=info.callIdString,
            stats=call.stats,
        )

    def _is_only_a_part(self, code: int) -> bool:
        """Say whether the call goes on without this leg: on the one it was referred to, or back on the one before."""
        call = self.call
        if self in call.old_legs:
            call.old_legs.remove(self)
            if self.connected_to is not None:  # the leg after it has no sound yet
                call.tell("media", status="none")
        elif call.old_legs and not call.ours:
            call.leg = call.old_legs.pop()
            call.tell("refer_failed", code=code)
            call.leg.reconnect()
        else:
            return False
        call.backend.free_soon(self)
        return True

    def reconnect(self) -> None:
        """Take the port back."""
        self.call.backend.guard(self._media)

    def _transaction(self, prm: pj.OnCallTsxStateParam) -> None:
        event = prm.e.body.tsxState
        if event.type == pj.PJSIP_EVENT_RX_MSG:
            text = event.src.rdata.wholeMsg
            if text.startswith("BYE ") and (found := _REASON.search(text)):
                quoted = _REASON_TEXT.search(found["value"])
                self.call.reason = quoted["text"] if quoted else found["value"].strip()
            if event.tsx.method == "OPTIONS" and text.startswith("SIP/2.0"):
                self.call.tell("alive", code=event.tsx.statusCode)

    def _begin_stream(self, address: int) -> None:
        self.call.backend.note_stream(address, self.call.number)
        self.address, self.received = address, ReceivedStream.of(address)

    def _end_stream(self, address: int) -> None:
        if address == self.address:
            self._forget_stream()

    def _forget_stream(self) -> None:
        self.call.port.sender.leave(self.address)
        self.address = self.received = None

    def _media(self) -> None:
        info = self.getInfo()  # must live as long as what is read from it
        for position, media in enumerate(info.media):
            if media.type == pj.PJMEDIA_TYPE_AUDIO and media.status != pj.PJSUA_CALL_MEDIA_NONE:
                self._audio(position, media.index, _MEDIA.get(media.status, "none"))
                return
        self.call.tell("media", status="none")

    def _audio(self, position: int, index: int, status: str) -> None:
        """Take the audio line: the library knows its port by its place among the lines it can serve, all else by its
        place in the session description.
        """
        self.stream = index
        if status in ("active", "remote_hold"):
            self._connect_audio(self.getAudioMedia(position))
        self.call.port.sender.leave(self.address)
        fields: dict[str, object] = {}
        if status == "active":
            if self.address is not None:
                self.call.port.sender.follow(self.address)
            stream = self.getStreamInfo(index)
            codec = stream.audCodecParam
            self.source = stream.remoteRtpAddress
            self.frame_ns = codec.info.frameLen * 1_000_000
            self.call.begin_to_measure(MEASURED)
            fields = {
                "codec": stream.codecName,
                "codec_rate": stream.codecClockRate,
                "ptime_ms": codec.info.frameLen * codec.setting.frmPerPkt,
                "peer": stream.remoteRtpAddress,
                "srtp": bool(stream.proto & pj.PJMEDIA_TP_PROFILE_SRTP),
            }
        self.call.tell("media", status=status, **fields)

    def _connect_audio(self, media: pj.AudioMedia) -> None:
        for leg in self.call.old_legs:
            leg.disconnect_audio()
        self.connected_to = media
        self.call.port.startTransmit(media)
        media.startTransmit(self.call.port)

    def disconnect_audio(self) -> None:
        """Take this leg's stream from the port."""
        media, self.connected_to = self.connected_to, None
        if media is None:
            return
        try:
            self.call.port.stopTransmit(media)
            media.stopTransmit(self.call.port)
        except pj.Error:
            pass  # the stream has gone by itself

    def _digit(self, digit: str, ms: int, flags: int, method: int) -> None:
        if method == pj.PJSUA_DTMF_METHOD_SIP_INFO:
            self.call.digit = _Digit(digit, now_ns(), ms)
            self.call.end_digit("info")
        else:
            self.call.dtmf(digit, ms, flags)

    def buffer(self) -> BufferState | None:
        """Return what the jitter buffer holds, while there is a stream."""
        if self.received is not None:
            return self.received.buffer(self.frame_ns)
        stat = self._stream_stat()
        if stat is None:
            return None
        return BufferState(int(stat.rtcp.rxStat.pkt), stat.jbuf.size * self.frame_ns, int(stat.jbuf.empty))

    def watch_source(self) -> None:
        """Tell when media comes from another address than was told, and now is answered there."""
        if not self.source or self.stream is None or not self.isActive():
            return
        source = self.getMedTransportInfo(self.stream).srcRtpName
        if source and source != self.source:
            before, self.source = self.source, source
            detail = f"media comes from {source}, not from {before}"
            self.call.tell("rtp_fault", kind="rtp_address_changed", detail=detail)

    def _stream_stat(self) -> pj.StreamStat | None:
        if self.stream is None or not self.isActive():
            return None
        try:
            return self.getStreamStat(self.stream)
        except pj.Error:
            return None  # the stream is just being made anew

    def statistics(self) -> dict[str, Any] | None:  # Any: what JSON can hold
        """Return the RTP statistics of the audio stream, or None while there is none."""
        stat = self._stream_stat()
        if stat is None:
            return None
        return {
            **figures_of(stat),
            "reordered": self.call.backend.reordered(self.call.number),
            "late": self.call.port.late,
            "frame_ms": FRAME_MS,
            **({} if self.received is None else {"skew_ms": self.received.skew_ms}),
        }


def _address(stream: object) -> int:
    """Return the address that a SWIG pointer holds."""
    address: int = int(getattr(stream, "this", stream))  # type: ignore[call-overload] # it is a number
    return address
