"""The synthesizer seam: text in, audio with the time of each word out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from voiceharness.audio.chunk import AudioChunk
    from voiceharness.events import Word

__all__ = ["Speech", "Synthesizer"]


@dataclass(frozen=True, slots=True)
class Speech:
    """Spoken text. ``words`` are the words as they were written, in order, timed from the first sample of ``audio``.

    ``estimated`` is true when the time of some word is not the engine's own but a guess; the words say which.
    """

    audio: AudioChunk
    words: tuple[Word, ...]
    estimated: bool = False


@runtime_checkable
class Synthesizer(Protocol):
    """Turn text into speech; one object serves one line rate, and the same text always gives the same samples.

    ``version`` names the engine and every library whose version changes the samples; it is part of the cache key and
    of the result of a run.
    """

    @property
    def name(self) -> str:
        """The engine's short name."""
        ...

    @property
    def version(self) -> str:
        """Engine and library versions, in one line."""
        ...

    @property
    def rate(self) -> int:
        """Rate of the audio it returns, in Hz."""
        ...

    def synthesize(self, text: str, *, voice: str | None = None, speed: float = 1.0) -> Speech:
        """Speak ``text``; ``speed`` 2.0 is twice as fast. Blocks, and may take tens of milliseconds.

        Raises:
            ScenarioError: nothing in the text can be spoken.
            OptionError: a voice or speed that the engine does not have.
            SpeechError: the engine failed.
        """
        ...
