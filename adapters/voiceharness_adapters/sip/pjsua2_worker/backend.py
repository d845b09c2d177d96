"""A SIP endpoint on pjsua2, driven by its owner's commands.

Everything here runs on the main thread, the only one that calls the library (it aborts the process when another does):
a loop handles SIP events for a few milliseconds, then the commands that have come, then frees what is due to be freed.
Only the audio ports run on the library's clock thread, which may still look at one when its call has ended; so ports
are never freed, but serve the next call after a moment. A call object, on the other hand, must go at once: the library
uses call ids again, and freeing the object of an ended call hangs up whatever call has its id by then. So the cyclic
garbage collector is off, too.
"""

from __future__ import annotations

import gc
import json
import os
from collections import deque
from typing import TYPE_CHECKING, Any, Final, NoReturn

import pjsua2 as pj

from voiceharness_adapters.sip.channel import now_ns
from voiceharness_adapters.sip.pjsua2_worker.call import Leg, WorkerCall
from voiceharness_adapters.sip.pjsua2_worker.clock_thread import ClockThread
from voiceharness_adapters.sip.pjsua2_worker.log import LogTap
from voiceharness_adapters.sip.pjsua2_worker.media import TickPort
from voiceharness_adapters.sip.trace import headers_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from voiceharness_adapters.sip.channel import Channel
    from voiceharness_adapters.sip.wire import Frame

__all__ = ["Pjsua2Backend", "run"]

_POLL_MS: Final = 5
_MEASURING_POLL_MS: Final = 1
_KEPT_NS: Final = 200_000_000  # the clock's thread may be in the port of a call that has just ended
_CANCEL_NS: Final = 500_000_000
_STATS_NS: Final = 250_000_000
_MAX_CALLS: Final = 4
_LOG_LEVEL: Final = 5
_QUIT_WITHOUT_NETWORK: Final = 3
_JITTER_BUFFER_MS: Final = 40
_PREFERRED: Final = 255
_EINVALIDOP: Final = 70013
"""PJ_EINVALIDOP, which a new offer gets while another one is under way."""

Fields = dict[str, Any]  # Any: what JSON can hold


class _Account(pj.Account):
    """The one account of the endpoint."""

    def __init__(self, backend: Pjsua2Backend) -> None:
        super().__init__()
        self.backend = backend

    def onIncomingCall(self, prm: pj.OnIncomingCallParam) -> None:  # noqa: N802  pjsua2's name
        """Offer a call to the owner."""
        call_id, text = prm.callId, prm.rdata.wholeMsg
        self.backend.guard(lambda: self.backend.incoming(call_id, text))

    def onRegState(self, prm: pj.OnRegStateParam) -> None:  # noqa: N802  pjsua2's name
        """Tell how the registration went."""
        self.backend.channel.tell("registration", code=prm.code, reason=prm.reason, expires=prm.expiration)


class Pjsua2Backend:
    """The endpoint, its account and its calls."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self._endpoint = pj.Endpoint()
        self._log = LogTap(channel)
        self._account = _Account(self)
        self._calls: dict[int, WorkerCall] = {}
        self._ports: dict[int, TickPort] = {}
        self._spare_ports: deque[tuple[int, TickPort]] = deque()
        self._made_ports = 0
        self._clock = ClockThread()
        self._ended_legs: list[Leg] = []
        self._next_incoming = 1
        self._next_stats_ns = self._unsettled_ns = 0
        self._rate = 8000
        self._do: Mapping[str, Callable[[Fields], Fields | None]] = {
            "start": self._start,
            "register": self._register,
            "dial": self._dial,
            "answer": self._answer,
            "hangup": self._hangup,
            "dtmf": self._dtmf,
            "hold": self._hold,
            "resume": self._resume,
            "as_before": lambda _command: None,  # a refused offer changes nothing here
            "transfer": self._transfer,
            "probe": self._probe,
        }

    # The loop

    def serve(self) -> None:
        """Run until the owner has gone, or asks to stop; what it asked for before is done first."""
        while (command := self.channel.next_command()) or not self.channel.closed.is_set():
            if command is None:
                self._rest()
            elif command["do"] == "stop":
                return
            else:
                self._execute(command)

    def _rest(self) -> None:
        if self._endpoint.libGetState() == pj.PJSUA_STATE_RUNNING:
            now = now_ns()
            hurried = any(call.meter is not None and call.meter.is_hurried(now) for call in self._calls.values())
            self._endpoint.libHandleEvents(_MEASURING_POLL_MS if hurried else _POLL_MS)
            self.channel.send_waiting()
            for call in list(self._calls.values()):
                self.guard(call.look_at_buffer)
            self._ended_legs.clear()
            self._look_after(now_ns())
        else:
            self.channel.closed.wait(_POLL_MS / 1000)

    def _look_after(self, now: int) -> None:
        if now < self._next_stats_ns:
            return
        self._next_stats_ns = now + _STATS_NS
        for call in list(self._calls.values()):
            self.guard(call.keep_stats)
            call.tell("rtp", stats=call.stats)
            if call.port.failure is not None:
                failure, call.port.failure = call.port.failure, None
                self.channel.tell("log", text=f"audio port: {failure}")

    def _execute(self, command: Fields) -> None:
        number = command["number"]
        try:
            answer = self._do[command["do"]](command)
        except pj.Error as error:
            busy = error.status == _EINVALIDOP and command["do"] in ("hold", "resume")
            self.channel.answer(number, error=f"{error.reason} ({error.title})", busy=busy)
        except Exception as error:  # the owner's command cannot be carried out, and it is told why
            self.channel.answer(number, error=f"{type(error).__name__}: {error}")
        else:
            self.channel.answer(number, **(answer or {}))

    def guard(self, action: Callable[[], None]) -> None:
        """Run what a callback asks for: an exception that left a callback would live on and abort the process."""
        try:
            action()
        except pj.Error as error:
            self.channel.tell("log", text=f"{error.title}: {error.reason}")
        except Exception as error:  # nothing may leave a callback
            self.channel.tell("log", text=repr(error))

    def put(self, frame: Frame) -> None:
        """Take a frame to be sent; called on the reading thread."""
        port = self._ports.get(frame.call)
        if port is not None:
            port.put(frame)

    def close(self) -> NoReturn:
        """Leave without freeing anything: that would need an order that nobody can promise.

        Calls that go on are ended: their owner has gone. A CANCEL may have to wait for a provisional answer, though the
        library takes the call for ended already.
        """
        if self._calls:
            self.guard(self._endpoint.hangupAllCalls)
            self._unsettled_ns = now_ns() + _CANCEL_NS
        while now_ns() < self._unsettled_ns:
            self._endpoint.libHandleEvents(_POLL_MS)
        self._endpoint.libDestroy(_QUIT_WITHOUT_NETWORK)
        os._exit(0)

    # Starting

    def _start(self, options: Fields) -> Fields:
        self._rate = options["rate"]
        self._endpoint.libCreate()
        self._endpoint.libInit(self._configuration(options))
        transport = self._endpoint.transportCreate(_TRANSPORTS[options["transport"]], _transport(options))
        self._endpoint.libStart()
        self._endpoint.audDevManager().setNullDev()
        self._choose_codecs(options["codecs"])
        address = self._endpoint.transportGetInfo(transport).localName
        self._account.create(self._account_configuration(options, address))
        version, port = f"pjsua2 {self._endpoint.libVersion().full}", int(address.rpartition(":")[2])
        return {"address": address, "port": port, "version": version, "calls": _MAX_CALLS}

    def _configuration(self, options: Fields) -> pj.EpConfig:
        """Return the library's configuration: no thread of its own for SIP, and no stretching of received sound."""
        config = pj.EpConfig()
        config.uaConfig.threadCnt = 0
        config.uaConfig.maxCalls = _MAX_CALLS
        config.uaConfig.userAgent = "voiceharness"
        media = config.medConfig
        media.clockRate = self._rate
        media.noVad = True
        media.ecTailLen = 0
        media.sndAutoCloseTime = -1
        media.jbInit = _JITTER_BUFFER_MS
        media.jbMinPre = media.jbMaxPre = 0
        _keep_all_frames(config)
        config.logConfig.level = _LOG_LEVEL
        config.logConfig.consoleLevel = _LOG_LEVEL  # the level that a log writer sees
        config.logConfig.writer = self._log
        return config

    def _choose_codecs(self, wanted: list[str]) -> None:
        known = [codec.codecId for codec in self._endpoint.codecEnum2()]
        for codec in known:
            self._endpoint.codecSetPriority(codec, 0)
        for place, name in enumerate(wanted):
            matching = [codec for codec in known if codec.split("/")[0].upper() == name.upper()]
            if not matching:
                raise LookupError(f"pjsua2 has no codec {name}; it has {', '.join(known)}")
            self._endpoint.codecSetPriority(matching[0], _PREFERRED - place)

    def _account_configuration(self, options: Fields, address: str) -> pj.AccountConfig:
        config = pj.AccountConfig()
        suffix = "" if options["transport"] == "udp" else f";transport={options['transport']}"
        domain = options["domain"] or address
        config.idUri = f"sip:{options['user']}@{domain}{'' if options['domain'] else suffix}"
        config.regConfig.registerOnAdd = False
        if options["registrar"]:
            config.regConfig.registrarUri = f"sip:{options['registrar']}{suffix}"
            config.regConfig.timeoutSec = options["expires"]
        if options["password"]:
            user = options["auth_user"] or options["user"]
            config.sipConfig.authCreds.append(pj.AuthCredInfo("digest", "*", user, 0, options["password"]))
        if options["proxy"]:
            config.sipConfig.proxies.append(f"sip:{options['proxy']};lr{suffix}")
        config.mediaConfig.transportConfig.boundAddress = options["host"]
        config.mediaConfig.transportConfig.port = options["rtp_port"]
        config.mediaConfig.srtpUse = {"off": 0, "optional": 1, "mandatory": 2}[options["srtp"]]
        config.mediaConfig.srtpSecureSignaling = 0
        if options["public_address"]:
            config.mediaConfig.transportConfig.publicAddress = options["public_address"]
        config.natConfig.contactRewriteUse = 0
        return config

    def _register(self, command: Fields) -> None:
        self._account.setRegistration(command["active"])

    # Calls

    def incoming(self, call_id: int, text: str) -> None:
        """Take a call in and offer it to the owner."""
        call = self._new_call(self._next_incoming)
        self._next_incoming += 2
        call.leg = Leg(self._account, call, call_id)
        info = call.leg.getInfo()
        target = text.split(None, 2)[1] if text.startswith("INVITE ") else info.localUri
        call.tell("incoming", user=info.remoteUri, dialled=target, headers=headers_of(text))

    def _new_call(self, number: int) -> WorkerCall:
        port = self._port()
        port.begin(number)
        call = self._calls[number] = WorkerCall(number, self, port)
        self._ports[number] = port
        return call

    def _port(self) -> TickPort:
        """Return a port that has had no call for a moment, or a new one."""
        if self._spare_ports and self._spare_ports[0][0] < now_ns():
            return self._spare_ports.popleft()[1]
        self._made_ports += 1
        return TickPort(f"port {self._made_ports}", self._rate, self.channel, self._clock)

    def bury(self, call: WorkerCall) -> None:
        """Forget a call that has ended."""
        call.port.live = False
        self._calls.pop(call.number, None)
        self._ports.pop(call.number, None)
        self._log.forget(call.number)
        self._spare_ports.append((now_ns() + _KEPT_NS, call.port))
        for leg in (*call.old_legs, call.leg, call.referred):
            if leg is not None:
                self.free_soon(leg)
        call.old_legs, call.leg, call.referred = [], None, None

    def free_soon(self, leg: Leg) -> None:
        """Free a leg once the callback is over in which it ended."""
        self._ended_legs.append(leg)

    def note_stream(self, stream: object, call: int) -> None:
        """Note under which name the log speaks of a call's stream."""
        address = getattr(stream, "this", stream)
        self._log.calls[hex(int(address))] = call  # type: ignore[call-overload] # a SWIG pointer, which is a number

    def reordered(self, call: int) -> int:
        """Return how many packets of a call came out of order."""
        return self._log.reordered[call]

    def _dial(self, command: Fields) -> None:
        call = self._new_call(command["call"])
        call.leg = Leg(self._account, call)
        try:
            call.leg.makeCall(command["target"], _operation(headers=command.get("headers")))
        except pj.Error:
            self.bury(call)
            raise

    def _answer(self, command: Fields) -> None:
        code, reason = command["code"], command.get("reason", "")
        self._leg(command).answer(_operation(code, reason, command.get("headers")))

    def _hangup(self, command: Fields) -> None:
        call = self._calls.get(command["call"])
        if call is None or call.leg is None:
            return
        call.ours = True
        call.keep_stats()
        if call.leg.getInfo().state != pj.PJSIP_INV_STATE_CONFIRMED:
            self._unsettled_ns = now_ns() + _CANCEL_NS
        for leg in (*call.old_legs, call.leg):
            if leg.isActive():
                leg.hangup(_operation(command.get("code", 0), command.get("reason", ""), command.get("headers")))

    def _dtmf(self, command: Fields) -> None:
        parameter = pj.CallSendDtmfParam()
        is_info = command["method"] == "info"
        parameter.method = pj.PJSUA_DTMF_METHOD_SIP_INFO if is_info else pj.PJSUA_DTMF_METHOD_RFC2833
        parameter.digits = command["digits"]
        parameter.duration = command["ms"]
        self._leg(command).sendDtmf(parameter)

    def _hold(self, command: Fields) -> None:
        self._leg(command).setHold(pj.CallOpParam(True))

    def _resume(self, command: Fields) -> None:
        operation = pj.CallOpParam(True)
        operation.opt.flag = pj.PJSUA_CALL_UNHOLD
        self._leg(command).reinvite(operation)

    def _transfer(self, command: Fields) -> None:
        self._leg(command).xfer(command["target"], pj.CallOpParam(True))

    def _probe(self, command: Fields) -> None:
        """Ask the peer whether it is still there (RFC 3261, 11: OPTIONS within the dialog)."""
        request = pj.CallSendRequestParam()
        request.method = "OPTIONS"
        self._leg(command).sendRequest(request)

    def _leg(self, command: Fields) -> Leg:
        call = self._calls.get(command["call"])
        if call is None or call.leg is None:
            raise LookupError(f"call {command['call']} has ended")
        return call.leg


_TRANSPORTS: Final = {"udp": pj.PJSIP_TRANSPORT_UDP, "tcp": pj.PJSIP_TRANSPORT_TCP, "tls": pj.PJSIP_TRANSPORT_TLS}


def _transport(options: Fields) -> pj.TransportConfig:
    config = pj.TransportConfig()
    config.boundAddress = options["host"]
    config.port = options["port"]
    if options["public_address"]:
        config.publicAddress = options["public_address"]
    if options["transport"] == "tls":
        config.tlsConfig.certFile = options["tls_certificate"]
        config.tlsConfig.privKeyFile = options["tls_key"]
        config.tlsConfig.CaListFile = options["tls_authorities"]
        config.tlsConfig.verifyServer = bool(options["tls_authorities"])
    return config


def _keep_all_frames(config: pj.EpConfig) -> None:
    """Turn off the jitter buffer's discarding, which stretches time. SWIG lets nobody assign it, but JSON does."""
    document, edited = pj.JsonDocument(), pj.JsonDocument()
    document.writeObject(config)
    fields = json.loads(document.saveString())
    fields["EpConfig"]["MediaConfig"]["jbDiscardAlgo"] = 0
    edited.loadString(json.dumps(fields))
    edited.readObject(config)


def _operation(code: int = 0, reason: str = "", headers: Mapping[str, str] | None = None) -> pj.CallOpParam:
    operation = pj.CallOpParam(True)
    operation.statusCode = code
    operation.reason = reason
    for name, value in (headers or {}).items():
        header = pj.SipHeader()
        header.hName, header.hValue = name, value
        operation.txOption.headers.append(header)
    return operation


def run(channel: Channel) -> None:
    """Serve the owner until it has had enough; does not return."""
    gc.disable()
    backend = Pjsua2Backend(channel)
    channel.on_frame = backend.put
    channel.open()
    backend.serve()
    channel.finish()
    backend.close()
