"""The other end of the cables: an agent that plays into one and listens to the other."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from typing import TYPE_CHECKING, Final

import numpy as np

from voiceharness.agent import AgentCall, serve
from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.resample import Resampler
from voiceharness.clock import LoopClock
from voiceharness.errors import AgentCrashedError, LocalProtocolError
from voiceharness.events import CallEnded, EndOfStream, Flush, Mark, MarkPlayed
from voiceharness_adapters.sound_card.health import DeviceHealth, SoundingTicks
from voiceharness_adapters.sound_card.session import Session
from voiceharness_adapters.sound_card.stream import Opening

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from voiceharness.agent import AgentItem, PhoneAgent
    from voiceharness.errors import CallError
    from voiceharness_adapters.sound_card.cables import Cables
    from voiceharness_adapters.sound_card.stream import Block, SoundStream, SoundSystem

__all__ = ["FarSide"]

GOODBYE: Final = 1.0
LEAD: Final = 10
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
        self._media: _AgentMedia | None = None
        self._door: AgentCall | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._error: CallError | None = None

    async def open(self) -> None:
        """Open the devices; they play silence until the call begins."""
        self._session.on_failure = self._failed
        stream = await self._session.open()
        self._media = _AgentMedia(stream, self._rate)
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

    def call_begins(self) -> None:
        """Let the agent answer, unless it is on a call.

        Raises:
            LocalProtocolError: if the devices are not open.
        """
        if self._media is None:
            raise LocalProtocolError("the agent's end of the sound card is not open; await open() first")
        if self._door is None or self._door.ended:
            self._door = AgentCall(LoopClock(), rate=self._rate)
            self._media.begin(self._door)
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


async def _send_all(door: AgentCall, media: _AgentMedia) -> None:
    try:
        while not isinstance(item := await door.sent(), EndOfStream):
            media.send(item)
    except AgentCrashedError as error:
        logger.error("sound card: the agent crashed: %s", error)


class _AgentMedia:
    """The agent's sound between its door and the device: a playout queue, and what was heard.

    ``door`` is None until the call begins.
    """

    def __init__(self, stream: SoundStream, rate: int) -> None:
        self.door: AgentCall | None = None
        self._stream = stream
        self._rate = rate
        self._frame = rate * stream.block // stream.rate
        self._down = Resampler(stream.rate, rate)
        self._up = Resampler(rate, stream.rate)
        self._queue: deque[NDArray[np.int16]] = deque()
        self._queued = self._played = self._heard = 0
        self._marks: deque[tuple[int, str]] = deque()
        self._sounding = SoundingTicks()
        self.health = self._new_health()

    def _new_health(self) -> DeviceHealth:
        return DeviceHealth(self._stream.rate, self._stream.block, "the agent's")

    def begin(self, door: AgentCall) -> None:
        """Go on with another call; what is left of the last one is dropped."""
        self.door = door
        self._queue.clear()
        self._marks.clear()
        self._queued = self._played = self._heard = 0
        self.health = self._new_health()

    def send(self, item: AgentItem) -> None:
        """Take what the agent sent."""
        match item:
            case AudioChunk():
                self._queue.append(item.samples)
                self._queued += len(item)
            case Flush():
                self._queue.clear()
                self._played = self._queued
                self._answer_marks(flushed=True)
            case Mark(name=name):
                self._marks.append((self._queued, name))
                self._answer_marks()

    def _answer_marks(self, *, flushed: bool = False) -> None:
        while self.door and self._marks and (flushed or self._marks[0][0] <= self._played):
            self.door.deliver(MarkPlayed(self._marks.popleft()[1], flushed))

    def take(self, block: Block) -> None:
        """Play a block of what is queued, and hand the agent what was heard."""
        self.health.take(block, sounding=self._sounding.at(block.tick))
        self._put(block.tick + LEAD, self._next(self._frame))
        heard = self._down.push(np.frombuffer(block.pcm, np.int16))
        if self.door is None:
            return
        self.door.deliver(AudioChunk(heard.tobytes(), self._rate, self._heard, at_ns=block.at_ns))
        self._heard += len(heard)
        self._answer_marks()

    def _put(self, tick: int, samples: NDArray[np.int16]) -> None:
        """Put one block. The resampler's first block is short; it begins with that much silence."""
        made = self._up.push(samples)
        made = np.concatenate((np.zeros(self._stream.block - len(made), np.int16), made))
        self._sounding.note(tick, made)
        self._stream.put(tick, made.tobytes())

    def _next(self, count: int) -> NDArray[np.int16]:
        """Take samples from the queue, silence where there are none."""
        parts: list[NDArray[np.int16]] = []
        missing = count
        while missing and self._queue:
            head = self._queue.popleft()
            parts.append(head[:missing])
            if len(head) > missing:
                self._queue.appendleft(head[missing:])
            missing -= len(parts[-1])
        self._played += count - missing
        return np.concatenate([*parts, np.zeros(missing, np.int16)])
