"""The transcriber seam: audio in, text out. It serves word and text checks on any transport, "by harness".

A :class:`Transcriber` is the engine: it blocks. A :class:`LiveTranscriber` is what a line talks to while a call runs:
:class:`~voiceharness.speech.live.InlineTranscriber` in virtual time, a
:class:`~voiceharness.speech.worker.WorkerTranscriber` process in real time. Both report through one callback, on the
event loop, and both give the same words for the same audio.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from voiceharness.audio.chunk import AudioChunk
    from voiceharness.events import Word

__all__ = ["LiveTranscriber", "Transcriber", "Transcript", "TranscriptUpdate"]


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was understood in a piece of audio; ``words`` are timed from its first sample. Empty where nobody speaks."""

    text: str
    words: tuple[Word, ...] = ()


@dataclass(frozen=True, slots=True)
class TranscriptUpdate:
    """What is known of the utterance that is being heard.

    ``position`` is the utterance's first sample, and word times count from it. ``stable`` is the prefix that will not
    be revised any more: only it may trigger anything. ``text`` is the latest guess of the whole. ``heard`` is how many
    seconds of the utterance the guess is based on. A ``final`` update ends the utterance, with every word stable.
    """

    position: int
    text: str
    stable: tuple[Word, ...]
    heard: float
    final: bool = False


@runtime_checkable
class Transcriber(Protocol):
    """Turn a piece of audio, of any rate, into text. The same samples always give the same text."""

    @property
    def name(self) -> str:
        """The engine's short name."""
        ...

    @property
    def version(self) -> str:
        """Engine and library versions, in one line."""
        ...

    def transcribe(self, audio: AudioChunk) -> Transcript:
        """Return what is said in ``audio``. Blocks, for up to a few hundred milliseconds.

        Raises:
            SpeechError: the engine failed.
        """
        ...


class LiveTranscriber(Protocol):
    """A transcriber beside a running call. Open it before the call, close it after; both may be awaited once."""

    async def open(self) -> None:
        """Load the engine and get ready; bounded in time."""
        ...

    def feed(self, chunk: AudioChunk) -> None:
        """Take the next audio of the utterance. Never waits; updates come through the callback."""
        ...

    async def finish(self) -> Transcript:
        """End the utterance at the last sample fed, and return all of it. The next ``feed`` starts another."""
        ...

    async def transcribe(self, audio: AudioChunk) -> Transcript:
        """Return what is said in a finished piece of audio, apart from the utterance being fed."""
        ...

    async def close(self) -> None:
        """Let go of everything; idempotent."""
        ...
