"""Serve an agent as an answering function: what it says after the user's turn, until it has nothing more to say.

Theory of operation. The agent's call begins with the user's first utterance and goes on from turn to turn; one that is
not later than the one before belongs to another call. The agent is given the utterance at once and silence after it, at
1x, for agents that wait for the user's pause. Its turn is over when it says so, or when it has been silent for
``PAUSE`` seconds after its sound would have been played; an agent that says nothing for ``PATIENCE`` has no answer.
Words that come before the sound of their item make the answer a text, spoken by the agent's own sound: so the adapter
tells them as its own. A flush, a mark, a digit or a hang-up has no way through a function, and neither has the end of
the call.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from voiceharness.agent import AgentCall, serve
from voiceharness.audio.chunk import AudioChunk
from voiceharness.clock import NS, LoopClock
from voiceharness.errors import SpeechError
from voiceharness.events import CallEnded, EndOfStream, RemoteHangup, TurnDone, Words
from voiceharness.speech.synthesis import Speech

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping

    from voiceharness.agent import AgentItem, PhoneAgent

__all__ = ["turn_host"]

FRAME: Final = 0.02
PAUSE: Final = 0.3
PATIENCE: Final = 1.0
GOODBYE: Final = 1.0


@asynccontextmanager
async def turn_host(agent: PhoneAgent, *, rate: int = 8000) -> AsyncIterator[Mapping[str, object]]:
    """Serve an agent to a line of ``rate``, in hertz, one call at a time; yields the options of its adapter."""
    voice = _OwnVoice(rate)
    function = _AnsweringAgent(agent, voice)
    try:
        yield {"answer": function.answer, "synthesizer": voice}
    finally:
        await function.end_call()


class _OwnVoice:
    """Speaks each text of the agent by the sound that the agent made of it."""

    name = "agent"
    version = "the agent's own voice"

    def __init__(self, rate: int) -> None:
        self.rate = rate
        self._speeches: dict[str, Speech] = {}

    def text_of(self, words: Words, audio: AudioChunk) -> str:
        """Return the text that stands for a sound."""
        text = " ".join(word.text for word in words.words) or words.text
        self._speeches[text] = Speech(audio, words.words)
        return text

    def synthesize(self, text: str, *, voice: str | None = None, speed: float = 1.0) -> Speech:
        """Return what the agent said."""
        if text not in self._speeches:
            raise SpeechError(f"the agent has not said {text!r}")
        return self._speeches[text]


class _AnsweringAgent:
    """One agent, and its call that is going on."""

    def __init__(self, agent: PhoneAgent, voice: _OwnVoice) -> None:
        self._agent = agent
        self._voice = voice
        self._call: AgentCall | None = None
        self._serving: asyncio.Task[None] | None = None
        self._heard_until = -1

    async def answer(self, utterance: AudioChunk) -> AsyncIterator[AudioChunk | str]:
        """Answer one utterance with what the agent says, part by part."""
        call = await self._call_of(utterance)
        if call.ended:
            return
        for frame in _frames(utterance):
            call.deliver(frame)
        listening = asyncio.create_task(_silence(call), name="silence after the user's turn")
        try:
            async for part in _Turn(call, self._voice).parts():
                yield part
        finally:
            listening.cancel()

    async def _call_of(self, utterance: AudioChunk) -> AgentCall:
        position = utterance.position or 0
        if self._call is None or position <= self._heard_until:
            await self.end_call()
            self._call = AgentCall(LoopClock(), rate=utterance.rate)
            self._serving = asyncio.create_task(serve(self._agent, self._call), name="agent behind a function")
        self._heard_until = position
        return self._call

    async def end_call(self) -> None:
        """End the agent's call: only now is it known to be over."""
        if self._call is None or self._serving is None:
            return
        self._call.deliver(CallEnded("the user's call is over"))
        await asyncio.wait({self._serving}, timeout=GOODBYE)
        self._serving.cancel()
        await asyncio.wait({self._serving})
        self._call = None


class _Turn:
    """One turn of the agent: it knows when that is over."""

    def __init__(self, call: AgentCall, voice: _OwnVoice) -> None:
        self._call = call
        self._voice = voice
        self._words: Words | None = None
        self._has_spoken = False
        self._until_ns = call.clock.now_ns() + round(PATIENCE * NS)

    async def parts(self) -> AsyncIterator[AudioChunk | str]:
        """Yield what the agent says, as it comes."""
        while (item := await self._next()) is not None:
            match item:
                case AudioChunk():
                    self._heard(item)
                    words, self._words = self._words, None
                    yield self._voice.text_of(words, item) if words and words.item == item.item else item
                case Words(words=words) if words:
                    self._words = item
                case TurnDone() | RemoteHangup() | EndOfStream():
                    return

    async def _next(self) -> AgentItem | None:
        left = (self._until_ns - self._call.clock.now_ns()) / NS
        try:
            async with asyncio.timeout(left):
                return await self._call.sent()
        except TimeoutError:
            return None

    def _heard(self, chunk: AudioChunk) -> None:
        """Put off the end of the turn; silence, as an echo has it, puts off nothing."""
        if chunk.pcm.strip(b"\0"):
            now_ns, pause_ns = self._call.clock.now_ns(), round(PAUSE * NS)
            played_ns = max(now_ns, self._until_ns - pause_ns) if self._has_spoken else now_ns
            self._until_ns = played_ns + round(chunk.duration * NS) + pause_ns
            self._has_spoken = True


def _frames(utterance: AudioChunk) -> Iterator[AudioChunk]:
    size = 2 * round(FRAME * utterance.rate)
    for start in range(0, len(utterance.pcm), size):
        position = None if utterance.position is None else utterance.position + start // 2
        yield AudioChunk(utterance.pcm[start : start + size], utterance.rate, position)


async def _silence(call: AgentCall) -> None:
    start_ns, frame = call.clock.now_ns(), round(FRAME * call.rate)
    count = 0
    while not call.ended:
        count += 1
        await call.clock.sleep_until_ns(start_ns + round(count * FRAME * NS))
        call.deliver(AudioChunk(bytes(2 * frame), call.rate))
