"""How a vendor's vocabulary is written down: each message as a JSON template with slots.

One template serves three purposes. It is filled to write a message, matched to read one, and what does not match says
which field is missing, superfluous or of the wrong type. A slot knows its type *on the wire*: Twilio sends sequence
numbers as text and rates as numbers, and a double that sends tidy numbers would hide an agent's type errors.
"""

from __future__ import annotations

import binascii
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from voiceharness.protocols.media_streams.messages import Media

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from voiceharness.protocols.media_streams.messages import FaultKind

__all__ = ["Dialect", "Mismatch", "Reader", "Shortcut", "Slot", "Template", "Wire", "Writer"]

Wire: TypeAlias = Literal["text", "count", "number", "texts", "object", "base64"]
"""``count`` is a whole number written as text, ``number`` a JSON number, ``base64`` bytes."""

Template: TypeAlias = "Mapping[str, str | Slot | Template]"
Values: TypeAlias = "dict[str, Any]"  # Any: each slot has its own type, checked when it is read

EXCERPT = 60
MISSING = object()
MAX_DIGITS = 16
MEDIA_SLOTS = ("payload", "track", "chunk", "timestamp", "stream", "sequence")


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in a template that a value goes to."""

    name: str
    wire: Wire = "text"


@dataclass(frozen=True, slots=True)
class Dialect:
    """A vendor's words: a template for each message, by the kind of message it stands for.

    Kinds are the lower-case names of the message classes. ``ordered``: the carrier's messages keep their order.
    """

    name: str
    from_carrier: Mapping[str, Template]
    from_agent: Mapping[str, Template]
    event_key: str = "event"
    ordered: bool = True


class Mismatch(Exception):  # noqa: N818 (never leaves this package: the machines turn it into a violation)
    """A message that does not fit its template."""

    def __init__(self, kind: FaultKind, detail: str) -> None:
        super().__init__(detail)
        self.kind: FaultKind = kind
        self.detail = detail


class Writer:
    """Writes one kind of message: what is the same in every one of them is made into text once.

    A slot that is not fixed stands in a template once.
    """

    def __init__(self, template: Template, fixed: Mapping[str, object]) -> None:
        self._pieces = [""]
        self._places: dict[str, int] = {}
        for part in _parts(template, fixed):
            if isinstance(part, str):
                self._pieces[-1] += part
            else:
                self._places[part.name] = len(self._pieces)
                self._pieces += ["", ""]

    def write(self, **values: object) -> str:
        """Fill the slots that are not fixed."""
        pieces = self._pieces.copy()
        for name, place in self._places.items():
            pieces[place] = _wire_text(values[name])
        return "".join(pieces)

    def write_media(self, sequence: int, chunk: int, timestamp_ms: int, track: str, payload: bytes) -> str:
        """Fill a media message; the same as ``write``, without a detour, because it is written 50 times a second."""
        pieces, places = self._pieces.copy(), self._places
        pieces[places["sequence"]] = str(sequence)
        pieces[places["chunk"]] = str(chunk)
        pieces[places["timestamp"]] = str(timestamp_ms)
        pieces[places["track"]] = track
        pieces[places["payload"]] = binascii.b2a_base64(payload, newline=False).decode("ascii")
        return "".join(pieces)


def _wire_text(value: object) -> str:
    if isinstance(value, bytes):
        return binascii.b2a_base64(value, newline=False).decode("ascii")
    if isinstance(value, str):
        return json.dumps(value)[1:-1]
    return str(value)


def _parts(template: Template, fixed: Mapping[str, object]) -> Iterator[str | Slot]:
    """Yield the JSON text of a template, with the slots that are not fixed where their text belongs."""
    yield "{"
    for index, (key, value) in enumerate(template.items()):
        yield f"{',' if index else ''}{json.dumps(key)}:"
        if isinstance(value, Mapping):
            yield from _parts(value, fixed)
        elif isinstance(value, str):
            yield json.dumps(value)
        elif value.name in fixed:
            yield _fixed(value, fixed[value.name])
        else:
            quote = "" if value.wire == "number" else '"'
            yield from (quote, value, quote)
    yield "}"


def _fixed(slot: Slot, value: object) -> str:
    return json.dumps(str(value) if slot.wire == "count" else value)


class Reader:
    """Reads one kind of message. A strict one finds fault with fields that it does not know."""

    def __init__(self, template: Template, *, strict: bool) -> None:
        self._template = template
        self._strict = strict
        self._fields = _compiled(template, "")

    def read(self, message: Mapping[str, object]) -> tuple[Values, list[str]]:
        """Return the slots' values, and the paths of fields that the template does not have (none unless strict).

        Raises:
            Mismatch: if a field is missing or of the wrong type.
        """
        values: Values = {}
        superfluous = _read(self._fields, message, values)
        return values, list(_extra(self._template, message, "")) if superfluous and self._strict else []


class Shortcut:
    """Reads media by its usual shape, without parsing JSON and in one go: it comes 50 times a second.

    The shape is the template's own order of fields, with a space after every comma and colon or after none. What has
    another shape is not wrong: it is for the :class:`Reader` to judge.
    """

    def __init__(self, template: Template) -> None:
        compact, spaced = (re.compile(_shape(template, space) + _absent(template), re.ASCII) for space in ("", " "))
        self._compact, self._spaced = compact.fullmatch, spaced.fullmatch
        self._text, self._audio = "", b""
        """The latest payload and what it holds: silence is the same again and again."""
        self._places = [compact.groupindex[name] for name in MEDIA_SLOTS]

    def read(self, text: str) -> tuple[Media, str | None, int | None] | None:
        """Return the audio, the stream and the sequence number where there are such slots; None: look closer."""
        match = self._compact(text) or self._spaced(text)
        if match is None:
            return None
        payload, track, chunk, timestamp, stream, sequence = match.group(*self._places)
        if payload != self._text:
            try:
                self._audio = binascii.a2b_base64(payload, strict_mode=True)
            except ValueError:
                return None
            self._text = payload
        media = Media(self._audio, track or "", int(chunk) if chunk else None, int(timestamp) if timestamp else None)
        return media, stream, int(sequence) if sequence else None


def _shape(template: Template, space: str) -> str:
    members = (f"{re.escape(json.dumps(key))}:{space}{_shape_of(value, space)}" for key, value in template.items())
    return r"\{" + f",{space}".join(members) + r"\}"


def _shape_of(value: str | Slot | Template, space: str) -> str:
    if isinstance(value, Mapping):
        return _shape(value, space)
    if isinstance(value, str):
        return re.escape(json.dumps(value))
    return f'"(?P<{value.name}>{_SHAPES[value.wire]})"'


def _absent(template: Template) -> str:
    """Return groups that never match, for the slots of media that a template has not."""
    present = {slot.name for slot in _slots(template)}
    return "".join(f"(?P<{name}>(?!))?" for name in MEDIA_SLOTS if name not in present)


def _slots(template: Template) -> Iterator[Slot]:
    for value in template.values():
        if isinstance(value, Slot):
            yield value
        elif isinstance(value, Mapping):
            yield from _slots(value)


_SHAPES: Mapping[Wire, str] = {
    "text": r'[^"\\\x00-\x1f]*',
    "count": rf"[0-9]{{1,{MAX_DIGITS - 1}}}",
    "base64": '[^"]*',  # whatever is none is refused when it is read
}


class _Field(NamedTuple):
    """One field of a template, ready to be read: a slot, a constant, or an object of fields."""

    key: str
    path: str
    name: str
    convert: Callable[[object], object | None] | None
    constant: str | None
    inner: tuple[_Field, ...]


def _compiled(template: Template, path: str) -> tuple[_Field, ...]:
    fields = []
    for key, value in template.items():
        slot = value if isinstance(value, Slot) else None
        constant = value if isinstance(value, str) else None
        inner = _compiled(value, f"{path}{key}.") if isinstance(value, Mapping) else ()
        convert = _WIRE_READERS[slot.wire] if slot else None
        fields.append(_Field(key, f"{path}{key}", slot.name if slot else "", convert, constant, inner))
    return tuple(fields)


def _read(fields: tuple[_Field, ...], message: Mapping[str, object], values: Values) -> bool:
    """Read all fields into ``values``; True: the message has more than these."""
    superfluous = len(message) > len(fields)
    for key, path, name, convert, constant, inner in fields:
        found = message.get(key, MISSING)
        if convert is not None:
            value = convert(found)
            if value is None:
                raise _mismatch(message, key, path, _WIRE_NAMES[convert])
            values[name] = value
        elif inner:
            if not isinstance(found, dict):
                raise _mismatch(message, key, path, "an object")
            superfluous |= _read(inner, found, values)
        elif found != constant:
            if key in message:
                raise Mismatch("wrong_value", f"{path} is {_excerpt(found)}, not {constant!r}")
            raise _mismatch(message, key, path, "")
    return superfluous


def _mismatch(message: Mapping[str, object], key: str, path: str, wanted: str) -> Mismatch:
    if key not in message:
        return Mismatch("missing_field", f"the message has no {path}")
    return Mismatch("wrong_type", f"{path} is {_excerpt(message[key])}, not {wanted}")


def _extra(template: Template, message: Mapping[str, object], path: str) -> Iterator[str]:
    for key, found in message.items():
        expected = template.get(key)
        if expected is None:
            yield f"{path}{key}"[:EXCERPT]
        elif isinstance(expected, Mapping) and isinstance(found, dict):
            yield from _extra(expected, found, f"{path}{key}.")


def _text(found: object) -> str | None:
    return found if isinstance(found, str) else None


def _count(found: object) -> int | None:
    if isinstance(found, str) and len(found) < MAX_DIGITS and found.isdecimal() and found.isascii():
        return int(found)
    return None


def _number(found: object) -> int | None:
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def _texts(found: object) -> tuple[str, ...] | None:
    return tuple(found) if isinstance(found, list) and all(isinstance(item, str) for item in found) else None


def _object(found: object) -> dict[str, str] | None:
    return found if isinstance(found, dict) and all(isinstance(item, str) for item in found.values()) else None


def _base64(found: object) -> bytes | None:
    if not isinstance(found, str):
        return None
    try:
        return binascii.a2b_base64(found.encode("ascii"), strict_mode=True)
    except ValueError as error:  # of both kinds: not ASCII, not base64
        raise Mismatch("bad_base64", f"the payload {_excerpt(found)} is not base64") from error


_WIRE_READERS: Mapping[Wire, Callable[[object], object | None]] = {
    "text": _text,
    "count": _count,
    "number": _number,
    "texts": _texts,
    "object": _object,
    "base64": _base64,
}
_WIRE_NAMES: Mapping[Callable[[object], object | None], str] = {
    _text: "text",
    _count: "a whole number as text",
    _number: "a whole number",
    _texts: "a list of texts",
    _object: "an object of texts",
    _base64: "base64 text",
}


def _excerpt(found: object) -> str:
    shown = ascii(found) if not isinstance(found, dict | list) else f"a {type(found).__name__}"
    return shown if len(shown) <= EXCERPT else f"{shown[:EXCERPT]}…"
