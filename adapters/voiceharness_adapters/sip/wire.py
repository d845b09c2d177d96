"""What a SIP worker and its owner say to each other over a socket pair.

Every message is a header (length of the rest, kind) and a body. Commands, answers and events are JSON objects; audio is
binary, because a frame passes every 20 ms in both directions:

* *heard* (worker to owner): one tick of the worker's media clock: call, tick index, index of the user frame that was
  sent in it (-1: none was there), monotonic time in nanoseconds, and what was heard in it (no samples: nothing).
* *frame* (owner to worker): call, index of the tick it is meant for, samples.

Both processes read the same monotonic clock, so a time in a message needs no translation.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["NOTHING_SENT", "Decoder", "Frame", "Heard", "Message", "encode_frame", "encode_heard", "encode_json"]

NOTHING_SENT: Final = -1
"""Index of the sent frame in a tick for which the owner's frame had not come in time."""

_HEADER: Final = struct.Struct("<IB")
_HEARD: Final = struct.Struct("<IIiq")
_FRAME: Final = struct.Struct("<II")
_JSON_KIND, _HEARD_KIND, _FRAME_KIND = range(3)


@dataclass(frozen=True, slots=True)
class Heard:
    """One tick of a call: ``sent`` is the index of the frame that left in it, ``at_ns`` when it was."""

    call: int
    tick: int
    sent: int
    at_ns: int
    pcm: bytes


@dataclass(frozen=True, slots=True)
class Frame:
    """What to send in one tick of a call."""

    call: int
    tick: int
    pcm: bytes


Message: TypeAlias = "Heard | Frame | dict[str, Any]"  # Any: what JSON can hold


def encode_json(fields: dict[str, Any]) -> bytes:  # Any: what JSON can hold
    """Return a command, an answer or an event as a message."""
    body = json.dumps(fields).encode()
    return _HEADER.pack(len(body), _JSON_KIND) + body


def encode_heard(call: int, tick: int, sent: int, at_ns: int, pcm: bytes) -> bytes:
    """Return one tick as a message."""
    return _HEADER.pack(_HEARD.size + len(pcm), _HEARD_KIND) + _HEARD.pack(call, tick, sent, at_ns) + pcm


def encode_frame(call: int, tick: int, pcm: bytes) -> bytes:
    """Return a frame to be sent as a message."""
    return _HEADER.pack(_FRAME.size + len(pcm), _FRAME_KIND) + _FRAME.pack(call, tick) + pcm


class Decoder:
    """Cuts a stream of bytes into messages, however it was cut on its way."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[Message]:
        """Take bytes and yield the messages that are complete."""
        buffer = self._buffer
        buffer += data
        start = 0
        while len(buffer) - start >= _HEADER.size:
            size, kind = _HEADER.unpack_from(buffer, start)
            end = start + _HEADER.size + size
            if len(buffer) < end:
                break
            body = bytes(buffer[start + _HEADER.size : end])
            start = end
            yield _decode(kind, body)
        del buffer[:start]


def _decode(kind: int, body: bytes) -> Message:
    if kind == _HEARD_KIND:
        call, tick, sent, at_ns = _HEARD.unpack_from(body)
        return Heard(call, tick, sent, at_ns, body[_HEARD.size :])
    if kind == _FRAME_KIND:
        call, tick = _FRAME.unpack_from(body)
        return Frame(call, tick, body[_FRAME.size :])
    fields: dict[str, Any] = json.loads(body)  # Any: what JSON can hold
    return fields
