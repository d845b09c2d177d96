"""The carrier played to the agent: a Twilio Media Stream, as the agent cannot tell from a real one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping  # noqa: TC003  the registry reads the types of options
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import urlsplit

from voiceharness.adapter import Option, VoiceAgentAdapter
from voiceharness.capabilities import AdapterCapabilities, DtmfMethod, Timing
from voiceharness.clock import LoopClock
from voiceharness.errors import (
    ConnectError,
    LocalProtocolError,
    OptionError,
    PendingTransportError,
    RemoteProtocolError,
    UnsupportedCapabilityError,
)
from voiceharness.events import EndOfStream
from voiceharness.protocols.media_streams.dialects import dialect_named
from voiceharness.protocols.media_streams.twiml import Stream
from voiceharness.speech.synthesis import Synthesizer  # noqa: TC001  the registry reads the types of options
from voiceharness_adapters.twilio.agent_server import joined
from voiceharness_adapters.twilio.call_flow import CallFlow
from voiceharness_adapters.twilio.callbacks import CallProgress
from voiceharness_adapters.twilio.carrier_call import CarrierCall
from voiceharness_adapters.twilio.doors import make_door
from voiceharness_adapters.twilio.identity import CallIdentity
from voiceharness_adapters.twilio.settings import CarrierLog, CarrierSettings, Inbound, LostAs, Marks
from voiceharness_adapters.twilio.urls import STREAM_SCHEMES, WEBHOOK_SCHEMES, why_no_url

if TYPE_CHECKING:
    from voiceharness.adapter import Received
    from voiceharness.audio.chunk import AudioChunk
    from voiceharness_adapters.twilio.door import Door

__all__ = ["Twilio"]


class Twilio(VoiceAgentAdapter):
    """One call from the carrier to an agent: to its stream (``ws``, ``wss``) or voice webhook (``http``, ``https``).

    With ``app`` the URL is answered by an ASGI application in this process, without a socket and, if nothing leaves
    the loop, in virtual time. What the carrier saw is in ``log``.
    """

    name = "twilio"
    extra = "twilio"
    capabilities = AdapterCapabilities(
        interruption=True,
        dtmf=frozenset({"event", "inband"}),
        directions=frozenset({"dial"}),
        rates=frozenset({8000}),
        virtual_time=True,
    )
    timing = Timing(paced_by="line", playout="queued")

    def __init__(
        self,
        url: Annotated[str, Option("the agent's stream (wss://...) or voice webhook (https://...)")],
        *,
        app: Annotated[
            Callable[..., Any] | None,
            Option("ASGI application that answers in this process, or its package.module:name"),
        ] = None,
        token: Annotated[str | None, Option("the account's token, which signs every request; none: unsigned")] = None,
        parameters: Annotated[Mapping[str, str] | None, Option("parameters of a stream dialled directly")] = None,
        user: Annotated[str, Option("the user's phone number")] = "+15550100001",
        agent: Annotated[str, Option("the agent's phone number")] = "+15550100002",
        dialect: Annotated[Literal["twilio", "telnyx"], Option("whose vocabulary the stream speaks")] = "twilio",
        marks: Annotated[Marks, Option("when marks are answered; immediate and lost are faults")] = "playout",
        inbound: Annotated[Inbound, Option("whether the user's silence is sent, or left out")] = "continuous",
        lost_as: Annotated[LostAs, Option("what a lost frame leaves: a jump of the timestamps, or silence")] = "gap",
        honours_clear: Annotated[bool, Option("this agent honours a clear that is sent to it")] = False,
        synthesizer: Annotated[
            Synthesizer | str | None, Option("speaks the TwiML's <Say>; an engine, or its name")
        ] = None,
        goodbye: Annotated[float, Option("time the agent may go on after stop before the carrier closes", "s")] = 0.0,
        status_callback: Annotated[
            str | None, Option("URL, or path, that the call's progress is posted to: in-progress, completed")
        ] = None,
    ) -> None:
        if wrong := why_no_url(url):
            raise OptionError(f"adapter 'twilio': url {wrong}")
        if status_callback is not None and not _has_callback(url, status_callback):
            raise OptionError(
                "adapter 'twilio': status_callback is an http or https URL, of a call to a voice webhook; a stream "
                "that is dialled directly has none"
            )
        self._status_callback = None if status_callback is None else joined(url, status_callback)
        self._url = url
        self._app = app
        self._identity = CallIdentity(user, agent, token)
        self._parameters = dict(parameters or {})
        self._honours_clear = honours_clear
        self._synthesizer = synthesizer
        self._settings = CarrierSettings(dialect_named(dialect), marks, inbound, lost_as, goodbye)
        self._call: CarrierCall | None = None
        self._door: Door | None = None
        self._dialling: asyncio.Task[CarrierCall] | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._over = False
        self._progress: CallProgress | None = None

    @classmethod
    def capabilities_for(cls, options: Mapping[str, object]) -> AdapterCapabilities:
        """Virtual time needs the application; the interrupt signal an agent that is known to honour it.

        Without a URL it is a host that serves the agent, in either time.
        """
        return replace(
            cls.capabilities,
            virtual_time=options.get("app") is not None or "url" not in options,
            interruption=bool(options.get("honours_clear", False)),
        )

    @property
    def is_connected(self) -> bool:
        """Whether the call is up, by what was received so far."""
        return self._call is not None and not self._over

    @property
    def log(self) -> CarrierLog:
        """What the carrier saw on this call; empty before it."""
        return CarrierLog() if self._call is None else self._call.log

    @property
    def sent_after_end(self) -> int:
        """How many messages the agent sent after ``stop``."""
        return self.log.after_stop

    def call_facts(self) -> Mapping[str, str | int | float | bool | None]:
        """Return what the carrier counted, and whether the agent's work outlived its call."""
        log = self.log
        counts = {f"{way} {kind}": count for way in ("sent", "received") for kind, count in getattr(log, way).items()}
        violations = {f"violation {kind}": count for kind, count in log.violations.items()}
        posted = {f"callback {status}": answer or "no answer" for status, answer in log.callbacks}
        lost = {"frames lost": len(log.lost_ms)} if log.lost_ms else {}
        return {**counts, **violations, **posted, **lost, "agent still running after the call": log.still_running}

    async def connect(self) -> None:
        """Dial. The call is answered when its stream is open, or when the agent's document lets something be heard.

        Raises:
            CallRejectedError: if the upgrade, the webhook or the document refuses the call.
            RemoteProtocolError: if the webhook's answer is not TwiML.
            LocalProtocolError: if this adapter has been connected before. One adapter object is one call.
        """
        if self._door is not None or self._over:
            raise LocalProtocolError(f"adapter {self.name!r} has had its call; make another adapter for the next")
        self._door = make_door(self._url, self._app)
        self._dialling = asyncio.ensure_future(
            self._dial(CarrierCall(self._door, self._identity, self._settings, LoopClock()))
        )
        try:
            self._call = await self._dialling
        except asyncio.CancelledError:
            self._dialling.cancel()
            if self._over:
                raise ConnectError(f"adapter {self.name!r}: the user hung up before the agent answered") from None
            raise

    async def _dial(self, call: CarrierCall) -> CarrierCall:
        if urlsplit(self._url).scheme in STREAM_SCHEMES:
            await call.connect_stream(Stream(self._url, parameters=self._parameters))
            self._tasks.append(asyncio.create_task(call.run_stream(), name="twilio stream"))
        else:
            flow = CallFlow(call, self._url, self._synthesizer, self._progress_of(call))
            self._tasks.append(asyncio.create_task(flow.run(), name="twilio call flow"))
            await flow.answered
        return call

    def _progress_of(self, call: CarrierCall) -> CallProgress | None:
        if self._status_callback is None:
            return None
        self._progress = CallProgress(self._status_callback, call.callbacks, self._identity, call.clock)
        return self._progress

    async def disconnect(self) -> None:
        """Hang up: ``stop``, close, and let go of the agent's server."""
        self._over = True
        if self._dialling is not None:
            self._dialling.cancel()
            await asyncio.wait([self._dialling])
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._call is not None:
            await self._call.hang_up()
            if self._progress is not None:
                self._progress.completed()
            await self._call.finish()
        if self._door is not None:
            await self._door.close()

    async def send_audio(self, chunk: AudioChunk) -> None:
        """Carry the user's audio to the agent."""
        self._connected("send audio").send_audio(chunk)

    async def receive_audio(self, timeout: float | None = None) -> Received | None:
        """Return the next thing from the agent; after the end, always ``EndOfStream``."""
        if self._call is None:
            raise PendingTransportError(self.name, "receive audio")
        item = EndOfStream() if self._over else await self._call.inbox.get(timeout)
        if isinstance(item, EndOfStream):
            self._over = True
        return item

    def played(self, mark_or_position: str | int, flushed: bool) -> None:
        """Answer a mark: playout reached it, or a clear removed it."""
        if self._call is not None and self._call.stream is not None and isinstance(mark_or_position, str):
            self._call.stream.mark_played(mark_or_position)

    async def interrupt(self) -> None:
        """Send the agent a ``clear``: no carrier does, so it is for agents that are known to honour it."""
        call = self._connected("interrupt")
        if not self._honours_clear:
            raise UnsupportedCapabilityError(
                adapter=self.name,
                capability="interruption",
                alternative="talk over the agent (via: speech), or set honours_clear if it honours a clear",
            )
        if call.stream is not None:
            call.stream.clear()

    async def send_dtmf(self, digits: str, *, method: DtmfMethod, tone_ms: int = 100, gap_ms: int = 100) -> None:
        """Send each digit as the stream's own event at the moment its key is pressed; the keys take their time."""
        if method != "event":
            raise UnsupportedCapabilityError(
                adapter=self.name, capability=f"dtmf:{method}", alternative="send the stream's events (method: event)"
            )
        for digit in digits:
            call = self._connected("send digits")
            call.press(digit)
            await call.clock.sleep((tone_ms + gap_ms) / 1000)

    def _connected(self, action: str) -> CarrierCall:
        if self._call is None or self._over:
            raise PendingTransportError(self.name, action)
        return self._call


def _has_callback(url: str, status_callback: str) -> bool:
    try:
        urls = (url, joined(url, status_callback))
    except RemoteProtocolError:
        return False
    return not any(why_no_url(each, WEBHOOK_SCHEMES) for each in urls)
