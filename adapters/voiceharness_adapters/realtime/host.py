"""Serve a :class:`PhoneAgent` behind a scripted realtime transport, with no network."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from voiceharness.agent import AgentCall, serve
from voiceharness.audio.chunk import AudioChunk
from voiceharness.clock import LoopClock
from voiceharness.errors import AgentCrashedError
from voiceharness.events import (
    CallEnded,
    EndOfStream,
    Flush,
    HistoryClaimed,
    Interrupted,
    RemoteHangup,
    TruncationClaimed,
    TurnDone,
    Words,
)
from voiceharness.scripted.calls import CALL_TYPES, CloseCall, ConnectCall, InterruptCall, SendAudioCall
from voiceharness.scripted.inbound import (
    AudioEvent,
    AudioInterruptedEvent,
    AudioTranscriptDeltaEvent,
    ItemUpdateEvent,
    RawEvent,
    TurnDoneEvent,
)
from voiceharness.scripted.transport import ScriptedRealtimeTransport

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping

    from voiceharness.agent import AgentItem, PhoneAgent
    from voiceharness.scripted.calls import RealtimeCall
    from voiceharness.scripted.inbound import RealtimeEvent

__all__ = ["FarSide", "host"]

GOODBYE: Final = 1.0
"""Seconds that the agent may go on after the call has ended."""


@asynccontextmanager
async def host(agent: PhoneAgent, *, rate: int = 8000) -> AsyncIterator[Mapping[str, object]]:
    """Serve an agent, one call at a time; yields the options with which the adapter reaches it.

    The transport carries 16-bit samples at ``rate``, in hertz, and so does the agent's door. Marks and digits have no
    way through it: realtime transports have none.
    """
    far_side = FarSide(agent, ScriptedRealtimeTransport(), rate)
    try:
        yield {"transport": far_side.transport, "audio_rate": rate}
    finally:
        await far_side.end()


class FarSide:
    """Answers the calls of a transport with what an agent does."""

    def __init__(self, agent: PhoneAgent, transport: ScriptedRealtimeTransport, rate: int) -> None:
        self.transport = transport
        self._agent = agent
        self._rate = rate
        self._call: AgentCall | None = None
        self._tasks: list[asyncio.Task[None]] = []
        for kind in CALL_TYPES:
            transport.when(kind).run(self._take)

    def _take(self, call: RealtimeCall) -> None:
        match call:
            case ConnectCall():
                self._call = AgentCall(LoopClock(), rate=self._rate)
                self._tasks += [
                    asyncio.create_task(serve(self._agent, self._call), name="agent behind a scripted transport"),
                    asyncio.create_task(self._forward(self._call), name="events of a scripted transport"),
                ]
            case SendAudioCall() if self._call is not None:
                self._call.deliver(AudioChunk(call.audio, self._rate))
            case InterruptCall() if self._call is not None:
                self._call.deliver(Interrupted())
            case CloseCall() if self._call is not None:
                self._call.deliver(CallEnded("the user hung up"))
                self._call = None

    async def _forward(self, call: AgentCall) -> None:
        try:
            while not isinstance(item := await call.sent(), EndOfStream | RemoteHangup):
                for event in _events_of(item) if call is self._call else ():
                    self.transport.emit(event)
        except AgentCrashedError as error:
            self._hang_up(call, error)
        else:
            self._hang_up(call)

    def _hang_up(self, call: AgentCall, error: AgentCrashedError | None = None) -> None:
        if call is self._call:  # else the transport has been closed, and may serve the next call
            self.transport.disconnect(error)

    async def end(self) -> None:
        """See that the agent is gone."""
        if not self._tasks:
            return
        if self._call is not None:
            self._call.deliver(CallEnded("the transport was closed"))
        await asyncio.wait(self._tasks, timeout=GOODBYE)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


def _events_of(item: AgentItem) -> Iterator[RealtimeEvent]:
    """Go through the events of a transport for what an agent sent."""
    match item:
        case AudioChunk():
            yield AudioEvent(data=item.pcm, item_id=item.item)
        case Flush():
            yield AudioInterruptedEvent()
        case Words(words=(), text=text):
            yield AudioTranscriptDeltaEvent(delta=text, item_id=item.item)
        case Words(words=words):
            for word in words:
                delta = f"{word.text} "
                yield AudioTranscriptDeltaEvent(delta=delta, item_id=item.item, start=word.start, end=word.end)
        case TurnDone():
            yield TurnDoneEvent()
        case TruncationClaimed(item=name, heard=seconds):
            end_ms = round(seconds * 1000)
            yield RawEvent(data={"type": "conversation.item.truncated", "item_id": name, "audio_end_ms": end_ms})
        case HistoryClaimed(item=name, text=text):
            content = [{"type": "output_audio", "transcript": text}]
            yield ItemUpdateEvent(item={"id": name, "role": "assistant", "status": "completed", "content": content})
