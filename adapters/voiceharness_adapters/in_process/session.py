"""What both in-process adapters share: an agent that is served as a task beside the call."""

from __future__ import annotations

import asyncio
import logging
from abc import abstractmethod
from typing import TYPE_CHECKING

from voiceharness.adapter import VoiceAgentAdapter
from voiceharness.agent import AgentCall, serve
from voiceharness.clock import LoopClock
from voiceharness.errors import LocalProtocolError, OptionError, PendingTransportError
from voiceharness.events import CallEnded, EndOfStream, MarkPlayed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voiceharness.adapter import Received
    from voiceharness.agent import PhoneAgent
    from voiceharness.audio.chunk import AudioChunk

__all__ = ["InProcessAdapter"]

logger = logging.getLogger(__name__)


class InProcessAdapter(VoiceAgentAdapter):
    """Serve a :class:`PhoneAgent` in this loop, and hand everything over without copying or waiting.

    ``goodbye`` is how long, in seconds, the agent may go on after the call has ended before it is cancelled.
    """

    def __init__(self, *, rate: int, goodbye: float) -> None:
        if rate not in self.capabilities.rates:
            known = ", ".join(map(str, sorted(self.capabilities.rates)))
            raise OptionError(f"adapter {self.name!r} has no line rate {rate} Hz; it has {known}")
        if goodbye < 0:
            raise OptionError(f"adapter {self.name!r}: goodbye is a duration in seconds, not {goodbye}")
        self.rate = rate
        self.goodbye = goodbye
        self._call: AgentCall | None = None
        self._task: asyncio.Task[None] | None = None
        self._over = False
        self._late_crash: BaseException | None = None

    @abstractmethod
    def _agent(self) -> PhoneAgent:
        """Return the agent that answers this call."""

    @property
    def is_connected(self) -> bool:
        """Whether the agent is being served and its end of the call has not been received yet."""
        return self._call is not None and not self._over

    @property
    def sent_after_end(self) -> int:
        """How many items the agent sent after the call had ended."""
        return 0 if self._call is None else self._call.late_items

    def call_facts(self) -> Mapping[str, str | int | float | bool | None]:
        """Tell what the agent's code raised once the call was over: too late to break it, but not to be lost."""
        late = self._late_crash
        return {} if late is None else {"raised_after_end": f"{type(late).__name__}: {late}"}

    async def connect(self) -> None:
        """Start to serve the agent; it is answered at once.

        Raises:
            LocalProtocolError: if this adapter has been connected before. One adapter object is one call.
        """
        if self._call is not None or self._over:
            raise LocalProtocolError(f"adapter {self.name!r} has had its call; make another adapter for the next")
        self._call = AgentCall(LoopClock(), rate=self.rate)
        self._task = asyncio.create_task(serve(self._agent(), self._call), name=f"agent of {self.name}")

    async def disconnect(self) -> None:
        """End the call, give the agent its ``goodbye`` to finish, then cancel it."""
        self._over = True
        if self._call is None or self._task is None:
            return
        crashed_before = self._call.crash_cause is not None
        self._call.deliver(CallEnded("the user hung up"))
        try:
            await asyncio.wait([self._task], timeout=self.goodbye)
        finally:
            self._task.cancel()
        _, running = await asyncio.wait([self._task], timeout=self.goodbye)
        if not crashed_before and self._call.crash_cause is not None:
            self._late_crash = self._call.crash_cause
        if running:
            logger.error("adapter %r: the agent ignores its cancellation; it is left running", self.name)

    async def send_audio(self, chunk: AudioChunk) -> None:
        """Hand the user's audio to the agent."""
        self._connected("send audio").deliver(chunk)

    async def receive_audio(self, timeout: float | None = None) -> Received | None:
        """Return the next thing the agent sent; after the end, always ``EndOfStream``."""
        if self._call is None:
            raise PendingTransportError(self.name, "receive audio")
        item = self._call.take_sent()
        if item is None:
            if self._over:
                return EndOfStream()
            item = await self._wait_for_item(self._call, timeout)
        if isinstance(item, EndOfStream):
            self._over = True
        return item

    async def _wait_for_item(self, call: AgentCall, timeout: float | None) -> Received | None:
        try:
            async with asyncio.timeout(timeout):
                return await call.sent()
        except TimeoutError:
            return None

    def played(self, mark_or_position: str | int, flushed: bool) -> None:
        """Answer the agent's mark; positions are of no interest to it."""
        if self._call is not None and isinstance(mark_or_position, str):
            self._call.deliver(MarkPlayed(mark_or_position, flushed))

    def _connected(self, action: str) -> AgentCall:
        if self._call is None or self._over:
            raise PendingTransportError(self.name, action)
        return self._call
