"""Serve an agent over SIP: a user agent server that any SIP phone, or the adapter ``sip``, can call.

An agent may send faster than real time; what it sent waits in a playout queue, is sent at 1x with the worker's ticks,
and a flush drops what was not sent yet. A mark is answered when its place in the queue has been sent. An agent that
hangs up drops the queue, too, but not what left it: that is on its way through the worker, and spoken for the agent.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Final

from voiceharness.agent import AgentCall, serve
from voiceharness.audio.chunk import AudioChunk
from voiceharness.clock import LoopClock
from voiceharness.errors import AgentCrashedError, CallDroppedError, CallError, CallRejectedError, ConnectError
from voiceharness.events import CallEnded, Digit, EndOfStream, Flush, Mark, MarkPlayed, RemoteHangup
from voiceharness_adapters.sip.backends import CAPABILITIES
from voiceharness_adapters.sip.endpoint import SipEndpoint
from voiceharness_adapters.sip.settings import SipSettings, choose_backend, codecs_of, usual_codecs
from voiceharness_adapters.sip.wire import NOTHING_SENT

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from voiceharness.agent import AgentItem, PhoneAgent
    from voiceharness_adapters.sip.call import SipCall
    from voiceharness_adapters.sip.wire import Heard
    from voiceharness_adapters.sip.worker import Event

__all__ = ["AgentSide", "host", "serve_calls"]

GOODBYE: Final = 1.0
"""Seconds that an agent may go on after its call has ended."""

MEDIA_TIMEOUT: Final = 5.0
"""Seconds until an answered call must have media."""

AT_ONCE: Final = 40
"""Calls that may come at the same moment: each needs somebody who waits for it."""

_NARROW: Final = 8000
_LEAD: Final = 4
_FOR_EVER: Final = 10.0**9

logger = logging.getLogger(__name__)


@asynccontextmanager
async def host(agent: PhoneAgent, *, backend: str = "auto", rate: int = 8000) -> AsyncIterator[Mapping[str, object]]:
    """Serve an agent on loopback; yields the options with which the adapter ``sip`` reaches it.

    ``backend`` and ``rate`` (in hertz) are the adapter's: a wide line needs a library that has its codec.
    """
    own = choose_backend("auto" if rate == _NARROW else backend)
    served = rate if rate in CAPABILITIES[own].rates else _NARROW
    codecs = codecs_of(usual_codecs(own, served), served)
    settings = SipSettings(user="agent", backend=own, rate=served, codecs=codecs)
    async with SipEndpoint(settings) as endpoint, serve_calls(agent, endpoint):
        yield {"target": endpoint.uri}


@asynccontextmanager
async def serve_calls(agent: PhoneAgent, endpoint: SipEndpoint) -> AsyncIterator[None]:
    """Answer every call to an open endpoint with an agent."""
    calls: set[asyncio.Task[None]] = set()
    accepting = [asyncio.create_task(_accept(agent, endpoint, calls), name="SIP host") for _ in range(AT_ONCE)]
    try:
        yield
    finally:
        for task in (*accepting, *calls):
            task.cancel()
        await asyncio.gather(*accepting, *calls, return_exceptions=True)


async def _accept(agent: PhoneAgent, endpoint: SipEndpoint, calls: set[asyncio.Task[None]]) -> None:
    while True:
        try:
            inbound = await endpoint.claim(timeout=_FOR_EVER)
        except CallDroppedError:
            continue  # who waits next has a worker that listens again
        except (ConnectError, CallRejectedError) as error:
            logger.error("sip: no more calls to the agent can be taken: %s", error)
            return
        side = AgentSide(agent, inbound.handle, endpoint.settings.rate)
        task = asyncio.create_task(side.run(), name="SIP agent call")
        calls.add(task)
        task.add_done_callback(calls.discard)


class AgentSide:
    """One call of a hosted agent: between its door and the worker.

    ``unsent`` counts frames of its sound that came too late for their ticks: holes that the machine made.
    """

    def __init__(self, agent: PhoneAgent, call: SipCall, rate: int) -> None:
        self._agent = agent
        self._call = call
        self._rate = rate
        self._frame = rate // 50
        self._door = AgentCall(LoopClock(), rate=rate)
        self._queue = bytearray()
        self._queued_from = 0
        self._marks: deque[tuple[int, str]] = deque()
        self._given: set[int] = set()
        self._news = asyncio.Event()
        self.unsent = 0
        self._may_be_unsent = False  # if another tick follows: in the one of the hang-up nothing is sent any more

    async def run(self) -> None:
        """Answer the call, once it has rung for long enough, and serve it to its end."""
        if self._agent.ring:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._agent.ring):
                    await self._call.over()
        if self._call.end is not None:
            self._missed()
            return
        try:
            await self._call.answer(200)
        except ConnectError as error:
            logger.warning("sip: a call to the agent could not be answered: %s", error)
            await self._call.hang_up(500)
            return
        await self.talk()

    async def talk(self) -> None:
        """Serve the call to its end, once it is up."""
        try:
            await self._call.up(media_timeout=MEDIA_TIMEOUT)
        except CallError as error:
            logger.warning("sip: a call of the agent did not come up: %s", error)
            self._missed()
            await self._call.hang_up()
            return
        self._call.listen(self._tick, self._told)
        answering = asyncio.create_task(serve(self._agent, self._door), name="agent of SIP host")
        try:
            await self._send_all()
        finally:
            await self._finish(answering)

    def _missed(self) -> None:
        end = self._call.end
        if end is not None:
            self._agent.missed(end.code, end.reason)

    async def _finish(self, answering: asyncio.Task[None]) -> None:
        self._door.deliver(CallEnded("the user hung up"))
        await self._call.hang_up()
        if self.unsent:
            logger.warning("sip: %d frames of the agent came too late to be sent: the machine is too busy", self.unsent)
        await asyncio.wait({answering}, timeout=GOODBYE)
        answering.cancel()
        await asyncio.wait({answering}, timeout=GOODBYE)

    async def _send_all(self) -> None:
        try:
            while not isinstance(item := await self._door.sent(), EndOfStream):
                await self._send(item)
        except AgentCrashedError as error:
            logger.error("sip: the agent crashed: %s", error)
            await self._call.hang_up(500)
        except ConnectError as error:
            logger.warning("sip: the agent's call failed: %s", error)

    async def _send(self, item: AgentItem) -> None:
        match item:
            case AudioChunk():
                self._queue += item.pcm
            case Flush():
                self._flush()
            case Mark(name=name):
                self._marks.append((self._queued_from + len(self._queue), name))
                self._answer_marks()
            case Digit(digit=digit, method=method, duration=duration):
                known = method if method in ("rfc4733", "info") else "rfc4733"
                await self._call.dtmf(digit, known, round(duration * 1000) or 100)
            case RemoteHangup(reason=reason):
                await self._spoken()
                await self._call.hang_up(reason=reason)

    async def _spoken(self) -> None:
        """Drop what waits, and wait until what left the queue has been sent."""
        self._queue.clear()
        while self._given and self._call.end is None and self._call.error is None:
            await self._news.wait()

    def _tell_news(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    def _flush(self) -> None:
        self._queued_from += len(self._queue)
        self._queue.clear()
        while self._marks:
            self._door.deliver(MarkPlayed(self._marks.popleft()[1], flushed=True))

    def _answer_marks(self) -> None:
        while self._marks and self._marks[0][0] <= self._queued_from:
            self._door.deliver(MarkPlayed(self._marks.popleft()[1]))

    def _tick(self, heard: Heard) -> None:
        """Send a frame of what is queued, and hand the agent what was heard."""
        size = 2 * self._frame
        pcm = bytes(self._queue[:size])
        del self._queue[:size]
        self._queued_from += len(pcm)
        if pcm:
            self._call.send(heard.tick + _LEAD, pcm.ljust(size, b"\0"))
            self._given.add(heard.tick + _LEAD)
        self.unsent += self._may_be_unsent
        self._may_be_unsent = heard.tick in self._given and heard.sent == NOTHING_SENT
        self._given.discard(heard.tick)
        self._answer_marks()
        chunk = AudioChunk(heard.pcm or bytes(size), self._rate, heard.tick * self._frame, at_ns=heard.at_ns)
        self._door.deliver(chunk)
        self._tell_news()

    def _told(self, event: Event) -> None:
        match event["event"]:
            case "digit":
                digit = Digit(event["digit"], event["ms"] / 1000, event["method"], at_ns=event["began_ns"])
                self._door.deliver(digit)
            case "failed":
                self._door.deliver(CallEnded("the SIP worker died"))
                self._tell_news()
            case "state" if event["state"] == "ended":
                self._door.deliver(CallEnded(event["reason"]))
                self._tell_news()
