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


def trace_text(messages: Sequence[SipMessage], *, answered_ns: int | None) -> str:
    """Return the SIP messages of a call, each with its time in seconds, its way and its peer.

    Times count from the answer, or from the first message if there never was one (``answered_ns`` is None).
    """
    parts = []
    if answered_ns is None:
        answered_ns = messages[0].at_ns if messages else 0
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
