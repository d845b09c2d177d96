"""The adapter ``sip``: a real SIP call with real RTP, dialled to the agent or dialled by it.

Theory of operation. A worker process owns the SIP library; its 20 ms media clock is the call's sample clock. With each
tick the line is asked for the user's frame a little ahead, and gets what was heard at the position at which it was on
the wire (:mod:`~voiceharness_adapters.sip.ticks`). Everything else the worker tells becomes an event of the line: each
digit once, by whichever method it came; the hang-up with its SIP cause; faults of the peer's media. A peer whose media
stopped is asked whether it is still there; if not, the call has been dropped.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Final

from voiceharness.adapter import Option, VoiceAgentAdapter
from voiceharness.audio.chunk import AudioChunk
from voiceharness.clock import LoopClock
from voiceharness.errors import (
    CallDroppedError,
    CallRejectedError,
    ConnectError,
    LocalProtocolError,
    OptionError,
    PendingTransportError,
    UnsupportedCapabilityError,
)
from voiceharness.events import RemoteHangup
from voiceharness.inbox import Inbox
from voiceharness_adapters.sip.artefacts import trace_text, wav_bytes
from voiceharness_adapters.sip.backends import (
    CAPABILITIES,
    CONCEALMENT,
    LOSS_BLURS_TIME,
    REFUSALS,
    TIMING,
    UPPER_BOUND,
    USUAL_WAIT,
)
from voiceharness_adapters.sip.endpoint import SipEndpoint
from voiceharness_adapters.sip.evidence import call_facts, trust_reasons
from voiceharness_adapters.sip.media import UserMedia
from voiceharness_adapters.sip.outcome import why_not_up
from voiceharness_adapters.sip.quality import RtpQuality
from voiceharness_adapters.sip.reinvite import reinvite
from voiceharness_adapters.sip.session import agreed_session
from voiceharness_adapters.sip.settings import SipSettings, Srtp, Transport, choose_backend, codecs_of, usual_codecs
from voiceharness_adapters.sip.watch import MediaWatch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voiceharness.adapter import Received, TurnTaker
    from voiceharness.capabilities import AdapterCapabilities, CallAction, DtmfMethod
    from voiceharness_adapters.sip.call import SipCall
    from voiceharness_adapters.sip.evidence import Facts
    from voiceharness_adapters.sip.session import AudioSession
    from voiceharness_adapters.sip.watch import Finding
    from voiceharness_adapters.sip.wire import Heard
    from voiceharness_adapters.sip.worker import Event

__all__ = ["Sip"]

DEAD_PEER_TIMEOUT: Final = 2.0
TRANSFER_TIMEOUT: Final = 10.0
_DECLINE: Final = 603


class Sip(VoiceAgentAdapter):
    """One SIP call with a voice agent.

    With a ``target`` the agent is dialled; without, the call waits until the agent dials ``host:port`` (or the address
    registered at ``registrar``). Give several adapters one ``endpoint`` to share its account and its workers;
    otherwise each has a worker of its own.
    """

    name = "sip"
    extra = "sip"
    capabilities = UPPER_BOUND
    timing = TIMING

    def __init__(
        self,
        target: Annotated[str, Option("the agent's SIP address; empty: wait for the agent's call")] = "",
        *,
        endpoint: Annotated[SipEndpoint | None, Option("the account and workers to share with other calls")] = None,
        backend: Annotated[str, Option("SIP library: auto, pjsua2 or baresip")] = "auto",
        host: Annotated[str, Option("address to listen on")] = "127.0.0.1",
        port: Annotated[int, Option("port to listen on; 0: any")] = 0,
        public_address: Annotated[str, Option("address to tell the peer, when it differs from host")] = "",
        transport: Annotated[Transport, Option("udp, tcp or tls")] = "udp",
        user: Annotated[str, Option("the user's own name in its SIP address")] = "voiceharness",
        registrar: Annotated[str, Option("register here, as host or host:port")] = "",
        auth_user: Annotated[str, Option("name for authentication, when it is not the user's")] = "",
        password: Annotated[str, Option("password for authentication")] = "",
        proxy: Annotated[str, Option("outbound proxy, as host or host:port")] = "",
        headers: Annotated[dict[str, str] | None, Option("more headers of the INVITE")] = None,
        codecs: Annotated[str, Option("codecs in the order in which they are preferred; empty: by the rate")] = "",
        rate: Annotated[int, Option("line rate: 8000; 16000 for G722; 48000 for Opus", "Hz")] = 8000,
        srtp: Annotated[Srtp, Option("off, optional, mandatory (SDES), or dtls")] = "off",
        tls_certificate: Annotated[str, Option("own certificate, a PEM file")] = "",
        tls_key: Annotated[str, Option("its key, a PEM file")] = "",
        tls_authorities: Annotated[str, Option("who may sign the peer's certificate, a PEM file")] = "",
        identity: Annotated[str, Option("take only a call to this user name")] = "",
        reject_with: Annotated[int, Option("refuse the agent's call with this SIP status; 0: answer it")] = 0,
        wait: Annotated[float, Option("how long to wait for the agent's call", "s")] = 30.0,
        media_timeout: Annotated[float, Option("how long the agent may send no RTP; 0: for ever", "s")] = 5.0,
        lead_ms: Annotated[int, Option("how far ahead user audio is made, a multiple of 20", "ms")] = 100,
    ) -> None:
        chosen = endpoint.settings.backend if endpoint else choose_backend(backend)
        if rate not in CAPABILITIES[chosen].rates:
            known = ", ".join(map(str, sorted(CAPABILITIES[chosen].rates)))
            raise OptionError(f"adapter {self.name!r} has no line rate {rate} Hz with {chosen}; it has {known}")
        if endpoint is not None and endpoint.settings.rate != rate:
            raise OptionError(f"adapter {self.name!r}: its endpoint runs at {endpoint.settings.rate} Hz, not {rate}")
        refusals = REFUSALS[chosen]
        if reject_with and refusals and reject_with not in refusals:
            raise OptionError(f"adapter {self.name!r}: {chosen} refuses calls with {min(refusals)}, not {reject_with}")
        if lead_ms not in range(20, 201, 20):
            raise OptionError(f"adapter {self.name!r}: lead_ms is a multiple of 20 up to 200, not {lead_ms}")
        self.rate = rate
        self.target = target
        self.backend = chosen
        self._own = endpoint is None
        offered = codecs or usual_codecs(chosen, rate)
        self.endpoint = endpoint or SipEndpoint(
            SipSettings(
                host, port, public_address, transport, user, registrar, auth_user, password,
                proxy=proxy, codecs=codecs_of(offered, rate), rate=rate, srtp=srtp, backend=chosen,
                tls_certificate=tls_certificate, tls_key=tls_key, tls_authorities=tls_authorities,
            )
        )  # fmt: skip
        self._headers = dict(headers or {})
        self._identity = identity
        self._reject_with = reject_with
        self._wait = wait
        self._media_timeout = media_timeout
        self._lead = lead_ms // 20
        self._inbox = Inbox()
        self._call: SipCall | None = None
        self._media: UserMedia | None = None
        self._over = False
        self._rings = asyncio.Event()
        self._lets_ring = False
        self._asking: asyncio.Task[None] | None = None

    @classmethod
    def capabilities_for(cls, options: Mapping[str, object]) -> AdapterCapabilities:
        """Narrow to the backend that will be used."""
        endpoint = options.get("endpoint")
        if isinstance(endpoint, SipEndpoint):
            return CAPABILITIES[endpoint.settings.backend]
        return CAPABILITIES[choose_backend(str(options.get("backend", "auto")))]

    # The call

    @property
    def is_connected(self) -> bool:
        """Whether the call is answered and has not ended."""
        return self._media is not None and not self._over

    async def connect(self) -> None:
        """Dial the agent, or wait for its call; returns when it is answered and media is up in both directions.

        Raises:
            CallRejectedError: with the SIP status and reason.
            ConnectError: if the agent cannot be reached, or does not call in time.
            CallDroppedError: if the worker dies.
            MediaTimeoutError: if the call is answered, but without media.
            RemoteProtocolError: if its session description cannot be used.
        """
        if self._call is not None or self._over:
            raise LocalProtocolError(f"adapter {self.name!r} has had its call; make another adapter for the next")
        try:
            if self._own:
                await self.endpoint.open()
            call = await (self._dial() if self.target else self._answer())
            answered = await self._come_up(call)
        finally:
            self._rings.set()  # nobody need wait for it any more
        self._media = UserMedia(
            call,
            self._inbox,
            rate=self.rate,
            lead=self._lead,
            usual_wait=USUAL_WAIT[self.backend],
            concealment=CONCEALMENT[self.backend],
            watch=MediaWatch(
                self._media_timeout, started_ns=answered.at_ns, loss_blurs_time=LOSS_BLURS_TIME[self.backend]
            ),
            answered=answered,
        )
        call.listen(self._media.heard, self._told)

    async def _come_up(self, call: SipCall) -> Heard:
        try:
            return await call.up(media_timeout=self._media_timeout or DEAD_PEER_TIMEOUT)
        except ConnectError as error:
            if call.end is None:
                raise
            final = self.endpoint.final_answer(call)
            if final is None and call.end.final is not None:
                final = call.end.final, call.end.reason
            raise why_not_up(call.end, target=self.target, final=final) from error

    async def ringing(self) -> None:
        """Wait until the agent rings, or its call does; a call of the agent is then not answered, but left to ring."""
        self._lets_ring = True
        await self._rings.wait()

    async def _dial(self) -> SipCall:
        call = self._call = await self.endpoint.new_call()
        call.on_ringing = self._rings.set
        await self.endpoint.dial(call, self.target, self._headers)
        return call

    async def _answer(self) -> SipCall:
        inbound = await self.endpoint.claim(timeout=self._wait, identity=self._identity or None)
        call: SipCall = inbound.handle
        self._call = call
        if self._reject_with:
            await call.hang_up(self._reject_with)
            raise CallRejectedError("sip: the agent's call was refused, as asked", code=self._reject_with)
        self._rings.set()
        if not self._lets_ring:
            await call.answer(200)
        return call

    async def disconnect(self) -> None:
        """End the call in whatever state it is; stop the worker if it is this call's own."""
        self._over = True
        self._inbox.end()
        if self._asking is not None:
            self._asking.cancel()
        try:
            if self._call is not None:
                await self._call.hang_up()
        finally:
            if self._own:
                await self.endpoint.close()

    def _told(self, event: Event) -> None:
        """Take an event of the worker, in either phase of the call."""
        if self._media is None:
            return
        self._media.told(event)
        match event["event"]:
            case "state" if event["state"] == "ended":
                self._ended(event)
            case "failed":
                self._fail(self._call.error if self._call else None)
            case "rtp" if self._media.silent and self._asking is None:
                self._asking = asyncio.create_task(self._ask_whether_alive(), name="SIP peer alive?")

    def _ended(self, event: Event) -> None:
        assert self._media is not None  # the caller looked
        self._over = True
        self._media.finish(event["at_ns"])
        if not event["ours"]:
            at_ns = self._media.ticks.line_time(event["at_ns"])
            self._inbox.put(RemoteHangup(event["reason"], event["code"], at_ns=at_ns))
        self._inbox.end()

    def _fail(self, error: CallDroppedError | None) -> None:
        self._over = True
        self._inbox.end(error or CallDroppedError("sip: the worker is gone"))

    async def _ask_whether_alive(self) -> None:
        """Ask a peer whose media stopped for any answer, as long as it stays silent; without one, the call is lost."""
        call, media = self._connected("ask whether the agent is there")
        while media.silent:
            if not await call.is_alive(DEAD_PEER_TIMEOUT):
                received = call.stats.get("received", 0)
                self._fail(
                    CallDroppedError(
                        f"sip: the agent vanished without BYE: no RTP for {self._media_timeout:g} s after {received} "
                        f"packets, and no answer to OPTIONS within {DEAD_PEER_TIMEOUT:g} s"
                    )
                )
                return
            await LoopClock().sleep(self._media_timeout)
        self._asking = None

    # Media

    def attach(self, line: TurnTaker) -> None:
        """Begin to send and to hear with the next tick."""
        super().attach(line)
        if self._media is not None:
            self._media.attach(line)

    async def send_audio(self, chunk: AudioChunk) -> None:
        """Refuse: this transport keeps time itself and asks its line for the user's audio."""
        self._connected("send audio")
        raise LocalProtocolError(f"adapter {self.name!r} asks its line for each frame; audio cannot be pushed into it")

    async def receive_audio(self, timeout: float | None = None) -> Received | None:
        """Return the next thing from the agent; after the end, always ``EndOfStream``."""
        if self._media is None:
            raise PendingTransportError(self.name, "receive audio")
        return await self._inbox.get(timeout)

    # What can be done in a call

    async def send_dtmf(self, digits: str, *, method: DtmfMethod, tone_ms: int = 100, gap_ms: int = 100) -> None:
        """Send digits as RTP events or SIP INFO, each with its exact length; the keys take their time."""
        if method not in CAPABILITIES[self.backend].dtmf - {"inband"}:
            raise UnsupportedCapabilityError(
                adapter=self.name, capability=f"dtmf:{method}", alternative="send RTP events (method: rfc4733)"
            )
        for digit in digits:
            call, _ = self._connected("send digits")
            await call.dtmf(digit, method, tone_ms)
            await LoopClock().sleep((tone_ms + gap_ms) / 1000)

    async def control(self, action: CallAction, *, target: str | None = None) -> None:
        """Hold, resume or transfer an answered call; cancel or reject one that is not."""
        if action in ("cancel", "reject"):
            if self._call is None or self._media is not None:
                raise LocalProtocolError(f"adapter {self.name!r}: only a call that is not answered can be {action}ed")
            await self._call.hang_up(_DECLINE if action == "reject" else 0)
            return
        call, _ = self._connected(action)
        if action in ("hold", "resume"):
            await reinvite(self.endpoint, call, action)
        else:
            await self._transfer(call, target)

    async def _transfer(self, call: SipCall, target: str | None) -> None:
        """Refer the agent elsewhere; when it has got there, this call is over."""
        if not target:
            raise OptionError(f"adapter {self.name!r}: a transfer needs a target")
        report = await call.transfer(target, timeout=TRANSFER_TIMEOUT)
        if report["code"] // 100 != 2:
            raise CallRejectedError(
                f"sip: the agent could not be transferred: {report['code']} {report['reason']}",
                code=report["code"],
                reason=report["reason"],
            )
        self._inbox.put(RemoteHangup(f"transferred to {target}", report["code"]))
        self._inbox.end()

    def _connected(self, action: str) -> tuple[SipCall, UserMedia]:
        if self._call is None or self._media is None or self._over:
            raise PendingTransportError(self.name, action)
        return self._call, self._media

    # What is known of the call

    @property
    def address(self) -> str:
        """The SIP address that is dialled."""
        return self.target

    @property
    def answered_code(self) -> int | None:
        """The SIP status of the answer."""
        answer = None if self._call is None else self.endpoint.final_answer(self._call)
        return None if answer is None else answer[0]

    @property
    def early_media(self) -> AudioChunk | None:
        """What was heard before the answer; None: nothing."""
        pcm = b"" if self._call is None else b"".join(heard.pcm for heard in self._call.early)
        return AudioChunk(pcm, self.rate) if pcm else None

    @property
    def session(self) -> AudioSession | None:
        """What was agreed on for the sound, by the latest offer that was answered; None: nothing yet."""
        return None if self._call is None else agreed_session(self.endpoint.trace(self._call))

    @property
    def quality(self) -> RtpQuality:
        """The RTP figures of the call so far."""
        session = self.session
        return RtpQuality.of(self._call.stats if self._call else {}, codec=session.codec if session else "")

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was seen of the agent's media, faults and mere disorder, in order."""
        return tuple(finding for _, finding in self._media.findings) if self._media else ()

    def call_facts(self) -> Facts:
        """Return backend, provisional answers, what was agreed on for the sound, RTP statistics, how it was placed."""
        backend, blurred = self.endpoint.version or self.backend, LOSS_BLURS_TIME[self.backend]
        facts = call_facts(backend, self.session, self.quality, self._media, blurred=blurred)
        before = self.endpoint.provisional_answers(self._call) if self._call else ()
        return {**facts, "provisional": ", ".join(map(str, before))}

    def artefacts(self) -> dict[str, bytes]:
        """Return the SIP messages, without credentials, and the early media."""
        if self._call is None:
            return {}
        answered_ns = self._media.answered.at_ns if self._media else None
        kept = {"sip.txt": trace_text(self.endpoint.trace(self._call), answered_ns=answered_ns).encode()}
        early = self.early_media
        return kept if early is None else {**kept, "early_media.wav": wav_bytes(early)}

    def trust_reasons(self) -> tuple[str, ...]:
        """Return why the timing of this call cannot be believed: ticks or frames that the machine was too busy for."""
        return () if self._media is None else trust_reasons(self._media)
