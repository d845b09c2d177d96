"""What a transcriber worker and its owner say to each other: binary requests one way, lines of JSON the other."""

from __future__ import annotations

import struct
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from voiceharness.audio.chunk import AudioChunk
from voiceharness.events import Word
from voiceharness.speech.transcription import Transcript, TranscriptUpdate

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Request", "decode_transcript", "decode_update", "encode_request", "encode_value", "read_request"]

_KINDS = ("feed", "finish", "transcribe")
_HEADER = struct.Struct("<BIIqI")  # kind, number, rate in Hz, position, bytes of samples


@dataclass(frozen=True, slots=True)
class Request:
    """One request; ``number`` comes back with its answer."""

    kind: str
    number: int
    audio: AudioChunk | None = None


def encode_request(request: Request) -> bytes:
    """Return a header and the samples."""
    audio = request.audio or AudioChunk(b"")
    position = audio.position or 0
    return _HEADER.pack(_KINDS.index(request.kind), request.number, audio.rate, position, len(audio.pcm)) + audio.pcm


def read_request(stream: BinaryIO) -> Request | None:
    """Read the next request; None at the end of the stream, also where it breaks off inside a request."""
    header = stream.read(_HEADER.size)
    if len(header) < _HEADER.size:
        return None
    kind, number, rate, position, size = _HEADER.unpack(header)
    pcm = stream.read(size)
    return Request(_KINDS[kind], number, AudioChunk(pcm, rate, position)) if len(pcm) == size else None


def encode_value(value: Transcript | TranscriptUpdate) -> dict[str, Any]:  # Any: what JSON can hold
    """Return the fields of a value for JSON."""
    return asdict(value)


def decode_transcript(fields: Mapping[str, Any]) -> Transcript:  # Any: as above
    """Make the value of its fields again."""
    return Transcript(fields["text"], tuple(Word(**word) for word in fields["words"]))


def decode_update(fields: Mapping[str, Any]) -> TranscriptUpdate:  # Any: as above
    """Make the value of its fields again."""
    return TranscriptUpdate(**{**fields, "stable": tuple(Word(**word) for word in fields["stable"])})
