"""Where the agent's words come from while a call runs: its transport, or the harness's own transcriber.

The transport's words carry times, so the position of the n-th is exact, and may even lie ahead. A transcriber hears a
word some time after it was said, and may revise it; only its stable words count, and the position is when they did.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Final, Literal, Protocol

from voiceharness.audio.chunk import AudioChunk

if TYPE_CHECKING:
    from collections.abc import Callable

    from voiceharness.line.bell import News
    from voiceharness.line.line import Line
    from voiceharness.speech.transcription import LiveTranscriber, TranscriptUpdate

__all__ = ["TranscribedWords", "TransportWords", "WordSource"]

LEAD: Final = 0.06
"""Seconds by which a word's own time may precede the onset that was heard."""

FEED: Final = 0.1
"""Seconds of heard audio that the transcriber is given at a time."""

NEW_WORDS: Final[tuple[News, ...]] = ("words",)

REVISION_WAIT: Final = 1.5
"""Seconds after the end of a turn in which a transcriber may still bring its last words."""


class WordSource(Protocol):
    """Tells when the agent's n-th word of a turn has been heard."""

    name: Literal["agent", "transcriber"]

    async def nth_word(self, line: Line, onset: int, count: int, deadline: int) -> int | None:
        """Wait for the n-th word of the turn that began at ``onset`` and return the position at which it counts.

        None if it does not come before the deadline, the end of the turn, or the end of the call.
        """

    async def text(self, line: Line, onset: int, offset: int) -> str:
        """Return the words heard between two positions."""


class TransportWords:
    """The words that the agent's transport delivers."""

    name: Literal["agent", "transcriber"] = "agent"

    async def nth_word(self, line: Line, onset: int, count: int, deadline: int) -> int | None:
        """Return the end of the n-th word's audio; text may come late, but not a word of another turn."""
        settings, downlink = line.settings, line.downlink
        lead, patience = settings.samples(LEAD), settings.samples(REVISION_WAIT)
        tail = settings.samples(line.adapter.tail_silence)

        def end_of_word() -> int | None:
            silence = downlink.silence_after(onset, tail)
            last = math.inf if silence is None else silence[0] + lead
            turn = [word for word in downlink.words() if onset - lead <= word.start < last]
            return turn[count - 1].end if len(turn) >= count else None

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
        self._stable = 0

    def _on_update(self, update: TranscriptUpdate) -> None:
        self._stable = len(update.stable)
        if self._line is not None:
            self._line.bell.ring("words")

    async def nth_word(self, line: Line, onset: int, count: int, deadline: int) -> int | None:
        """Feed what is heard until the n-th word is stable, and return the position at which it was."""
        self._line, self._stable = line, 0
        fed, step, patience = onset, line.settings.samples(FEED), line.settings.samples(REVISION_WAIT)
        try:
            while self._stable < count:
                silence = line.downlink.silence_after(onset, patience)
                if line.now >= deadline or (silence is not None and silence[1] <= line.now):
                    return None
                if await line.until(partial(self._next_look, line, count, fed + step), on=NEW_WORDS) is None:
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

    def _next_look(self, line: Line, count: int, feeding: int) -> int:
        return line.now if self._stable >= count else feeding

    async def text(self, line: Line, onset: int, offset: int) -> str:
        """Transcribe what was heard between two positions."""
        if offset <= onset:
            return ""
        heard = line.downlink.heard.view(onset, offset)
        return (await self.live.transcribe(AudioChunk.from_samples(heard, line.settings.rate, onset))).text
