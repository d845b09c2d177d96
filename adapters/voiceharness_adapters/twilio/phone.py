"""Real phone calls: our Twilio number calls the agent's, or is called by it.

Nothing is dialled unless ``dry_run`` is off and the number is on the ``allow`` list. However a call ends, it is ended
at the carrier exactly once; should we die first, the carrier's own time limit ends it.
"""

from __future__ import annotations

import asyncio
import logging
import math
import re
from collections.abc import Mapping, Sequence  # noqa: TC003  the registry reads the types of options
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Final

from voiceharness.adapter import Option, VoiceAgentAdapter
from voiceharness.capabilities import AdapterCapabilities, Direction, DtmfMethod, Timing
from voiceharness.clock import LoopClock
from voiceharness.errors import (
    CallError,
    ConnectError,
    LocalProtocolError,
    OptionError,
    PendingTransportError,
    UnsupportedCapabilityError,
    VirtualTimeError,
)
from voiceharness.events import EndOfStream
from voiceharness_adapters.twilio.phone_number import TwilioNumber
from voiceharness_adapters.twilio.rest import DialPlan

if TYPE_CHECKING:
    from voiceharness.adapter import Received
    from voiceharness.audio.chunk import AudioChunk
    from voiceharness_adapters.twilio.phone_session import PhoneSession

__all__ = ["TwilioPhone"]

logger = logging.getLogger(__name__)

E164: Final = re.compile(r"\+[1-9]\d{6,14}")
WATCHDOG_GRACE: Final = 5.0
LONGEST_WAIT: Final = 86_400.0
PRICE_PER_MINUTE: Final = 0.014
"""US dollars, for the estimate of a dry run; the carrier's price list is what counts."""


class TwilioPhone(VoiceAgentAdapter):
    """One real call. ``endpoint`` is a number that serves several calls; without one, this call opens its own.

    ``cost`` says what the call cost, as far as the carrier has said so.
    """

    name = "twilio_phone"
    extra = "twilio"
    capabilities = AdapterCapabilities(
        dtmf=frozenset({"event", "inband"}),
        directions=frozenset({"dial", "be_dialled"}),
        rates=frozenset({8000}),
    )
    timing = Timing(paced_by="line", playout="live")

    @classmethod
    def capabilities_for(cls, options: Mapping[str, object]) -> AdapterCapabilities:
        """With a number to be dialled it dials; without one it is dialled."""
        way: Direction = "be_dialled" if options.get("to") is None else "dial"
        return replace(cls.capabilities, directions=frozenset({way}))

    def __init__(
        self,
        number: Annotated[str, Option("our Twilio number, in E.164 form")],
        *,
        to: Annotated[str | None, Option("the agent's number, in E.164 form; none: wait to be called")] = None,
        allow: Annotated[Sequence[str], Option("the numbers that may be dialled")] = (),
        dry_run: Annotated[bool, Option("check everything and dial nothing")] = True,
        account: Annotated[str, Option("the account's SID")] = "",
        token: Annotated[str, Option("the account's token")] = "",
        public_url: Annotated[str, Option("https address by which the carrier reaches this machine's server")] = "",
        listen: Annotated[str, Option("address that the server listens on")] = "127.0.0.1",
        port: Annotated[int, Option("port that the server listens on")] = 8080,
        api_url: Annotated[str | None, Option("replaces the carrier's REST interface")] = None,
        max_duration: Annotated[float, Option("the carrier ends the call after this long", "s")] = 300.0,
        ring: Annotated[float, Option("how long the agent's phone may ring", "s")] = 30.0,
        endpoint: Annotated[TwilioNumber | None, Option("a number that is open already")] = None,
    ) -> None:
        _check_numbers(number, to, allow)
        if not 1 <= max_duration <= 14_400:
            raise OptionError(f"adapter 'twilio_phone': max_duration is 1 to 14400 s, not {max_duration}")
        if endpoint is None:
            _check_account(account, token, public_url)
        self._number = number
        self._to = to
        self._dry_run = dry_run
        self._max_duration = max_duration
        self._ring = ring
        self._owns_endpoint = endpoint is None
        self._endpoint = endpoint or TwilioNumber(
            account=account, token=token, public_url=public_url, listen=listen, port=port, api_url=api_url
        )
        self._session: PhoneSession | None = None
        self._dialling: asyncio.Task[str] | None = None
        self._watchdog: asyncio.TimerHandle | None = None
        self._used = False
        self._over = False
        self._opened = False
        self._completed = False
        self._ending: asyncio.Task[None] | None = None
        self.cost = ""

    @property
    def is_connected(self) -> bool:
        """Whether the call is up, by what was received so far."""
        return self._session is not None and self._session.connected.done() and not self._over

    def call_facts(self) -> Mapping[str, str | int | float | bool | None]:
        """Return the carrier's name for the call, and what it cost."""
        call = self._session.call if self._session is not None else ""
        return {"call": call or None, "cost": self.cost or None}

    async def connect(self) -> None:
        """Dial the agent, or wait until it calls; returns when the stream of the answered call has started.

        Raises:
            CallRejectedError: if the call is refused, busy or not answered.
            ConnectError: if the public URL does not lead here, or this is a dry run and all is well.
        """
        if self._used:
            raise LocalProtocolError(f"adapter {self.name!r} has had its call; make another adapter for the next")
        if LoopClock().virtual:
            raise VirtualTimeError("a real phone call takes real time: run in real time")
        self._used = True
        if self._owns_endpoint:
            self._opened = True
            await self._endpoint.open()
        self._session = await (self._wait_for_call() if self._to is None else self._dial(self._to))
        await self._session.connected
        loop = asyncio.get_running_loop()
        self._watchdog = loop.call_later(self._max_duration + WATCHDOG_GRACE, self._time_is_up)

    async def _wait_for_call(self) -> PhoneSession:
        claimed = await self._endpoint.claim(timeout=LONGEST_WAIT, identity=self._number)
        session: PhoneSession = claimed.handle
        return session

    async def _dial(self, to: str) -> PhoneSession:
        if self._dry_run:
            minutes = math.ceil(self._max_duration / 60)
            raise ConnectError(
                f"dry run: everything is ready to dial, at up to {minutes} min (about {minutes * PRICE_PER_MINUTE:.2f} "
                "USD); set dry_run to false to place the call"
            )
        await self._endpoint.wait_for_turn()
        self._session = session = self._endpoint.expect()
        plan = DialPlan(
            to=to,
            number=self._number,
            voice_url=self._endpoint.voice_url(session),
            status_url=self._endpoint.status_url(session),
            ring=math.ceil(self._ring),
            limit=math.ceil(self._max_duration),
        )
        self._dialling = asyncio.create_task(self._endpoint.api.dial(plan), name="twilio_phone dials")
        session.call = await asyncio.shield(self._dialling)
        return session

    def _time_is_up(self) -> None:
        if self._session is not None:
            logger.error("the carrier did not end the call at its time limit; it is ended now")
            self._session.over("the call's time limit was over")

    async def disconnect(self) -> None:
        """End the call at the carrier, once, and close what this call opened."""
        self._over = True
        if self._watchdog is not None:
            self._watchdog.cancel()
        if self._ending is None or self._ending.done():
            self._ending = asyncio.create_task(self._end(), name="twilio_phone ends its call")
        await asyncio.shield(self._ending)

    async def _end(self) -> None:
        try:
            await self._complete()
        finally:
            if self._session is not None:
                self._endpoint.forget(self._session)
                await self._session.close()
            if self._opened:
                self._opened = False
                await self._endpoint.close()

    async def _complete(self) -> None:
        if self._completed or self._session is None:
            return
        self._completed = True
        call = self._session.call or await self._dialled()
        if not call:
            return
        try:
            if not self._session.completed:
                await self._endpoint.api.complete(call)
            self.cost = await self._endpoint.api.cost(call)
            logger.info("the call is over: %s", self.cost)
        except CallError:
            logger.exception("the call could not be ended; the carrier ends it at its time limit")

    async def _dialled(self) -> str:
        """Return the identifier of a call whose dialling was given up half-way."""
        if self._dialling is None:
            return ""
        (outcome,) = await asyncio.gather(self._dialling, return_exceptions=True)
        return outcome if isinstance(outcome, str) else ""

    async def send_audio(self, chunk: AudioChunk) -> None:
        """Send the user's audio to the carrier, which plays it to the agent."""
        await self._connected("send audio").send_audio(chunk)

    async def receive_audio(self, timeout: float | None = None) -> Received | None:
        """Return the next thing from the agent; after the end, always ``EndOfStream``."""
        if self._session is None or not self._session.connected.done():
            raise PendingTransportError(self.name, "receive audio")
        item = EndOfStream() if self._over else await self._session.inbox.get(timeout)
        if isinstance(item, EndOfStream):
            self._over = True
        return item

    async def send_dtmf(self, digits: str, *, method: DtmfMethod, tone_ms: int = 100, gap_ms: int = 100) -> None:
        """Let the carrier play the keys (``<Play digits>``) and connect the stream again; it decides their length."""
        if method != "event":
            raise UnsupportedCapabilityError(
                adapter=self.name, capability=f"dtmf:{method}", alternative="let the carrier play them (method: event)"
            )
        session = self._connected("send digits")
        session.change_stream()
        document = self._endpoint.twiml(session).replace("<Connect>", f'<Play digits="{digits}"/><Connect>', 1)
        await self._endpoint.api.redirect(session.call, document)

    def _connected(self, action: str) -> PhoneSession:
        if self._session is None or self._over or not self._session.connected.done():
            raise PendingTransportError(self.name, action)
        return self._session


def _check_numbers(number: str, to: str | None, allow: Sequence[str]) -> None:
    for each in (number, *([to] if to is not None else []), *allow):
        if E164.fullmatch(each) is None:
            raise OptionError("adapter 'twilio_phone': a number is written as + and digits, country code first (E.164)")
    if to is not None and to not in allow:
        raise OptionError(
            "adapter 'twilio_phone': the number to be dialled is not on the allow list; nothing is dialled"
        )


def _check_account(account: str, token: str, public_url: str) -> None:
    missing = [
        name for name, value in {"account": account, "token": token, "public_url": public_url}.items() if not value
    ]
    if missing:
        raise OptionError(f"adapter 'twilio_phone' needs {' and '.join(missing)}")
