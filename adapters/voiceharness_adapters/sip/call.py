"""One SIP call as its owner sees it, whichever side it is on: the adapter's user, or a hosted agent.

Theory of operation. A worker tells ticks and events; a :class:`SipCall` keeps the state they amount to and lets others
wait for it: ``up`` (a final answer and media in both directions), ``over``. Media counts as up when the audio stream is
active and a tick has passed since: ``answered``. From then on whoever listens gets ticks, and what else happens:
digits, hold, faults of the peer, how long packets wait in the worker, the end.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from voiceharness.errors import CallDroppedError, ConnectError, MediaTimeoutError
from voiceharness_adapters.sip.quality import StreamTotals
from voiceharness_adapters.sip.wire import NOTHING_SENT, Heard

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from voiceharness_adapters.sip.worker import Event, SipWorker

__all__ = ["CallEnd", "SipCall"]

HANGUP_GRACE: Final = 1.0
"""Seconds that the peer may take to confirm the end of a call."""


@dataclass(frozen=True, slots=True)
class CallEnd:
    """How a call ended: SIP status and reason, whether this side ended it, and when on the monotonic clock.

    ``final`` is the peer's final answer to the INVITE, where the worker knows that the status is one.
    """

    code: int
    reason: str
    ours: bool
    at_ns: int
    final: int | None = None


class SipCall:
    """A call of a worker. Make it with ``dial`` or, for one that came in, with its number."""

    def __init__(self, worker: SipWorker, number: int | None = None) -> None:
        loop = asyncio.get_running_loop()
        self.worker = worker
        self.number = worker.new_call(self) if number is None else number
        worker.calls[self.number] = self
        self.answered: Heard | None = None
        self._latest: Heard | None = None
        self.state = "new"
        self.held = False
        self.on_ringing: Callable[[], None] = lambda: None
        self.media: Event = {"status": "none"}
        self.stats: dict[str, float] = {}
        self.sip_ids: list[str] = []
        self.end: CallEnd | None = None
        self.error: CallDroppedError | None = None
        self.early: list[Heard] = []
        self._on_tick: Callable[[Heard], None] = lambda _heard: None
        self._news: list[Event] = []
        self._on_news: Callable[[Event], None] = self._news.append
        self._confirmed: asyncio.Future[None] = loop.create_future()
        self._totals = StreamTotals()
        self._up: asyncio.Future[None] = loop.create_future()
        self._over: asyncio.Future[None] = loop.create_future()
        self._transferred: asyncio.Future[Event] | None = None
        self._alive: asyncio.Future[None] | None = None

    # What is done with it

    async def dial(self, target: str, headers: Mapping[str, str] | None = None) -> None:
        """Send the INVITE.

        Raises:
            ConnectError: if the worker cannot, or the address is none.
        """
        await self.worker.ask("dial", call=self.number, target=target, headers=dict(headers or {}))

    async def answer(self, code: int, reason: str = "") -> None:
        """Answer an incoming call with a SIP status, provisional or final."""
        await self.worker.ask("answer", call=self.number, code=code, reason=reason)

    async def up(self, *, media_timeout: float) -> Heard:
        """Wait until the call is answered and media is up; returns the first tick of both.

        Raises:
            CallDroppedError: if the worker dies.
            ConnectError: if the call ends before; ``end`` says how.
            MediaTimeoutError: if it is answered, but has no media ``media_timeout`` seconds later.
        """
        await asyncio.wait({self._confirmed, self._over}, return_when="FIRST_COMPLETED")
        if not self._over.done():
            await asyncio.wait({self._up, self._over}, timeout=media_timeout, return_when="FIRST_COMPLETED")
        if self.answered is not None:
            return self.answered
        if self.error is not None:
            raise self.error
        if self.end is not None:
            raise ConnectError(f"sip: the call ended before its media was up: {self.end.code} {self.end.reason}")
        raise MediaTimeoutError(
            f"sip: the call was answered, but has no media {media_timeout:g} s later",
            phase="answered",
            received=f"media is {self.media['status']}",
        )

    def listen(self, on_tick: Callable[[Heard], None], on_news: Callable[[Event], None]) -> None:
        """Hand on every tick from now on, and all news, those since the begin of the call included."""
        self._on_tick, self._on_news = on_tick, on_news
        for event in self._news:
            on_news(event)
        self._news.clear()

    async def hang_up(self, code: int = 0, reason: str = "") -> None:
        """End the call in whatever state it is (BYE, CANCEL, or a refusal) and wait for its end, not for long."""
        if self._over.done():
            return
        headers = {"Reason": f'SIP;cause=200;text="{reason}"'} if reason and self.state == "confirmed" else {}
        try:
            await self.worker.ask("hangup", call=self.number, code=code, headers=headers)
        except ConnectError:
            return  # the worker has died, or is being closed: so the call has ended
        await asyncio.wait({self._over}, timeout=HANGUP_GRACE)

    async def over(self) -> None:
        """Wait for the end of the call."""
        await asyncio.wait({self._over})

    async def dtmf(self, digits: str, method: str, tone_ms: int) -> None:
        """Send digits as RTP events or as INFO; returns when they are queued."""
        await self.worker.ask("dtmf", call=self.number, digits=digits, method=method, ms=tone_ms)

    async def transfer(self, target: str, *, timeout: float) -> Event:
        """Refer the peer elsewhere (RFC 3515) and return its final report, or what was told last in time."""
        self._transferred = asyncio.get_running_loop().create_future()
        await self.worker.ask("transfer", call=self.number, target=target)
        try:
            async with asyncio.timeout(timeout):
                return await self._transferred
        except TimeoutError:
            return {"code": 408, "reason": "no report"}

    async def is_alive(self, timeout: float) -> bool:
        """Ask the peer whether it is still there; any answer counts."""
        self._alive = asyncio.get_running_loop().create_future()
        await self.worker.ask("probe", call=self.number)
        done, _ = await asyncio.wait({self._alive}, timeout=timeout)
        return bool(done)

    def send(self, tick: int, pcm: bytes) -> None:
        """Send a frame at a tick to come."""
        self.worker.send_frame(self.number, tick, pcm)

    # CallListener

    def heard(self, heard: Heard) -> None:
        """Take one tick of the media clock."""
        self._latest = heard
        if self._up.done():
            self._on_tick(heard)
        elif self.media["status"] == "active":
            if self.state in ("calling", "early"):
                self.early.append(heard)
            elif self.state == "confirmed":
                self.answered = heard
                _resolve(self._up)

    def told(self, event: Event) -> None:
        """Take one event."""
        match event["event"]:
            case "state":
                self._take_state(event)
            case "media":
                self.media = event
            case "rtp":
                event["stats"] = self._count(event["stats"])
            case "transfer" if self._transferred is not None:
                if (event["final"] or event["code"] >= 200) and not self._transferred.done():
                    self._transferred.set_result(event)
            case "alive" if self._alive is not None:
                _resolve(self._alive)
        self._on_news(event)

    def _count(self, stats: Mapping[str, float]) -> dict[str, float]:
        if stats:
            self.stats = self._totals.take(stats)
        return self.stats

    def _take_state(self, event: Event) -> None:
        self.state = event["state"]
        if event["sip_id"] not in self.sip_ids:
            self.sip_ids.append(event["sip_id"])
        if self.state == "early":
            self.on_ringing()
        if self.state == "confirmed":
            _resolve(self._confirmed)
        if self.state == "ended":
            self._count(event["stats"])
            if self._confirmed.done() and self.answered is None and self.media["status"] == "active":
                nothing = Heard(self.number, 0, NOTHING_SENT, event["at_ns"], b"")
                self.answered = self._latest or nothing  # it ended before the first tick
            self.end = CallEnd(event["code"], event["reason"], event["ours"], event["at_ns"], event.get("final"))
            self._finish()

    def failed(self, error: CallDroppedError) -> None:
        """Take note that the worker died."""
        if not self._over.done():
            self.error = error
            self._finish()
            self._on_news({"event": "failed"})

    def forget(self) -> None:
        """Give the call up: it never began."""
        self._finish()

    def _finish(self) -> None:
        if self._transferred is not None and not self._transferred.done():
            self._transferred.set_result({"code": 481, "reason": "the call ended first"})
        self.worker.calls.pop(self.number, None)
        _resolve(self._over)


def _resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
