"""Input that no well-behaved end sends, for either end: thrown at our carrier in tests, and at agents by the audit.

Each has a name, what is sent, and what our own judge makes of it. Those whose ``kind`` is None are odd but allowed: a
finding about them would be a fault of the judge. Everything is derived from a vendor's own vocabulary.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from voiceharness.protocols.media_streams.dialects import TWILIO
from voiceharness.protocols.media_streams.machine import MAX_MESSAGE
from voiceharness.protocols.media_streams.vocabulary import Dialect, Slot, Writer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from voiceharness.protocols.media_streams.machine import End
    from voiceharness.protocols.media_streams.messages import FaultKind

__all__ = ["Hostile", "hostile_inputs"]

TICK: Final = bytes([0xFF]) * 160


@dataclass(frozen=True, slots=True)
class Hostile:
    """One attack: ``messages`` are sent in a row. ``kind`` is the violation that is to be found first, if any."""

    name: str
    kind: FaultKind | None
    messages: tuple[str | bytes, ...]


def hostile_inputs(
    end: End, stream: str, *, dialect: Dialect = TWILIO, max_message: int = MAX_MESSAGE
) -> tuple[Hostile, ...]:
    """Return everything that a hostile ``end`` of a started stream may send, one attack after another."""
    forge = _Forge(end, stream, dialect, max_message)
    parts = (forge.not_messages(), forge.events(), forge.identifiers(), forge.payloads(), forge.marks(), forge.floods())
    return tuple(attack for part in parts for attack in part)


class _Forge:
    def __init__(self, end: End, stream: str, dialect: Dialect, max_message: int) -> None:
        mine, theirs = dialect.from_agent, dialect.from_carrier
        if end == "carrier":
            mine, theirs = theirs, mine
        self._end = end
        self._templates = mine
        self._foreign = next((kind for kind in ("stop", "start") if kind in theirs and kind not in mine), None)
        self._stream = stream
        self._dialect = dialect
        self._max_message = max_message
        self._stream_key = next((key for key, slot in mine["media"].items() if _is_slot(slot, "stream")), None)

    def _message(self, kind: str, **values: object) -> dict[str, Any]:  # Any: JSON
        template = self._templates[kind]
        defaults: dict[str, object] = {
            "stream": self._stream, "payload": TICK, "name": "m", "sequence": 9999, "chunk": 9999,
            "timestamp": 199_980, "track": "inbound", "account": "", "call": "", "digit": "1",
        }  # fmt: skip
        message: dict[str, Any] = json.loads(Writer(template, {}).write(**{**defaults, **values}))
        return message

    def _changed(self, kind: str, changes: Mapping[str, object], inner: str = "") -> str:
        """A message with fields changed; a change to ``...`` takes the field away."""
        message = self._message(kind)
        part = message[inner] if inner else message
        for key, value in changes.items():
            if value is ...:
                part.pop(key, None)
            else:
                part[key] = value
        return json.dumps(message)

    def not_messages(self) -> Iterator[Hostile]:
        yield Hostile("binary audio", "binary_message", (TICK,))
        yield Hostile("an empty binary message", "binary_message", (b"",))
        yield Hostile("an empty text", "not_json", ("",))
        yield Hostile("white space", "not_json", (" \n",))
        yield Hostile("a word", "not_json", ("hello",))
        yield Hostile("a message cut in half", "not_json", (json.dumps(self._message("media"))[:-9],))
        yield Hostile("two messages in one", "not_json", (2 * json.dumps(self._message("clear")),))
        yield Hostile("not a number", "not_json", ('{"event": NaN}',))
        yield Hostile("a tower of brackets", "not_json", ("[" * 100_000,))
        yield Hostile("a number of 5000 digits", "not_json", ('{"event": ' + "9" * 5000 + "}",))
        yield Hostile("a byte order mark", "not_json", ("\ufeff" + json.dumps(self._message("clear")),))
        yield Hostile("a list", "not_an_object", ("[]",))
        yield Hostile("null", "not_an_object", ("null",))
        yield Hostile("a text in quotes", "not_an_object", ('"media"',))
        yield Hostile("a number", "not_an_object", ("0",))

    def events(self) -> Iterator[Hostile]:
        key = self._dialect.event_key
        yield Hostile("an empty object", "no_event", ("{}",))
        yield Hostile("an event that is a number", "no_event", (self._changed("media", {key: 5}),))
        yield Hostile("an event that is null", "no_event", (self._changed("media", {key: None}),))
        yield Hostile("an event in capitals", "unknown_event", (self._changed("media", {key: "MEDIA"}),))
        yield Hostile("an unknown event", "unknown_event", (self._changed("media", {key: "ping"}),))
        yield Hostile("an event of 100 KB", "unknown_event", (self._changed("media", {key: "x" * 100_000}),))
        if self._foreign is not None:
            yield Hostile("a stop by who cannot stop", "wrong_direction", (self._changed("media", {key: "stop"}),))
            yield Hostile("a second start", "wrong_direction", (self._changed("media", {key: "start"}),))
            yield Hostile("a key press by who has no keys", "wrong_direction", (self._changed("media", {key: "dtmf"}),))

    def identifiers(self) -> Iterator[Hostile]:
        key = self._stream_key
        if key is None:
            return
        yield Hostile("no stream", "missing_field", (self._changed("clear", {key: ...}),))
        yield Hostile("another stream", "wrong_stream", (self._changed("media", {key: "MZ" + "0" * 32}),))
        yield Hostile("an empty stream", "wrong_stream", (self._changed("media", {key: ""}),))
        yield Hostile("a stream that is null", "wrong_type", (self._changed("media", {key: None}),))
        yield Hostile("a stream that is an object", "wrong_type", (self._changed("media", {key: {}}),))

    def payloads(self) -> Iterator[Hostile]:
        def payload(value: object) -> tuple[str]:
            return (self._changed("media", {"payload": value}, "media"),)

        yield Hostile("media without media", "missing_field", (self._changed("media", {"media": ...}),))
        yield Hostile("media that is null", "wrong_type", (self._changed("media", {"media": None}),))
        yield Hostile("media that is a list", "wrong_type", (self._changed("media", {"media": []}),))
        yield Hostile("no payload", "missing_field", payload(...))
        yield Hostile("a payload of numbers", "wrong_type", payload([255, 255]))
        yield Hostile("a payload that is null", "wrong_type", payload(None))
        yield Hostile("a payload that is no base64", "bad_base64", payload("?" * 216))
        yield Hostile("a payload in the alphabet of URLs", "bad_base64", payload("_" * 212 + "_w=="))
        yield Hostile("a payload without its padding", "bad_base64", payload("/" * 213 + "w"))
        yield Hostile("a payload in lines", "bad_base64", payload("////\n////"))
        yield Hostile("a payload of other letters", "bad_base64", payload("\u00e9\u20ac\u6f22"))
        yield Hostile("a payload of nothing", None, payload(""))
        yield Hostile("a payload of one byte", None, payload("/w=="))
        yield Hostile("a payload of half a frame", None, payload("/" * 104 + "/w=="))
        yield Hostile("a WAV file", "file_header", payload("UklGRiQAAABXQVZF"))
        yield Hostile("an MP3 file", "file_header", payload("SUQzBAAAAAAA"))
        yield Hostile("an unknown field", "extra_field", (self._changed("media", {"comment": "x"}),))
        yield Hostile("an unknown field inside", "extra_field", (self._changed("media", {"rate": 8000}, "media"),))
        yield Hostile("a message beyond any size", "message_too_big", (" " * (self._max_message + 1),))

    def marks(self) -> Iterator[Hostile]:
        yield Hostile("a mark without a mark", "missing_field", (self._changed("mark", {"mark": ...}),))
        yield Hostile("a mark without a name", "missing_field", (self._changed("mark", {"name": ...}, "mark"),))
        yield Hostile("a mark with a number", "wrong_type", (self._changed("mark", {"name": 7}, "mark"),))
        yield Hostile("a mark with an empty name", None, (self._changed("mark", {"name": ""}, "mark"),))
        yield Hostile("a mark with half a character", None, (self._changed("mark", {"name": "\ud800"}, "mark"),))
        yield Hostile("a mark with a name of 100 KB", None, (self._changed("mark", {"name": "n" * 100_000}, "mark"),))

    def floods(self) -> Iterator[Hostile]:
        clear, mark = json.dumps(self._message("clear")), json.dumps(self._message("mark"))
        yield Hostile("a thousand clears", None, (clear,) * 1000)
        yield Hostile("a thousand marks", None, (mark,) * 1000)
        minute = json.dumps(self._message("media", payload=TICK * 50 * 60))
        yield Hostile("eleven minutes of audio", "buffer_full", (minute,) * 11)


def _is_slot(value: object, name: str) -> bool:
    return isinstance(value, Slot) and value.name == name
