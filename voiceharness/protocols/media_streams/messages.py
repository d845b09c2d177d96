"""What the two ends of a media stream say to each other, as values, whatever the vendor's words for it.

The *carrier* opens the stream and sends ``Connected``, ``Start``, ``Media``, ``Dtmf``, ``Mark`` (an answer) and
``Stop``; the *agent* sends ``Media``, ``Mark`` (a question) and ``Clear``. A message that breaks a rule is a
:class:`Violation`, a value as well: hostile input is an observation, not an accident.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "RULES",
    "Clear",
    "Connected",
    "Dtmf",
    "FaultKind",
    "Mark",
    "Media",
    "Message",
    "Rule",
    "Start",
    "Stop",
    "StreamDescription",
    "Track",
    "Violation",
]

Track = Literal["inbound", "outbound"]
"""``inbound`` is what the carrier hears from the user, ``outbound`` what the user hears."""


@dataclass(frozen=True, slots=True)
class StreamDescription:
    """What the carrier tells about a stream when it starts. ``bidirectional``: the agent may send audio back."""

    stream: str
    call: str
    account: str
    tracks: tuple[Track, ...] = ("inbound",)
    parameters: Mapping[str, str] = field(default_factory=dict)
    bidirectional: bool = True


@dataclass(frozen=True, slots=True)
class Connected:
    """The websocket is open; says which protocol follows."""


@dataclass(frozen=True, slots=True)
class Start:
    """The stream begins. Everything about it is said here, once."""

    stream: str
    call: str = ""
    account: str = ""
    tracks: tuple[str, ...] = ()
    parameters: Mapping[str, str] = field(default_factory=dict)
    rate: int = 8000


class Media(NamedTuple):
    """Audio, in the stream's encoding. From the carrier it has a track, a count and milliseconds since the start.

    A tuple, unlike the others: 50 are made every second, and it is made in half the time.
    """

    payload: bytes
    track: str = ""
    chunk: int | None = None
    timestamp_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Dtmf:
    """The user pressed a key."""

    digit: str


@dataclass(frozen=True, slots=True)
class Mark:
    """From the agent: tell me when playout gets here. From the carrier: it has, or a clear removed it."""

    name: str


@dataclass(frozen=True, slots=True)
class Clear:
    """From the agent: drop the audio that has not been played."""


@dataclass(frozen=True, slots=True)
class Stop:
    """The stream, or its call, is over."""


Message: TypeAlias = Connected | Start | Media | Dtmf | Mark | Clear | Stop

FaultKind: TypeAlias = Literal[
    "binary_message",
    "message_too_big",
    "not_json",
    "not_an_object",
    "no_event",
    "unknown_event",
    "wrong_direction",
    "missing_field",
    "extra_field",
    "wrong_type",
    "wrong_value",
    "wrong_stream",
    "bad_base64",
    "file_header",
    "out_of_order",
    "one_way_stream",
    "sequence_gap",
    "buffer_full",
    "too_many_marks",
]


@dataclass(frozen=True, slots=True)
class Rule:
    """What breaking a rule means: the vendor's own code for it (None: it has none), and whether the stream dies."""

    code: int | None = None
    fatal: bool = False


RULES: Final[Mapping[FaultKind, Rule]] = {
    "binary_message": Rule(31950),
    "message_too_big": Rule(31924, fatal=True),
    "not_json": Rule(31951),
    "not_an_object": Rule(31951),
    "no_event": Rule(31951),
    "unknown_event": Rule(31951),
    "wrong_direction": Rule(31951),
    "missing_field": Rule(31951),
    "extra_field": Rule(31951),
    "wrong_type": Rule(31951),
    "wrong_value": Rule(31951),
    "wrong_stream": Rule(31951),
    "bad_base64": Rule(31950),
    "file_header": Rule(),
    "out_of_order": Rule(31924),
    "one_way_stream": Rule(31924, fatal=True),
    "sequence_gap": Rule(),
    "buffer_full": Rule(31931),
    "too_many_marks": Rule(31931),
}
"""Every way to break the protocol that is told apart, with the vendor's error code where its pages name one."""


@dataclass(frozen=True, slots=True)
class Violation:
    """The far side broke a rule. ``salvaged`` is what the message still means, where that is clear."""

    kind: FaultKind
    detail: str
    salvaged: Message | None = None

    @property
    def fatal(self) -> bool:
        """Whether a carrier ends the stream for it."""
        return RULES[self.kind].fatal

    def __str__(self) -> str:
        code = RULES[self.kind].code
        return self.detail if code is None else f"{self.detail} (a carrier reports {code})"
