"""How the appointment line speaks: it knows what it has sent, until when that is heard, and how to stop."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from voiceharness.audio.chunk import AudioChunk
from voiceharness.clock import NS
from voiceharness.events import Word
from voiceharness.speech.synthesis import Speech

if TYPE_CHECKING:
    from voiceharness.agent import AgentCall
    from voiceharness.speech.synthesis import Synthesizer

__all__ = ["Voice"]

SENTENCE_END: Final = re.compile(r"(?<=[.?!]) +")
SENTENCE_PAUSE: Final = 0.3

UNDER_WAY: Final = 0.04
LEAK: Final = 0.4
"""Seconds of the old answer that were under way for so long when a leaking line sent its flush, and come behind it."""


class Voice:
    """Speaks on one call. With ``leaks``, some of a turn that was cut is sent after its flush."""

    def __init__(self, call: AgentCall, synthesizer: Synthesizer, *, leaks: bool = False) -> None:
        self._call = call
        self._synthesizer = synthesizer
        self._leaks = leaks
        self._speech: Speech | None = None
        self._until_ns = 0
        self._turns = 0

    @property
    def is_talking(self) -> bool:
        """Whether the user still hears what was said last."""
        return self._call.clock.now_ns() < self._until_ns

    @property
    def until_ns(self) -> int:
        """When what was said is heard to its end, on the loop's clock."""
        return self._until_ns

    async def say(self, text: str) -> None:
        """Speak a text after what is still being said; returns when it is sent, not when it is heard."""
        speech = await asyncio.to_thread(self._spoken, text)
        self._turns += 1
        item = f"turn {self._turns}"
        self._call.send_words(speech.words, item=item)
        self._call.send(AudioChunk(speech.audio.pcm, speech.audio.rate, item=item))
        self._call.mark(item)
        self._speech = speech
        self._until_ns = max(self._until_ns, self._call.clock.now_ns()) + round(speech.audio.duration * NS)

    def _spoken(self, text: str) -> Speech:
        """Speak sentence by sentence, so that the pauses between them are a good deal shorter than between turns."""
        pcm, words = bytearray(), list[Word]()
        for sentence in SENTENCE_END.split(text):
            if pcm:
                pcm += bytes(2 * round(SENTENCE_PAUSE * self._call.rate))
            start = len(pcm) / 2 / self._call.rate
            speech = self._synthesizer.synthesize(sentence)
            pcm += speech.audio.pcm
            words += [replace(word, start=start + word.start, end=start + word.end) for word in speech.words]
        return Speech(AudioChunk(bytes(pcm), self._call.rate), tuple(words))

    def stop(self) -> None:
        """Stop talking at once."""
        rest, clock = self._unheard(), self._call.clock
        self._call.flush()
        self._until_ns = clock.now_ns()
        if self._leaks and rest.pcm:  # the line believes that it has stopped
            clock.call_at_ns(self._until_ns + round(UNDER_WAY * NS), lambda: self._call.send(rest))

    def _unheard(self) -> AudioChunk:
        """Return the first of what the user has not heard yet of the turn that was said last."""
        if self._speech is None:
            return AudioChunk(b"", self._call.rate)
        audio = self._speech.audio
        left = max(0, self._until_ns - self._call.clock.now_ns()) * audio.rate // NS
        start = max(0, len(audio) - left)
        pcm = audio.pcm[2 * start : 2 * (start + round(LEAK * audio.rate))]
        return AudioChunk(pcm, audio.rate, item=f"turn {self._turns}")
