"""The other end of the cables: an agent that plays into one and listens to the other."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final

from voiceharness.agent import AgentCall, serve
from voiceharness.clock import LoopClock
from voiceharness.errors import AgentCrashedError, LocalProtocolError
from voiceharness.events import CallEnded, EndOfStream
from voiceharness_adapters.sound_card.agent_media import AgentMedia
from voiceharness_adapters.sound_card.session import Session
from voiceharness_adapters.sound_card.stream import Opening

if TYPE_CHECKING:
    from collections.abc import Callable

    from voiceharness.agent import PhoneAgent
    from voiceharness.errors import CallError
    from voiceharness_adapters.sound_card.cables import Cables
    from voiceharness_adapters.sound_card.stream import SoundSystem

__all__ = ["FarSide"]

GOODBYE: Final = 1.0
DOOR_RATE: Final = 8000

logger = logging.getLogger(__name__)


class FarSide:
    """Serves an agent on a pair of cables: one call after the other, each begins and ends when it is told so."""

    def __init__(
        self, agent: PhoneAgent, cables: Cables, system: SoundSystem, *, latency_ms: int = 100, rate: int = DOOR_RATE
    ) -> None:
        source, sink = f"pulse:{cables.agent_microphone}", f"pulse:{cables.to_user}"
        self._agent = agent
        self._rate = rate
        self._session = Session(system, Opening(source, sink, latency_ms=latency_ms, server=cables.server.address))
        self._media: AgentMedia | None = None
        self._door: AgentCall | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._error: CallError | None = None

    async def open(self) -> None:
        """Open the devices; they play silence until the call begins."""
        self._session.on_failure = self._failed
        stream = await self._session.open()
        self._media = AgentMedia(stream, self._rate)
        self._session.on_block = self._media.take

    async def close(self) -> None:
        """End the call, give the agent a second to finish, and release the devices. Idempotent."""
        self.call_ends()
        try:
            if self._tasks:
                await asyncio.wait(self._tasks, timeout=GOODBYE)
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            await self._session.close()

    def call_begins(self, is_judged: Callable[[], bool] = lambda: False) -> None:
        """Let the agent answer, unless it is on a call. Once ``is_judged`` says so, its device may lose what it likes.

        Raises:
            LocalProtocolError: if the devices are not open.
        """
        if self._media is None:
            raise LocalProtocolError("the agent's end of the sound card is not open; await open() first")
        if self._door is None or self._door.ended:
            self._door = AgentCall(LoopClock(), rate=self._rate)
            self._media.begin(self._door, is_judged)
            self._tasks += [
                asyncio.create_task(serve(self._agent, self._door), name="agent of the sound card"),
                asyncio.create_task(_send_all(self._door, self._media), name="sound of the agent"),
            ]

    def call_ends(self) -> None:
        """Tell the agent that the user hung up."""
        if self._door is not None:
            self._door.deliver(CallEnded("the user hung up"))

    def doubts(self) -> tuple[str, ...]:
        """Return why the agent's sound in the latest call is not what the agent said: that is no fault of the agent."""
        failed = () if self._error is None else (f"the agent's end of the sound card failed: {self._error}",)
        return (*failed, *(self._media.health.doubts() if self._media is not None else ()))

    def _failed(self, error: CallError) -> None:
        logger.warning("the agent's end of the sound card failed: %s", error)
        self._error = error
        self.call_ends()


async def _send_all(door: AgentCall, media: AgentMedia) -> None:
    try:
        while not isinstance(item := await door.sent(), EndOfStream):
            media.send(item)
    except AgentCrashedError as error:
        logger.error("sound card: the agent crashed: %s", error)
