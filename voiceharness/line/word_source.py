"""Where the agent's words come from while a call runs: its transport, or the harness's own transcriber.

The transport's words carry times, so the position of one is exact, and may even lie ahead. A transcriber hears a
word some time after it was said, and may revise it; only its stable words count, and the position is when they did.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, Literal, Protocol, TypeAlias

from voiceharness.audio.chunk import AudioChunk

if TYPE_CHECKING:
    from voiceharness.line.bell import News
    from voiceharness.line.line import Line
    from voiceharness.speech.transcription import LiveTranscriber, TranscriptUpdate

__all__ = ["AnyWords", "Enough", "TranscribedWords", "TransportWords", "WordSource"]

LEAD: Final = 0.06
"""Seconds by which a word's own time may precede the onset that was heard."""

FEED: Final = 0.1
"""Seconds of heard audio that the transcriber is given at a time."""

Enough: TypeAlias = Callable[[Sequence[str]], int | None]
"""Given the words of a turn so far, tells how many of them are enough; None: not yet."""

NEW_WORDS: Final[tuple[News, ...]] = ("words",)

LATE_WORDS: Final = 1.0
"""Seconds after a turn's onset in which an agent that sends words has sent the first ones of the call."""

REVISION_WAIT: Final = 1.5
"""Seconds after the end of a turn in which a transcriber may still bring its last words."""


class WordSource(Protocol):
    """Tells when the agent has said the words of a turn that somebody waits for."""

    @property
    def name(self) -> Literal["agent", "transcriber"]:
        """Who supplied the words that were told last."""
        ...

    async def until_said(self, line: Line, onset: int, enough: Enough, deadline: int) -> int | None:
        """Wait for enough words of the turn that began at ``onset``; return the position at which the last counts.

        None if it does not come before the deadline, the end of the turn, or the end of the call.
        """

    async def text(self, line: Line, onset: int, offset: int) -> str:
        """Return the words heard between two positions."""


class TransportWords:
    """The words that the agent's transport delivers."""

    name: Literal["agent", "transcriber"] = "agent"

    async def until_said(self, line: Line, onset: int, enough: Enough, deadline: int) -> int | None:
        """Return the end of the last word's audio; text may come late, but not a word of another turn."""
        settings, downlink = line.settings, line.downlink
        lead, patience = settings.samples(LEAD), settings.samples(REVISION_WAIT)
        tail = settings.samples(line.adapter.tail_silence)

        known: list[str] = []
        count: int | None = None

        def end_of_word() -> int | None:
            nonlocal known, count
            silence = downlink.silence_after(onset, tail)
            last = math.inf if silence is None else silence[0] + lead
            turn = [word for word in downlink.words() if onset - lead <= word.start < last]
            texts = [word.text for word in turn]
            if texts != known:  # most news is of audio
                known, count = texts, enough(texts)
            return None if count is None else turn[count - 1].end

        def word_or_silence() -> int | None:
            word, silence = end_of_word(), downlink.silence_after(onset, tail)
            over = None if silence is None else silence[0] + patience
            return min((at for at in (word, over) if at is not None), default=None)

        at, word = await line.until(word_or_silence, deadline=deadline, on=("audio", "words")), end_of_word()
        return word if at is not None and word is not None and word <= at else None

    async def text(self, line: Line, onset: int, offset: int) -> str:
        """Return the words whose audio lies between two positions; text that came late still counts."""
        first, last = onset - line.settings.samples(LEAD), offset + line.settings.samples(LEAD)
        return " ".join(word.text for word in line.downlink.words() if word.start >= first and word.end <= last)


class TranscribedWords:
    """The words that the harness's transcriber understands in heard audio."""

    name: Literal["agent", "transcriber"] = "transcriber"

    def __init__(self, make: Callable[[Callable[[TranscriptUpdate], None]], LiveTranscriber]) -> None:
        """``make`` gives a transcriber whose updates go to the function it is given."""
        self.live = make(self._on_update)
        self._line: Line | None = None
        self._stable: list[str] = []

    def _on_update(self, update: TranscriptUpdate) -> None:
        self._stable = [word.text for word in update.stable]
        if self._line is not None:
            self._line.bell.ring("words")

    async def until_said(self, line: Line, onset: int, enough: Enough, deadline: int) -> int | None:
        """Feed what is heard until enough words are stable, and return the position at which they were."""
        self._line, self._stable = line, []
        fed, step, patience = onset, line.settings.samples(FEED), line.settings.samples(REVISION_WAIT)
        try:
            while enough(self._stable) is None:
                silence = line.downlink.silence_after(onset, patience)
                if line.now >= deadline or (silence is not None and silence[1] <= line.now):
                    return None
                if await line.until(partial(self._next_look, line, enough, fed + step), on=NEW_WORDS) is None:
                    return None
                now = line.now
                if now > fed:
                    heard = line.downlink.heard.view(fed, now)
                    self.live.feed(AudioChunk.from_samples(heard, line.settings.rate, fed))
                    fed = now
            return line.now
        finally:
            self._line = None
            await self.live.finish()

    def _next_look(self, line: Line, enough: Enough, feeding: int) -> int:
        return feeding if enough(self._stable) is None else line.now

    async def text(self, line: Line, onset: int, offset: int) -> str:
        """Transcribe what was heard between two positions."""
        if offset <= onset:
            return ""
        heard = line.downlink.heard.view(onset, offset)
        return (await self.live.transcribe(AudioChunk.from_samples(heard, line.settings.rate, onset))).text


class AnyWords:
    """The words that the transport delivers; of an agent that sends none, those that the transcriber understands."""

    def __init__(self, transcriber: Callable[[], Awaitable[TranscribedWords | None]]) -> None:
        """``transcriber`` opens one, once it is needed; None: there is none to be had."""
        self._open = transcriber
        self._sent = TransportWords()
        self._transcribed: TranscribedWords | None = None
        self._last: TransportWords | TranscribedWords = self._sent

    @property
    def name(self) -> Literal["agent", "transcriber"]:
        """Who supplied the words that were told last."""
        return self._last.name

    async def until_said(self, line: Line, onset: int, enough: Enough, deadline: int) -> int | None:
        """Wait for the transport's words, unless it turns out that none are sent."""
        late = onset + line.settings.samples(LATE_WORDS)
        await line.until(lambda: line.now if line.downlink.words() else late, deadline=deadline, on=NEW_WORDS)
        return await (await self._chosen(line)).until_said(line, onset, enough, deadline)

    async def text(self, line: Line, onset: int, offset: int) -> str:
        """Return the transport's words; if it never sent any, what the transcriber understands."""
        return await (await self._chosen(line)).text(line, onset, offset)

    async def _chosen(self, line: Line) -> TransportWords | TranscribedWords:
        self._last = self._sent
        if not line.downlink.words():
            self._transcribed = self._transcribed or await self._open()
            self._last = self._transcribed or self._sent
        return self._last
