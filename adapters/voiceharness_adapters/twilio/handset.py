"""An agent at its phone: what it says is played at 1x into the call, and what is heard on the call reaches it."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Final

from voiceharness.agent import AgentCall, serve
from voiceharness.audio.chunk import AudioChunk
from voiceharness.clock import LoopClock, Pacer
from voiceharness.errors import AgentCrashedError
from voiceharness.events import CallEnded, Digit, EndOfStream, Flush, Mark, MarkPlayed, RemoteHangup

if TYPE_CHECKING:
    from voiceharness.agent import AgentItem, PhoneAgent
    from voiceharness_adapters.twilio.carrier_call import CarrierCall

__all__ = ["Handset"]

FRAME: Final = 160
GOODBYE: Final = 1.0


class Handset:
    """One call of an agent that has a phone. The carrier's streams carry the other side of it."""

    def __init__(self, agent: PhoneAgent, line: CarrierCall) -> None:
        self._agent = agent
        self._line = line
        self._door = AgentCall(LoopClock())
        self._spoken = bytearray()
        self._played = 0
        self._marks: deque[tuple[int, str]] = deque()

    def press(self, digit: str) -> None:
        """Let the agent's phone receive a key that the carrier plays."""
        self._door.deliver(Digit(digit))

    async def talk(self) -> None:
        """Carry sound both ways until the agent hangs up, or the caller is cancelled because the other side has."""
        serving = asyncio.create_task(serve(self._agent, self._door), name="agent at its phone")
        hearing = asyncio.create_task(self._hear(), name="what an agent's phone hears")
        try:
            await self._speak()
        finally:
            self._door.deliver(CallEnded("the carrier hung up"))
            hearing.cancel()
            await asyncio.wait({serving}, timeout=GOODBYE)
            serving.cancel()
            await asyncio.wait({hearing, serving})

    async def _hear(self) -> None:
        while not isinstance(item := await self._line.inbox.get(None), EndOfStream):
            if isinstance(item, AudioChunk):
                self._door.deliver(item)

    async def _speak(self) -> None:
        clock = self._line.clock
        pacer, position = Pacer(clock, start_ns=clock.now_ns(), rate=8000), 0
        while True:
            await pacer.wait_for(position + FRAME)
            if self._has_hung_up():
                return
            self._line.send_audio(AudioChunk(self._next_frame(), 8000, position))
            self._answer_marks()
            position += FRAME

    def _has_hung_up(self) -> bool:
        """Take what the agent sent, and say whether that was the end; an agent that crashes hangs up."""
        try:
            while (item := self._door.take_sent()) is not None:
                if isinstance(item, EndOfStream | RemoteHangup):
                    return True
                self._take(item)
        except AgentCrashedError:
            return True
        return False

    def _take(self, item: AgentItem) -> None:
        match item:
            case AudioChunk():
                self._spoken += item.pcm
            case Flush():
                self._played += len(self._spoken)
                self._spoken.clear()
                while self._marks:
                    self._door.deliver(MarkPlayed(self._marks.popleft()[1], flushed=True))
            case Mark(name=name):
                self._marks.append((self._played + len(self._spoken), name))
            case Digit(digit=digit):
                self._line.press(digit)

    def _next_frame(self) -> bytes:
        frame = bytes(self._spoken[: 2 * FRAME])
        del self._spoken[: 2 * FRAME]
        self._played += len(frame)
        return frame.ljust(2 * FRAME, b"\0")

    def _answer_marks(self) -> None:
        while self._marks and self._marks[0][0] <= self._played:
            self._door.deliver(MarkPlayed(self._marks.popleft()[1]))
