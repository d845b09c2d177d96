"""The transcriber beside a call: inline in virtual time, in a worker process in real time, behind one seam."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voiceharness.speech.engines import make_transcriber
from voiceharness.speech.rolling import RollingTranscription
from voiceharness.speech.transcription import Transcript
from voiceharness.speech.worker import WorkerTranscriber

if TYPE_CHECKING:
    from collections.abc import Callable

    from voiceharness.audio.chunk import AudioChunk
    from voiceharness.speech.transcription import LiveTranscriber, Transcriber, TranscriptUpdate

__all__ = ["InlineTranscriber", "live_transcriber"]


def live_transcriber(
    engine: str | Transcriber, on_update: Callable[[TranscriptUpdate], None], *, virtual: bool
) -> LiveTranscriber:
    """Return the transcriber for a call on a virtual or a real clock; open it before the call.

    A ready object always runs inline, for it cannot be moved to another process: in real time it holds the loop up
    while it works. In virtual time give the same object to every call, or each call loads the model again.

    Raises:
        MissingExtraError, OptionError: as ``make_transcriber``, for either clock.
    """
    transcriber = make_transcriber(engine)
    if virtual or not isinstance(engine, str):
        return InlineTranscriber(transcriber, on_update)
    return WorkerTranscriber(engine, on_update)


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
