"""TwiML: what a customer's server answers when a call comes in. Read what an agent on a media stream needs.

``<Connect><Stream>`` and ``<Start><Stream>`` with their ``<Parameter>``s, ``<Say>``, ``<Play>``, ``<Gather>``,
``<Pause>``, ``<Redirect>``, ``<Hangup>`` and ``<Reject>``. Anything else is refused by its name: half a document
would be another agent.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias
from urllib.parse import urlsplit
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

from voiceharness.errors import RemoteProtocolError, UnsupportedCapabilityError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = [
    "ConnectStream",
    "Gather",
    "Hangup",
    "Pause",
    "Play",
    "Redirect",
    "Reject",
    "Say",
    "StartStream",
    "Stream",
    "Verb",
    "connect_stream",
    "parse_twiml",
]

MAX_DOCUMENT: Final = 64 * 1024
"""Twilio's own limit of a TwiML document, in bytes."""

MAX_PARAMETER: Final = 500
"""Name and value of a ``<Parameter>`` together, in characters."""

MAX_SECONDS: Final = 600
MAX_DIGITS: Final = 20
"""Of a number, before it is read as one."""

LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
PLAYED_KEYS: Final = frozenset("0123456789*#ABCDwW")


@dataclass(frozen=True, slots=True)
class Stream:
    """Where a media stream goes. ``track``: inbound_track, outbound_track or both_tracks.

    ``status_callback``: where its start and its end are posted to (empty: nowhere).
    """

    url: str
    name: str = ""
    track: str = "inbound_track"
    parameters: Mapping[str, str] = field(default_factory=dict)
    status_callback: str = ""


@dataclass(frozen=True, slots=True)
class ConnectStream:
    """A bidirectional stream; when the server closes the socket, ``action`` is asked what follows.

    Without one, what follows it in the document does.
    """

    stream: Stream
    action: str = ""


@dataclass(frozen=True, slots=True)
class StartStream:
    """A unidirectional stream beside whatever follows in the document."""

    stream: Stream


@dataclass(frozen=True, slots=True)
class Say:
    """Text that the carrier speaks, ``loop`` times; 0: until the call is over."""

    text: str
    loop: int = 1


@dataclass(frozen=True, slots=True)
class Play:
    """An audio file, or keypad tones (``w`` is half a second of pause), that the carrier plays ``loop`` times.

    0: until the call is over.
    """

    url: str = ""
    digits: str = ""
    loop: int = 1


@dataclass(frozen=True, slots=True)
class Pause:
    """Silence, in whole seconds."""

    length: int = 1


@dataclass(frozen=True, slots=True)
class Gather:
    """Collect keypad digits while ``prompts`` play; with any, post them to ``action`` (empty: this document's URL)."""

    action: str = ""
    digits: int = 0
    timeout: int = 5
    finish_on_key: str = "#"
    prompts: tuple[Say | Play | Pause, ...] = ()


@dataclass(frozen=True, slots=True)
class Redirect:
    """Go on with the document at another URL."""

    url: str


@dataclass(frozen=True, slots=True)
class Hangup:
    """End the call."""


@dataclass(frozen=True, slots=True)
class Reject:
    """Refuse the call: ``rejected`` or ``busy``. Only as the first verb."""

    reason: str = "rejected"


Verb: TypeAlias = ConnectStream | StartStream | Say | Play | Pause | Gather | Redirect | Hangup | Reject


def connect_stream(url: str, parameters: Mapping[str, str] | None = None) -> str:
    """Write the document that connects a call to a bidirectional stream."""
    inner = "".join(
        f"<Parameter name={quoteattr(name)} value={quoteattr(value)}/>" for name, value in (parameters or {}).items()
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>'
        f"<Response><Connect><Stream url={quoteattr(url)}>{inner}</Stream></Connect></Response>"
    )


def parse_twiml(document: bytes) -> tuple[Verb, ...]:
    """Read a document.

    Raises:
        RemoteProtocolError: if a carrier would not understand it either.
        UnsupportedCapabilityError: if it uses a verb, or an attribute, that is not played here.
    """
    return tuple(_verb(element) for element in _root(document) if isinstance(element.tag, str))


def _root(document: bytes) -> ElementTree.Element:
    if len(document) > MAX_DOCUMENT:
        raise _wrong(f"it has {len(document)} bytes; a carrier takes at most {MAX_DOCUMENT}")
    try:
        root = ElementTree.fromstring(document, ElementTree.XMLParser(target=_Builder()))
    except (ElementTree.ParseError, ValueError, LookupError) as error:  # the last two: an encoding nobody knows
        raise _wrong(f"it is not XML ({error}); it begins with {document[:60]!r}") from error
    if root.tag != "Response":
        raise _wrong(f"its root is <{root.tag}>, not <Response>")
    return root


class _Builder(ElementTree.TreeBuilder):
    """Builds a document, and refuses a document type in whatever encoding it is declared, entities with it."""

    def doctype(self, _name: str, _pubid: str | None, _system: str | None) -> None:
        raise _wrong("it declares a document type, which TwiML does not have")


def _verb(element: ElementTree.Element) -> Verb:
    read = _VERBS.get(element.tag)
    if read is None:
        raise _unsupported(f"TwiML <{element.tag}>")
    _refuse_attributes(element)
    return read(element)


def _refuse_attributes(element: ElementTree.Element) -> None:
    """Refuse what a carrier would do differently because of an attribute; those that it does not know it ignores."""
    for name, played in _NOT_PLAYED.get(element.tag, {}).items():
        value = element.get(name)
        if value is not None and value not in played:
            raise _unsupported(f"TwiML <{element.tag} {name}={value[:40]!r}>")


def _connect(element: ElementTree.Element) -> Verb:
    stream = _stream(_only_stream(element))
    if stream.track != "inbound_track":
        raise _wrong(f"<Connect><Stream track> is {stream.track!r}; a stream in both directions has inbound_track only")
    return ConnectStream(stream, element.get("action", ""))


def _start(element: ElementTree.Element) -> Verb:
    return StartStream(_stream(_only_stream(element)))


def _only_stream(element: ElementTree.Element) -> ElementTree.Element:
    children = list(element)
    if len(children) != 1:
        raise _wrong(f"<{element.tag}> holds {len(children)} nouns, not one <Stream>")
    if children[0].tag != "Stream":
        raise _unsupported(f"TwiML <{element.tag}><{children[0].tag}>")
    return children[0]


def _stream(element: ElementTree.Element) -> Stream:
    _refuse_attributes(element)
    url = element.get("url", "").strip()
    try:
        parts = urlsplit(url)
        _ = parts.port  # which is looked at only now
    except ValueError as error:
        raise _wrong(f"<Stream url> is {url[:80]!r}, which is no URL: {error}") from error
    secure = parts.scheme == "wss" or (parts.scheme == "ws" and parts.hostname in LOOPBACK)
    if not secure or not parts.hostname:
        raise _wrong(f"<Stream url> is {url[:80]!r}; a carrier opens wss:// only (ws:// is taken for loopback)")
    if parts.query:
        raise _wrong(f"<Stream url> has a query, {parts.query[:40]!r}; data goes into <Parameter>")
    track = element.get("track", "inbound_track")
    if track not in ("inbound_track", "outbound_track", "both_tracks"):
        raise _wrong(f"<Stream track> is {track[:40]!r}")
    parameters = dict(_parameter(child) for child in element)
    return Stream(url, element.get("name", ""), track, parameters, element.get("statusCallback", ""))


def _parameter(element: ElementTree.Element) -> tuple[str, str]:
    if element.tag != "Parameter":
        raise _unsupported(f"TwiML <Stream><{element.tag}>")
    name, value = element.get("name", ""), element.get("value", "")
    if not name or len(name) + len(value) > MAX_PARAMETER:
        raise _wrong(f"<Parameter name={name[:40]!r}> needs a name, and at most {MAX_PARAMETER} characters in all")
    return name, value


def _say(element: ElementTree.Element) -> Say:
    return Say("".join(element.itertext()).strip(), _whole(element, "loop", 1))


def _play(element: ElementTree.Element) -> Play:
    url, digits = (element.text or "").strip(), element.get("digits", "")
    if not url and not digits:
        raise _wrong("<Play> names neither a file nor digits")
    if unknown := sorted(set(digits) - PLAYED_KEYS):
        raise _wrong(f"<Play digits={digits[:20]!r}> has {unknown[0]!r}, which is no key")
    return Play(url, digits, _whole(element, "loop", 1))


def _pause(element: ElementTree.Element) -> Pause:
    return Pause(_whole(element, "length", 1))


def _gather(element: ElementTree.Element) -> Verb:
    return Gather(
        element.get("action", ""),
        _whole(element, "numDigits", 0),
        _whole(element, "timeout", 5),
        element.get("finishOnKey", "#"),
        tuple(_prompt(child) for child in element),
    )


def _prompt(element: ElementTree.Element) -> Say | Play | Pause:
    verb = _verb(element)
    if not isinstance(verb, Say | Play | Pause):
        raise _wrong(f"<Gather> cannot hold <{element.tag}>")
    return verb


def _redirect(element: ElementTree.Element) -> Verb:
    return Redirect((element.text or "").strip())


def _hangup(_element: ElementTree.Element) -> Verb:
    return Hangup()


def _reject(element: ElementTree.Element) -> Verb:
    return Reject(element.get("reason", "rejected"))


def _whole(element: ElementTree.Element, name: str, default: int) -> int:
    text = element.get(name)
    if text is None or text == "auto":
        return default
    if not (text.isascii() and text.isdigit()) or len(text) > MAX_DIGITS or int(text) > MAX_SECONDS:
        raise _wrong(f"<{element.tag} {name}={text[:20]!r}> is not a number from 0 to {MAX_SECONDS}")
    return int(text)


_NOT_PLAYED: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "Connect": {"method": ("POST",)},
    "Start": {"action": ("",)},
    "Stream": {"statusCallbackMethod": ("POST",), "connectorName": ()},
    "Gather": {"input": ("dtmf",), "method": ("POST",), "actionOnEmptyResult": ("false",)},
    "Redirect": {"method": ("POST",)},
}
"""Attributes of which only some values are played, by element."""

_VERBS: Mapping[str, Callable[[ElementTree.Element], Verb]] = {
    "Connect": _connect,
    "Start": _start,
    "Say": _say,
    "Play": _play,
    "Pause": _pause,
    "Gather": _gather,
    "Redirect": _redirect,
    "Hangup": _hangup,
    "Reject": _reject,
}


def _wrong(what: str) -> RemoteProtocolError:
    return RemoteProtocolError(f"the webhook's answer cannot be used: {what}")


def _unsupported(what: str) -> UnsupportedCapabilityError:
    return UnsupportedCapabilityError(
        adapter="twilio", capability=what, alternative="answer with <Connect><Stream>, or dial the stream itself"
    )
