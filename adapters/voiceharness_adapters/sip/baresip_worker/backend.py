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
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import baresip

from voiceharness.clock import NS, LoopClock
from voiceharness_adapters.sip.baresip_worker.call import WorkerCall
from voiceharness_adapters.sip.baresip_worker.configuration import extra_configuration, free_port, own_address
from voiceharness_adapters.sip.baresip_worker.log import SipTrace
from voiceharness_adapters.sip.baresip_worker.media import FRAME_MS
from voiceharness_adapters.sip.certificates import with_its_key
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
_LOG_LAG: Final = 0.5
"""Seconds that the log may take to tell what has happened; it need not ever, of a peer that has gone."""


_IN_FLIGHT: Final = "already in flight"
"""What the library says when the peer's offer, or an earlier one, is not settled."""

_STATUS: Final = re.compile(r"\s*(?P<code>[1-6]\d\d)\s*(?P<reason>.*)")
_OF_THE_PEER: Final = frozenset(
    {baresip.Event.CALL_RINGING, baresip.Event.CALL_PROGRESS, baresip.Event.CALL_ESTABLISHED, baresip.Event.CALL_CLOSED}
)
_CODECS: Final = {"PCMU": "PCMU/8000/1", "PCMA": "PCMA/8000/1", "G722": "G722/16000/1", "OPUS": "opus/48000/2"}
_MEDIA_ENCRYPTION: Final = {"optional": "srtp", "mandatory": "srtp-mand", "dtls": "dtls_srtp"}


_IN_A_CALL: Final[Mapping[str, Callable[[WorkerCall, Fields], Awaitable[None]]]] = {
    "dtmf": WorkerCall.dtmf,
    "hold": WorkerCall.hold,
    "resume": WorkerCall.resume,
    "as_before": WorkerCall.as_before,
    "transfer": WorkerCall.transfer,
    "probe": WorkerCall.probe,
}


class BaresipBackend:
    """The stack, its one user agent and its calls."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self._runtime = baresip.Runtime()
        self._agent: baresip.UserAgent | None = None
        self._calls: dict[int, WorkerCall] = {}
        self._options: Fields = {}
        self._trace = SipTrace(channel)
        self._early_events: deque[baresip.StackEvent] = deque(maxlen=_MANY_EVENTS)
        self._next_incoming = 1
        self._settled_ns = 0
        self._registered = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._do: Mapping[str, Callable[[Fields], Awaitable[Fields | None]]] = {
            "start": self._start,
            "register": self._register,
            "dial": self._dial,
            "answer": self._answer,
            "hangup": self._hangup,
            **{do: partial(self._in_call, ask) for do, ask in _IN_A_CALL.items()},
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
        """End the calls that go on, and stop the stack once the peer has had time to answer a CANCEL.

        An answer that crosses it must be ended.
        """
        for number in list(self._calls):
            with suppress(baresip.BaresipError):  # it ends by itself
                await self._hangup({"call": number})
        with suppress(TimeoutError):
            async with asyncio.timeout(_SETTLES_WITHIN):
                await asyncio.gather(*self._tasks, return_exceptions=True)
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
        with with_its_key(options["tls_certificate"], options["tls_key"]) as certificate:
            await self._runtime.start(
                baresip.Config(
                    net_interface=host,
                    max_concurrent_calls=None,
                    sip_trace=True,
                    extra_config_text=extra_configuration(options, port, certificate),
                )
            )
        self._agent = await baresip.UserAgent.create(self._runtime, self._account(f"{host}:{port}"))
        self._runtime.subscribe(self._take_event)  # before the agent's own listener, which makes the call of it
        self._agent.on_incoming(self._incoming)
        where = port + 1 if options["transport"] == "tls" else port
        return {
            "address": f"{host}:{where}",
            "port": port,
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
        agent, before, self._registered = self._user_agent(), self._trace.registered, False
        try:
            await (agent.register() if command["active"] else agent.unregister())
            await self._trace.until(lambda: self._trace.registered > before, within=_LOG_LAG)
        except baresip.RegistrationError as error:
            self.channel.tell("registration", code=error.status or 408, reason=error.reason or str(error), expires=0)
        else:
            expires = self._options["expires"] if command["active"] else 0
            self._registered = command["active"]
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
        elif event.event is baresip.Event.REGISTER_FAIL and self._registered:
            found = _STATUS.match(event.text or "")
            code, reason = (int(found["code"]), found["reason"]) if found else (503, event.text or "failed")
            self.channel.tell("registration", code=code, reason=reason, expires=0)

    def _incoming(self, call: baresip.Call) -> None:
        number = self._next_incoming
        self._next_incoming += 2
        self._take_in(number, call)
        self._run(self._offer(number, call))

    async def _offer(self, number: int, call: baresip.Call) -> None:
        """Offer a call to the owner, once the log has told what its INVITE says."""
        sip_id = call.call_id or ""
        await self._trace.until(lambda: sip_id in self._trace.invites, within=_LOG_LAG)
        target, headers = self._trace.invites.pop(sip_id, ("", {}))
        self.channel.tell("incoming", call=number, user=call.peer or "", dialled=target, headers=headers)

    def _take_in(self, number: int, call: baresip.Call) -> None:
        taken = self._calls[number] = WorkerCall(number, call, self.channel)
        for event in [event for event in self._early_events if event.call == call.handle]:
            self._early_events.remove(event)
            call._on_stack_event(event)  # the library does not give a call what came before it was made
            self._happened(taken, event)
        call.on_dtmf(taken.pressed)

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
        if taken.call.state is baresip.CallState.ESTABLISHED:
            self._run(taken.hang_up())
        else:
            refuses = taken.call.state is baresip.CallState.INCOMING
            await (taken.call.reject() if refuses else taken.call.hangup())

    async def _give_up(self, taken: WorkerCall) -> None:
        """Hang up once the peer has said anything: before that the stack sends no CANCEL, then or later."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_SETTLES_WITHIN):
                await taken.peer_spoke.wait()
        if taken.number in self._calls:
            await taken.call.hangup()

    async def _in_call(self, ask: Callable[[WorkerCall, Fields], Awaitable[None]], command: Fields) -> None:
        await ask(self._call(command), command)

    def _call(self, command: Fields) -> WorkerCall:
        taken = self._calls.get(command["call"])
        if taken is None:
            raise LookupError(f"call {command['call']} has ended")
        return taken

    # What the stack tells

    def _happened(self, taken: WorkerCall, event: baresip.StackEvent) -> None:
        if event.event in _OF_THE_PEER:
            taken.peer_spoke.set()
        match event.event:
            case baresip.Event.CALL_RINGING:
                taken.tell_state("early", 180, "Ringing")
            case baresip.Event.CALL_PROGRESS:
                taken.start_media(self._options["rate"])
                taken.tell_state("early", 183, "Session Progress")
            case baresip.Event.CALL_ESTABLISHED:
                taken.answered = True
                taken.start_media(self._options["rate"])
                taken.tell_state("confirmed", 200, "OK")
            case baresip.Event.CALL_HOLD:
                taken.tell_media("remote_hold")
            case baresip.Event.CALL_RESUME:
                taken.tell_media("active")
            case baresip.Event.CALL_DTMF_START:
                taken.pressed_ns = now_ns()
            case baresip.Event.CALL_TRANSFER:
                self._run(taken.follow())
            case baresip.Event.CALL_CLOSED:
                self._closed(taken, event.text or "")

    def _closed(self, taken: WorkerCall, text: str) -> None:
        self._calls.pop(taken.number, None)
        self._run(self._tell_end(taken, text, at_ns=now_ns()))

    async def _tell_end(self, taken: WorkerCall, text: str, *, at_ns: int) -> None:
        """Tell the owner of a call's end, once it has heard all, and the log has told of the last messages.

        Of a call that was refused by this side, or given up by either, the stack has no status, but the log has.
        """
        await taken.finish()
        sip_id = taken.call.call_id or ""
        trace = self._trace
        await trace.until(
            lambda: sip_id in trace.ended or (not taken.answered and sip_id in trace.refusals), within=_LOG_LAG
        )
        trace.ended.discard(sip_id)
        refusal = trace.refusals.pop(sip_id, None)
        if found := _STATUS.match(text):
            code, reason = int(found["code"]), found["reason"]
        elif taken.answered:
            code, reason = 200, text or "ended"
        else:
            code, reason = refusal or ((487, "Request Terminated") if taken.ours else (503, text))
        final = code if found else None
        taken.tell_state("ended", code, reason, final=final, at_ns=at_ns)

    async def _tell_statistics(self) -> None:
        clock = LoopClock()
        while True:
            await clock.sleep(_STATS_PERIOD)
            for taken in list(self._calls.values()):
                taken.tell_statistics()


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
