"""What a worker and its owner say to each other."""

from __future__ import annotations

import io
import json

import pytest

from voiceharness.audio.chunk import AudioChunk
from voiceharness.events import Word
from voiceharness.speech.transcription import Transcript, TranscriptUpdate
from voiceharness.speech.wire import (
    Request,
    decode_transcript,
    decode_update,
    encode_request,
    encode_value,
    read_request,
)

__all__: list[str] = []

WORDS = (Word("café", 0.0, 0.5), Word("ok", 0.5, 1.0, True))


def test_requests_come_back_as_sent() -> None:
    requests = [
        Request("feed", 1, AudioChunk(b"\x01\x02" * 160, 16000, 1 << 40)),
        Request("finish", 2, AudioChunk(b"", 8000, 0)),
        Request("transcribe", 3, AudioChunk(b"\x01\x02", 8000, 0)),
    ]
    stream = io.BytesIO(b"".join(encode_request(request) for request in requests))
    assert [read_request(stream) for _ in requests] == requests
    assert read_request(stream) is None


@pytest.mark.parametrize("length", [1, 20, 30])
def test_request_that_breaks_off_is_the_end(length: int) -> None:
    data = encode_request(Request("feed", 1, AudioChunk(b"\x01\x02" * 160)))
    assert read_request(io.BytesIO(data[:length])) is None


def test_values_survive_json() -> None:
    transcript = Transcript("café ok", WORDS)
    update = TranscriptUpdate(800, "café ok", WORDS, 1.25, final=True)
    assert decode_transcript(json.loads(json.dumps(encode_value(transcript)))) == transcript
    assert decode_update(json.loads(json.dumps(encode_value(update)))) == update
