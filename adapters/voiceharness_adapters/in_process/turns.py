"""The turn-based in-process adapter: a function from what the user said to what the agent answers.

Theory of operation. The line tells the user's true onset and offset. Between them the user's audio is kept; at the
offset it goes to a queue, and one task calls the function for one utterance after the other, in order. The answer is
sent as it comes, so the time from the offset to the answer is the function's own. A function that is not async runs in
a thread in real time (it may block), and at once in virtual time.
"""

from __future__ import annotations

import asyncio
import inspect
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterable
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias

from voiceharness.adapter import Option
from voiceharness.agent import AgentCall, PhoneAgent
from voiceharness.audio.chunk import AudioChunk
from voiceharness.capabilities import AdapterCapabilities, Timing
from voiceharness.errors import OptionError
from voiceharness.events import TurnDone, Words
from voiceharness.speech.engines import make_synthesizer
from voiceharness.speech.synthesis import Synthesizer  # noqa: TC001  the registry reads the types of options
from voiceharness_adapters.in_process.session import InProcessAdapter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Answer", "AnswerFunction", "InProcessTurns"]

END: Final = object()

Part: TypeAlias = AudioChunk | str
Answer: TypeAlias = Part | Iterable[Part] | AsyncIterable[Part] | None
"""Audio, text to be spoken, several of these as they become ready, or no answer (None, or empty text)."""

AnswerFunction: TypeAlias = Callable[[AudioChunk], Any]  # Any: an Answer, or an awaitable of one
"""A function, async or not, from the user's utterance to an :data:`Answer`."""


class InProcessTurns(InProcessAdapter):
    """One call to an answering function.

    It has no interruption and no keypad events: what the user does reaches it as sound. It delivers transcripts where
    it speaks text itself, so only with a synthesizer.
    """

    name = "in_process_turns"
    answers_only = True
    capabilities = AdapterCapabilities(
        dtmf=frozenset({"inband"}),
        streaming_transcripts=True,
        directions=frozenset({"dial"}),
        rates=frozenset({8000, 16000, 48000}),
        virtual_time=True,
    )
    timing = Timing(paced_by="line", playout="queued")

    def __init__(
        self,
        answer: Annotated[
            Callable[[AudioChunk], Any],
            Option("from the user's utterance to the answer's audio or text, or package.module:name of it"),
        ],
        *,
        synthesizer: Annotated[
            Synthesizer | str | None, Option("speaks answers that are text; an engine, or its name")
        ] = None,
        rate: Annotated[int, Option("line rate: 8000, 16000 or 48000", "Hz")] = 8000,
        goodbye: Annotated[float, Option("time an answer may take to finish after the call has ended", "s")] = 1.0,
    ) -> None:
        super().__init__(rate=rate, goodbye=goodbye)
        speaker = None if synthesizer is None else make_synthesizer(synthesizer, rate=rate)
        self._turns = _Turns(answer, speaker)

    @classmethod
    def capabilities_for(cls, options: Mapping[str, object]) -> AdapterCapabilities:
        """Without a synthesizer no text is spoken, so there are no transcripts."""
        return replace(cls.capabilities, streaming_transcripts=options.get("synthesizer") is not None)

    def _agent(self) -> PhoneAgent:
        return self._turns

    async def send_audio(self, chunk: AudioChunk) -> None:
        """Keep the user's audio while the user speaks."""
        self._connected("send audio")
        self._turns.hear(chunk)

    def user_turn_started(self) -> None:
        """Keep the user's audio from here on."""
        self._turns.start()

    def user_turn_ended(self) -> None:
        """Ask the function for an answer to what the user said."""
        self._turns.end()


class _Turns(PhoneAgent):
    """The agent behind the function: answers one utterance after the other."""

    def __init__(self, function: AnswerFunction, synthesizer: Synthesizer | None) -> None:
        self._function = function
        self._synthesizer = synthesizer
        self._previous: AudioChunk | None = None
        self._utterance: list[AudioChunk] | None = None
        self._waiting: deque[AudioChunk] = deque()
        self._asked = asyncio.Event()

    def hear(self, chunk: AudioChunk) -> None:
        self._previous = chunk
        if self._utterance is not None:
            self._utterance.append(chunk)

    def start(self) -> None:
        """Begin an utterance. Its onset may lie in the frame that was sent last."""
        self._utterance = [] if self._previous is None else [self._previous]

    def end(self) -> None:
        spoken, self._utterance = self._utterance, None
        if spoken:
            self._waiting.append(_joined(spoken))
            self._asked.set()

    async def answer(self, call: AgentCall) -> None:
        """Answer every utterance until the call ends."""
        call.listen(lambda _item: self._asked.set())  # only the end of the call comes this way
        turn = 0
        while not call.ended:
            await self._asked.wait()
            self._asked.clear()
            while self._waiting and not call.ended:
                turn += 1
                await self._take_turn(call, self._waiting.popleft(), f"answer {turn}")

    async def _take_turn(self, call: AgentCall, utterance: AudioChunk, item: str) -> None:
        sent = 0.0
        async with aclosing(_parts(await _called(self._function, utterance))) as parts:
            async for part in parts:
                if part == "":
                    continue
                audio = await self._speak(call, part, item, sent) if isinstance(part, str) else part
                call.send(replace(audio, position=None, item=item, at_ns=None))
                sent += audio.duration
        call.send(TurnDone(item))

    async def _speak(self, call: AgentCall, text: str, item: str, start: float) -> AudioChunk:
        """Speak text that begins ``start`` seconds into its item; send its words and return its audio."""
        if self._synthesizer is None:
            raise OptionError("the answer is text; give in_process_turns a synthesizer, or answer with audio")
        speech = await asyncio.to_thread(self._synthesizer.synthesize, text)
        words = (replace(word, start=start + word.start, end=start + word.end) for word in speech.words)
        call.send(Words(item, tuple(words)))
        return speech.audio


def _joined(chunks: Sequence[AudioChunk]) -> AudioChunk:
    """Join chunks in their order; what was lost between two of them is silence."""
    pcm = bytearray()
    start = chunks[0].position
    for chunk in chunks:
        if start is not None and chunk.position is not None:
            pcm.extend(bytes(max(0, 2 * (chunk.position - start) - len(pcm))))
        pcm += chunk.pcm
    return AudioChunk(bytes(pcm), chunks[0].rate, start)


async def _called(function: AnswerFunction, utterance: AudioChunk) -> object:
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        answer = function(utterance)
    else:
        answer = await asyncio.to_thread(function, utterance)
    return await answer if inspect.isawaitable(answer) else answer


async def _parts(answer: object) -> AsyncGenerator[Part, None]:
    """Yield the parts of an answer as they become ready."""
    if isinstance(answer, AsyncGenerator):
        async with aclosing(answer):
            async for part in answer:
                yield _part(part)
    elif isinstance(answer, AsyncIterable):
        async for part in answer:
            yield _part(part)
    elif isinstance(answer, Iterable) and not isinstance(answer, str | bytes):
        iterator = iter(answer)
        while (part := await asyncio.to_thread(next, iterator, END)) is not END:
            yield _part(part)
    elif answer is not None:
        yield _part(answer)


def _part(part: object) -> Part:
    if isinstance(part, AudioChunk | str):
        return part
    raise TypeError(f"an answer is an AudioChunk, a str, several of them, or None; not {type(part).__name__}")
