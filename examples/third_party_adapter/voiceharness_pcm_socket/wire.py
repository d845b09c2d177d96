"""Messages on the socket: one byte of kind, two bytes of length (big-endian), so many bytes of payload."""

from __future__ import annotations

import asyncio
from typing import Final, NamedTuple

__all__ = [
    "AUDIO",
    "DIGIT",
    "FLUSH",
    "HANGUP",
    "INTERRUPT",
    "LONGEST",
    "MARK",
    "PLAYED",
    "RATE",
    "Message",
    "pack",
    "read_message",
]

RATE: Final = b"R"
AUDIO: Final = b"A"
DIGIT: Final = b"D"
INTERRUPT: Final = b"I"
FLUSH: Final = b"F"
MARK: Final = b"M"
PLAYED: Final = b"P"
HANGUP: Final = b"H"

LONGEST: Final = 32000
"""Bytes of audio in one message at most; longer audio takes several."""


class Message(NamedTuple):
    """One message."""

    kind: bytes
    payload: bytes

    @property
    def text(self) -> str:
        """The payload as text."""
        return self.payload.decode("utf-8", "replace")


def pack(kind: bytes, payload: bytes = b"") -> bytes:
    """Make the bytes of a message; audio that is too long for one becomes several."""
    parts = [payload[start : start + LONGEST] for start in range(0, len(payload), LONGEST)] or [b""]
    return b"".join(kind + len(part).to_bytes(2, "big") + part for part in parts)


async def read_message(reader: asyncio.StreamReader) -> Message | None:
    """Read the next message; None: the other side has closed the socket, or it broke."""
    try:
        head = await reader.readexactly(3)
        return Message(head[:1], await reader.readexactly(int.from_bytes(head[1:], "big")))
    except (asyncio.IncompleteReadError, OSError):
        return None
