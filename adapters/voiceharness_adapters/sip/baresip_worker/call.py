"""One call of the baresip worker: what its owner asks of it, and what it tells its owner."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import baresip

from voiceharness.clock import LoopClock
from voiceharness_adapters.sip.baresip_worker.media import FRAME_MS, Pump
from voiceharness_adapters.sip.channel import now_ns

if TYPE_CHECKING:
    from voiceharness_adapters.sip.channel import Channel

__all__ = ["WorkerCall"]

Fields = dict[str, Any]  # Any: what JSON can hold

_RELEASED: Final = "R"
_SHORTEST: Final = 0.16
_LAST_PACKET: Final = 0.02
"""Seconds until the stack releases a key that it held for the shortest time or longer."""


@dataclass(slots=True, eq=False)
class WorkerCall:
    """A call and what runs for it. ``ours`` is set once the owner asked for its end, ``answered`` by a final answer."""

    number: int
    call: baresip.Call
    channel: Channel
    pump: Pump | None = None
    task: asyncio.Task[None] | None = None
    ours: bool = False
    answered: bool = False
    held: bool = False
    pressed_ns: int = 0
    peer_spoke: asyncio.Event = field(default_factory=asyncio.Event)

    # What the owner asks for

    async def dtmf(self, command: Fields) -> None:
        """Press keys, one after another."""
        if command["method"] != "rfc4733":
            raise LookupError("baresip sends digits as RTP events only")
        call = self.call
        for digit in command["digits"]:
            await call._send_digit(digit)  # what the library's own method does, with a length of one's own
            await LoopClock().sleep(max(_SHORTEST, command["ms"] / 1000 - _LAST_PACKET))
            await call._send_digit(_RELEASED)

    async def hold(self, _command: Fields) -> None:
        """Offer to hold the call; the stack acts on its own offers without waiting for the answer."""
        await self._set_hold(hold=True)

    async def resume(self, _command: Fields) -> None:
        """Offer to take the call up again."""
        await self._set_hold(hold=False)

    async def as_before(self, _command: Fields) -> None:
        """Go on as before the last offer: the peer refused it."""
        await self._set_hold(hold=not self.held)

    async def _set_hold(self, *, hold: bool) -> None:
        await (self.call.hold() if hold else self.call.resume())
        self.held = hold
        self.tell_media("local_hold" if hold else "active")

    async def transfer(self, command: Fields) -> None:
        """Refer the peer elsewhere, and tell how it got on."""
        try:
            await self.call.transfer(command["target"])
        except baresip.TransferFailed as error:
            self._tell("transfer", code=603, reason=str(error), final=True)
        else:
            self._tell("transfer", code=200, reason="OK", final=True)

    async def probe(self, _command: Fields) -> None:
        """Say that the peer is there: nobody can ask it, and the stack would tell its BYE."""
        self._tell("alive", code=0)

    # What the stack does with it

    def start_media(self, rate: int) -> None:
        """Begin to send and to hear; once."""
        if self.pump is None:
            self.pump = Pump(self.number, self.call, rate, self.channel)
            self.pump.on_ready = lambda: self.tell_media("active")
            self.task = asyncio.create_task(self.pump.run(), name=f"media of call {self.number}")

    async def follow(self) -> None:
        """Follow a REFER: the new call has the number of the old one, and its ticks go on."""
        new = await self.call.accept_transfer()
        self.call = new
        if self.pump is not None:
            self.pump.follow(new)

    def pressed(self, digit: baresip.DigitEvent) -> None:
        """Tell a key of the peer, once it is released."""
        self._tell("digit", digit=digit.digit, method="rfc4733", ms=digit.duration_ms, began_ns=self.pressed_ns)

    async def finish(self) -> None:
        """Let the last ticks hear what came before the call ended."""
        if self.pump is not None and self.task is not None:
            self.pump.finish()
            await asyncio.wait({self.task})

    async def hang_up(self) -> None:
        """End an answered call once all that was given to be said has left."""
        if self.pump is not None:
            await self.pump.sent()
        if self.call.state is baresip.CallState.ESTABLISHED:
            await self.call.hangup()

    # What the owner is told

    def tell_state(
        self, state: str, code: int, reason: str, *, final: int | None = None, at_ns: int | None = None
    ) -> None:
        """Tell where the call is, since when (None: now), with the SIP status that brought it there."""
        sip_id, at_ns = self.call.call_id or "", now_ns() if at_ns is None else at_ns
        self._tell(
            "state", state=state, code=code, reason=reason, ours=self.ours,
            sip_id=sip_id, stats=self.statistics(), final=final, at_ns=at_ns,
        )  # fmt: skip

    def tell_media(self, status: str) -> None:
        """Tell whether sound flows."""
        self._tell("media", status=status)

    def tell_statistics(self) -> None:
        """Tell what was counted so far, once there is sound."""
        if self.pump is not None:
            self._tell("rtp", stats=self.statistics())

    def _tell(self, event: str, **fields: object) -> None:
        self.channel.tell(event, call=self.number, **fields)

    def statistics(self) -> Fields:
        """Return what the stack counts; while the call lasts it counts frames that were heard, not packets."""
        pump, final = self.pump, self.call.final_stats
        if pump is None:
            return {}
        reserve = pump.reserve
        own: Fields = {
            "late": pump.late,
            "frame_ms": FRAME_MS,
            "received": reserve.heard,
            "lost": max(0, reserve.lost),
            "discarded": reserve.late,
            "buffer_empty": reserve.begun,
        }
        if final is None:
            return own
        return own | {
            "received": final.rx_packets,
            "lost": final.rx_lost if final.jbuf_lost is None else final.jbuf_lost,
            "discarded": max(reserve.late, final.jbuf_late or 0),
            "jitter_ms": final.rx_jitter_ms or final.jbuf_jitter_ms or 0.0,
            "sent": final.tx_packets,
            "sent_lost": final.tx_lost,
            "round_trip_ms": final.rtt_ms,
        }
