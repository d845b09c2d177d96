"""The transcriber beside a call in virtual time: inline, in zero time, on the event loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voiceharness.speech.rolling import RollingTranscription
from voiceharness.speech.transcription import Transcript

if TYPE_CHECKING:
    from collections.abc import Callable

    from voiceharness.audio.chunk import AudioChunk
    from voiceharness.speech.transcription import Transcriber, TranscriptUpdate

__all__ = ["InlineTranscriber"]


class InlineTranscriber:
    """Run an engine inside the caller's own loop. In real time it would hold the loop up: use a worker there."""

    def __init__(self, transcriber: Transcriber, on_update: Callable[[TranscriptUpdate], None]) -> None:
        self._transcriber = transcriber
        self._on_update = on_update
        self._utterance = RollingTranscription(transcriber)

    async def open(self) -> None:
        """Do nothing: the engine loads at its first use."""

    def feed(self, chunk: AudioChunk) -> None:
        """Take audio of the utterance; report an update at once when there is one."""
        if (update := self._utterance.feed(chunk)) is not None:
            self._on_update(update)

    async def finish(self) -> Transcript:
        """End the utterance, report the final update and return the text."""
        update = self._utterance.finish()
        self._on_update(update)
        return Transcript(update.text, update.stable)

    async def transcribe(self, audio: AudioChunk) -> Transcript:
        """Return what is said in a finished piece of audio."""
        return self._transcriber.transcribe(audio)

    async def close(self) -> None:
        """Forget the utterance; the engine stays with whoever made it."""
        self._utterance = RollingTranscription(self._transcriber)
