"""What the child process answers to its requests."""

from __future__ import annotations

import io
import json

import pytest

from voiceharness.audio.chunk import AudioChunk
from voiceharness.events import Word
from voiceharness.speech.transcription import Transcript
from voiceharness.speech.wire import Request, encode_request
from voiceharness.speech.worker_process import serve

__all__: list[str] = []


class LengthTranscriber:
    """Hear one word in anything: how many samples it has."""

    name = "lengths"
    version = "7"

    def transcribe(self, audio: AudioChunk) -> Transcript:
        return Transcript(str(len(audio)), (Word(str(len(audio)), 0.0, audio.duration),))


def _serve(*requests: Request) -> list[dict[str, object]]:
    answers = io.StringIO()
    serve(LengthTranscriber(), io.BytesIO(b"".join(encode_request(request) for request in requests)), answers)
    return [json.loads(line) for line in answers.getvalue().splitlines()]


def test_ready_comes_first_and_the_end_of_input_is_the_end() -> None:
    assert _serve() == [{"kind": "ready", "version": "7"}]


def test_utterance_is_updated_and_finished() -> None:
    quarter = AudioChunk(b"\0\0" * 2000, 8000, 800)
    _, update, final, done = _serve(Request("feed", 1, quarter), Request("feed", 2, quarter), Request("finish", 3))
    assert update["kind"] == "update"
    assert final["update"] == {
        "position": 800,
        "text": "4000",
        "stable": [{"text": "4000", "start": 0.0, "end": 0.5, "estimated": False}],
        "heard": 0.5,
        "final": True,
    }
    assert done["number"] == 3
    assert done["transcript"] == {
        "text": "4000",
        "words": [{"text": "4000", "start": 0.0, "end": 0.5, "estimated": False}],
    }


def test_finished_audio_is_answered_by_number() -> None:
    _, done = _serve(Request("transcribe", 9, AudioChunk(b"\0\0" * 800)))
    assert (done["kind"], done["number"]) == ("done", 9)


def test_failure_of_the_engine_ends_the_process() -> None:
    with pytest.raises(ValueError, match="broken"):
        serve(_Broken(), io.BytesIO(), io.StringIO())


class _Broken(LengthTranscriber):
    def transcribe(self, audio: AudioChunk) -> Transcript:
        raise ValueError("broken")
