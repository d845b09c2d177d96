"""What a SIP call leaves beside its recording."""

from __future__ import annotations

import io
import wave
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voiceharness.audio.chunk import AudioChunk
    from voiceharness_adapters.sip.endpoint import SipMessage

__all__ = ["trace_text", "wav_bytes"]


def trace_text(messages: Sequence[SipMessage], *, answered_ns: int) -> str:
    """Return the SIP messages of a call, each with its time in seconds after the answer, its way and its peer."""
    parts = []
    for message in messages:
        seconds = (message.at_ns - answered_ns) / 1e9
        parts.append(f"{seconds:+.3f} s  {message.way}  {message.peer}\n\n{message.text.strip()}\n")
    return "\n----\n".join(parts)


def wav_bytes(audio: AudioChunk) -> bytes:
    """Return audio as a WAV file."""
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as writer:
        writer.setnchannels(1)
        writer.setsampwidth(2)
        writer.setframerate(audio.rate)
        writer.writeframes(audio.pcm)
    return buffer.getvalue()
