"""A SIP endpoint on baresip, driven by its owner's commands.

Everything here runs on one asyncio loop; the stack has its own threads, and its events arrive on the loop. It knows
fewer ways to misbehave than pjsua2: a refusal is always 486, keys are never short, nobody can ask for OPTIONS.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import baresip

from voiceharness.clock import NS, LoopClock
from voiceharness_adapters.sip.baresip_worker.configuration import extra_configuration, free_port, own_address
from voiceharness_adapters.sip.baresip_worker.log import SipTrace
from voiceharness_adapters.sip.baresip_worker.media import FRAME_MS, Pump
from voiceharness_adapters.sip.channel import now_ns

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Mapping

    from voiceharness_adapters.sip.channel import Channel
    from voiceharness_adapters.sip.wire import Frame

__all__ = ["BaresipBackend", "run"]

Fields = dict[str, Any]  # Any: what JSON can hold

_STATS_PERIOD: Final = 0.25
_SETTLES_WITHIN: Final = 0.5
_MANY_CALLS: Final = 40
_MANY_EVENTS: Final = 400
_LOG_LAG: Final = 0.05
_RELEASED: Final = "R"
_SHORTEST: Final = 0.16
_LAST_PACKET: Final = 0.02
"""Seconds until the stack releases a key that it held for the shortest time or longer."""

_IN_FLIGHT: Final = "already in flight"
"""What the library says when the peer's offer, or an earlier one, is not settled."""

_STATUS: Final = re.compile(r"\s*(?P<code>[1-6]\d\d)\s*(?P<reason>.*)")
_OF_THE_PEER: Final = frozenset(
    {baresip.Event.CALL_RINGING, baresip.Event.CALL_PROGRESS, baresip.Event.CALL_ESTABLISHED, baresip.Event.CALL_CLOSED}
)
_CODECS: Final = {"PCMU": "PCMU/8000/1", "PCMA": "PCMA/8000/1", "G722": "G722/16000/1", "OPUS": "opus/48000/2"}
_MEDIA_ENCRYPTION: Final = {"optional": "srtp", "mandatory": "srtp-mand", "dtls": "dtls_srtp"}


@dataclass(slots=True, eq=False)
class _Call:
    """A call and what runs for it."""

    number: int
    call: baresip.Call
    pump: Pump | None = None
    task: asyncio.Task[None] | None = None
    ours: bool = False
    held: bool = False
    pressed_ns: int = 0
    peer_spoke: asyncio.Event = field(default_factory=asyncio.Event)


class BaresipBackend:
    """The stack, its one user agent and its calls."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self._runtime = baresip.Runtime()
        self._agent: baresip.UserAgent | None = None
        self._calls: dict[int, _Call] = {}
        self._options: Fields = {}
        self._trace = SipTrace(channel)
        self._early_events: deque[baresip.StackEvent] = deque(maxlen=_MANY_EVENTS)
        self._next_incoming = 1
        self._settled_ns = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._do: Mapping[str, Callable[[Fields], Awaitable[Fields | None]]] = {
            "start": self._start,
            "register": self._register,
            "dial": self._dial,
            "answer": self._answer,
            "hangup": self._hangup,
            "dtmf": self._dtmf,
            "hold": self._hold,
            "resume": self._resume,
            "as_before": self._as_before,
            "transfer": self._transfer,
            "probe": self._probe,
        }

    async def serve(self) -> None:
        """Run until the owner has gone, or asks to stop; what it asked for before is done first."""
        loop, news = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            loop.call_soon_threadsafe(news.set)

        self.channel.on_command = wake
        self.channel.open()
        telling = asyncio.create_task(self._tell_statistics())
        while (command := self.channel.next_command()) or not self.channel.closed.is_set():
            if command is None:
                await news.wait()
                news.clear()
            elif command["do"] == "stop":
                break
            elif command["do"] in ("start", "dial", "answer", "hangup"):
                await self._execute(command)
            else:  # these may take as long as a key is pressed or a peer thinks
                self._run(self._execute(command))
        telling.cancel()

    def _run(self, work: Coroutine[Any, Any, None]) -> None:  # Any: a coroutine's own
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Stop the stack, once the peer has had time to answer a CANCEL; an answer that crosses it must be ended."""
        await LoopClock().sleep_until_ns(self._settled_ns)
        await self._runtime.close()

    async def _execute(self, command: Fields) -> None:
        number = command["number"]
        try:
            answer = await self._do[command["do"]](command)
        except Exception as error:  # the owner's command cannot be carried out, and it is told why
            self.channel.answer(number, error=f"{type(error).__name__}: {error}", busy=_IN_FLIGHT in str(error))
        else:
            self.channel.answer(number, **(answer or {}))

    def put(self, frame: Frame) -> None:
        """Take a frame to be sent; called on the reading thread."""
        call = self._calls.get(frame.call)
        if call is not None and call.pump is not None:
            call.pump.put(frame)

    # Starting

    async def _start(self, options: Fields) -> Fields:
        self._options = options
        port = options["port"] or free_port(options["host"])
        host = own_address(options["host"])
        logging.getLogger("baresip.native.sip").addHandler(self._trace)
        logging.getLogger("baresip.native.sip").setLevel(logging.DEBUG)
        await self._runtime.start(
            baresip.Config(
                net_interface=host,
                max_concurrent_calls=None,
                sip_trace=True,
                extra_config_text=extra_configuration(options, port),
            )
        )
        self._agent = await baresip.UserAgent.create(self._runtime, self._account(f"{host}:{port}"))
        self._runtime.subscribe(self._take_event)  # before the agent's own listener, which makes the call of it
        self._agent.on_incoming(self._incoming)
        where = port + 1 if options["transport"] == "tls" else port
        return {
            "address": f"{host}:{where}",
            "version": f"baresip-python {baresip.__version__}",
            "calls": _MANY_CALLS,
        }

    def _account(self, address: str) -> baresip.Account:
        options = self._options
        extra = [f"mediaenc={_MEDIA_ENCRYPTION[options['srtp']]}"] if options["srtp"] != "off" else []
        extra += ["answermode=manual", f"ptime={FRAME_MS}"]
        proxy = options["proxy"] or options["registrar"]
        return baresip.Account(
            user=options["user"],
            domain=options["registrar"] or address,
            password=options["password"],
            registrar=f"sip:{proxy};transport={options['transport']}" if proxy else None,
            reg_interval=options["expires"] if options["registrar"] else 0,
            transport=options["transport"],
            audio_codecs=tuple(_CODECS[name] for name in options["codecs"]),
            auth_user=options["auth_user"] or None,
            extra_params=tuple(extra),
        )

    async def _register(self, command: Fields) -> None:
        agent = self._user_agent()
        try:
            await (agent.register() if command["active"] else agent.unregister())
        except baresip.RegistrationError as error:
            self.channel.tell("registration", code=error.status or 408, reason=error.reason or str(error), expires=0)
        else:
            expires = self._options["expires"] if command["active"] else 0
            self.channel.tell("registration", code=200, reason="OK", expires=expires)

    def _user_agent(self) -> baresip.UserAgent:
        if self._agent is None:
            raise LookupError("the endpoint is not started")
        return self._agent

    # Calls

    def _take_event(self, event: baresip.StackEvent) -> None:
        """Hand an event to its call; what comes before a call is known here is kept for it."""
        taken = next((call for call in self._calls.values() if call.call.handle == event.call), None)
        if taken is not None:
            self._happened(taken, event)
        elif event.call:
            self._early_events.append(event)

    def _incoming(self, call: baresip.Call) -> None:
        number = self._next_incoming
        self._next_incoming += 2
        self._take_in(number, call)
        asyncio.get_running_loop().call_later(_LOG_LAG, self._offer, number, call)

    def _offer(self, number: int, call: baresip.Call) -> None:
        """Offer a call to the owner, once the log has told what its INVITE says."""
        target, headers = self._trace.invites.pop(call.call_id or "", ("", {}))
        self.channel.tell("incoming", call=number, user=call.peer or "", dialled=target, headers=headers)

    def _take_in(self, number: int, call: baresip.Call) -> None:
        taken = self._calls[number] = _Call(number, call)
        for event in [event for event in self._early_events if event.call == call.handle]:
            self._early_events.remove(event)
            call._on_stack_event(event)  # the library does not give a call what came before it was made
            self._happened(taken, event)
        call.on_dtmf(lambda digit: self._pressed(taken, digit))

    async def _dial(self, command: Fields) -> None:
        call = await self._user_agent().dial(command["target"], command.get("headers") or None)
        self._take_in(command["call"], call)

    async def _answer(self, command: Fields) -> None:
        taken = self._call(command)
        if command["code"] == 200:
            await taken.call.answer()
        elif command["code"] >= 300:
            await taken.call.reject()

    async def _hangup(self, command: Fields) -> None:
        taken = self._calls.get(command["call"])
        if taken is None:
            return
        taken.ours = True
        if taken.call.state is not baresip.CallState.ESTABLISHED:
            self._settled_ns = LoopClock().now_ns() + 2 * round(_SETTLES_WITHIN * NS)
        if taken.call.state is baresip.CallState.OUTGOING and not taken.peer_spoke.is_set():
            self._run(self._give_up(taken))
            return
        refuses = taken.call.state is baresip.CallState.INCOMING
        await (taken.call.reject() if refuses else taken.call.hangup())

    async def _give_up(self, taken: _Call) -> None:
        """Hang up once the peer has said anything: before that the stack sends no CANCEL, then or later."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_SETTLES_WITHIN):
                await taken.peer_spoke.wait()
        if taken.number in self._calls:
            await taken.call.hangup()

    async def _dtmf(self, command: Fields) -> None:
        if command["method"] != "rfc4733":
            raise LookupError("baresip sends digits as RTP events only")
        call = self._call(command).call
        for digit in command["digits"]:
            await call._send_digit(digit)  # what the library's own method does, with a length of one's own
            await LoopClock().sleep(max(_SHORTEST, command["ms"] / 1000 - _LAST_PACKET))
            await call._send_digit(_RELEASED)

    async def _hold(self, command: Fields) -> None:
        await self._set_hold(command, hold=True)

    async def _resume(self, command: Fields) -> None:
        await self._set_hold(command, hold=False)

    async def _set_hold(self, command: Fields, *, hold: bool) -> None:
        taken = self._call(command)
        await (taken.call.hold() if hold else taken.call.resume())
        taken.held = hold
        self._tell_media(taken, "local_hold" if hold else "active")

    async def _as_before(self, command: Fields) -> None:
        """Go on as before an offer that the peer refused: the stack acts on what it offers without waiting."""
        await self._set_hold(command, hold=not self._call(command).held)

    async def _transfer(self, command: Fields) -> None:
        taken = self._call(command)
        try:
            await taken.call.transfer(command["target"])
        except baresip.TransferFailed as error:
            self.channel.tell("transfer", call=taken.number, code=603, reason=str(error), final=True)
        else:
            self.channel.tell("transfer", call=taken.number, code=200, reason="OK", final=True)

    async def _probe(self, command: Fields) -> None:
        """Say that the peer is there: nobody can ask it, and the stack would tell its BYE."""
        self.channel.tell("alive", call=self._call(command).number, code=0)

    def _call(self, command: Fields) -> _Call:
        taken = self._calls.get(command["call"])
        if taken is None:
            raise LookupError(f"call {command['call']} has ended")
        return taken

    # What the stack tells

    def _happened(self, taken: _Call, event: baresip.StackEvent) -> None:
        if event.event in _OF_THE_PEER:
            taken.peer_spoke.set()
        match event.event:
            case baresip.Event.CALL_RINGING:
                self._tell_state(taken, "early", 180, "Ringing")
            case baresip.Event.CALL_PROGRESS:
                self._start_media(taken)
                self._tell_state(taken, "early", 183, "Session Progress")
            case baresip.Event.CALL_ESTABLISHED:
                self._start_media(taken)
                self._tell_state(taken, "confirmed", 200, "OK")
            case baresip.Event.CALL_HOLD:
                self._tell_media(taken, "remote_hold")
            case baresip.Event.CALL_RESUME:
                self._tell_media(taken, "active")
            case baresip.Event.CALL_DTMF_START:
                taken.pressed_ns = now_ns()
            case baresip.Event.CALL_TRANSFER:
                self._follow(taken)
            case baresip.Event.CALL_CLOSED:
                self._closed(taken, event.text or "")

    def _start_media(self, taken: _Call) -> None:
        if taken.pump is None:
            taken.pump = Pump(taken.number, taken.call, self._options["rate"], self.channel)
            taken.pump.on_ready = lambda: self._tell_media(taken, "active")
            taken.task = asyncio.create_task(taken.pump.run(), name=f"media of call {taken.number}")

    def _follow(self, taken: _Call) -> None:
        """Follow a REFER: the new call has the number of the old one, and its ticks go on."""

        async def follow() -> None:
            before = taken.call
            new = await before.accept_transfer()
            taken.call = new
            if taken.pump is not None:
                taken.pump.follow(new)

        self._run(follow())

    def _closed(self, taken: _Call, text: str) -> None:
        found = _STATUS.match(text)
        code, reason = (int(found["code"]), found["reason"]) if found else (200, text or "ended")
        if taken.task is not None:
            taken.task.cancel()
        self._calls.pop(taken.number, None)
        # The SIP messages come by the log, on a thread of its own; whoever hears of the end looks for the last of them.
        loop = asyncio.get_running_loop()
        loop.call_later(_LOG_LAG, self._tell_state, taken, "ended", code, reason, code if found else None)

    def _pressed(self, taken: _Call, digit: baresip.DigitEvent) -> None:
        self.channel.tell(
            "digit",
            call=taken.number,
            digit=digit.digit,
            method="rfc4733",
            ms=digit.duration_ms,
            began_ns=taken.pressed_ns,
        )

    def _tell_state(self, taken: _Call, state: str, code: int, reason: str, final: int | None = None) -> None:
        self.channel.tell(
            "state",
            call=taken.number,
            state=state,
            code=code,
            reason=reason,
            ours=taken.ours,
            sip_id=taken.call.call_id or "",
            stats=_statistics(taken),
            final=final,
        )

    def _tell_media(self, taken: _Call, status: str) -> None:
        self.channel.tell("media", call=taken.number, status=status)

    async def _tell_statistics(self) -> None:
        clock = LoopClock()
        while True:
            await clock.sleep(_STATS_PERIOD)
            for taken in list(self._calls.values()):
                if taken.pump is not None:
                    self.channel.tell("rtp", call=taken.number, stats=_statistics(taken))


def _statistics(taken: _Call) -> Fields:
    """Return what the stack counts; while the call lasts it counts frames that were heard, not packets."""
    pump, final = taken.pump, taken.call.final_stats
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
        "jitter_ms": final.rx_jitter_ms or final.jbuf_jitter_ms or 0.0,
        "sent": final.tx_packets,
        "sent_lost": final.tx_lost,
        "round_trip_ms": final.rtt_ms,
    }


def run(channel: Channel) -> None:
    """Serve the owner until it has had enough; does not return."""
    asyncio.run(_serve(channel))
    channel.finish()
    os._exit(0)


async def _serve(channel: Channel) -> None:
    backend = BaresipBackend(channel)
    channel.on_frame = backend.put
    await backend.serve()
    await backend.close()
