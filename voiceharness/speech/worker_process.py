"""The child process of a :class:`~voiceharness.speech.worker.WorkerTranscriber`: one engine, one stream of requests.

Run as ``python -m voiceharness.speech.worker_process ENGINE``. It ends with its standard input. Whatever a library
prints goes to standard error; standard output carries answers only.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO

from voiceharness.audio.chunk import AudioChunk
from voiceharness.speech.engines import make_transcriber
from voiceharness.speech.rolling import RollingTranscription
from voiceharness.speech.transcription import Transcript
from voiceharness.speech.wire import Request, encode_value, read_request

if TYPE_CHECKING:
    from voiceharness.speech.transcription import Transcriber, TranscriptUpdate

__all__ = ["main", "serve"]


def serve(transcriber: Transcriber, requests: BinaryIO, answers: TextIO) -> None:
    """Answer requests until they end."""
    utterance = RollingTranscription(transcriber)
    transcriber.transcribe(_WARM_UP)  # load the engine before the call starts
    _answer(answers, kind="ready", version=transcriber.version)
    while (request := read_request(requests)) is not None:
        update = _advance(utterance, request)
        if update is not None:
            _answer(answers, kind="update", update=encode_value(update))
        if request.kind == "finish" and update is not None:
            transcript = Transcript(update.text, update.stable)
            _answer(answers, kind="done", number=request.number, transcript=encode_value(transcript))
        elif request.kind == "transcribe" and request.audio is not None:
            transcript = transcriber.transcribe(request.audio)
            _answer(answers, kind="done", number=request.number, transcript=encode_value(transcript))


def _advance(utterance: RollingTranscription, request: Request) -> TranscriptUpdate | None:
    """Move the utterance on by a request that concerns it."""
    if request.kind == "feed" and request.audio is not None:
        return utterance.feed(request.audio)
    return utterance.finish() if request.kind == "finish" else None


def _answer(stream: TextIO, **fields: Any) -> None:  # Any: what JSON can hold
    stream.write(json.dumps(fields) + "\n")
    stream.flush()


def main() -> None:
    """Serve the engine named by the first argument on the standard streams."""
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers:
        os.dup2(2, 1)
        serve(make_transcriber(sys.argv[1]), sys.stdin.buffer, answers)


# A tenth of a second of a square wave: enough sound for the engine to be loaded and run once.
_WARM_UP = AudioChunk((b"\x00\x10" * 8 + b"\x00\xf0" * 8) * 50)

if __name__ == "__main__":
    main()
