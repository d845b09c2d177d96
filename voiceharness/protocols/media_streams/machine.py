"""Both ends of a media stream as state machines: messages in, messages out, no socket, no clock.

Theory of operation. A stream is *new*, *greeted* once ``connected`` was sent, *streaming* from ``start`` to ``stop``,
and then *over*. :data:`TRANSITIONS` lists who may say what in which state and where that leads; nothing else does.
Sending out of turn is a fault of our own code and raises :class:`LocalProtocolError`. Receiving out of turn, or
anything else that the rules do not allow, is the far side's fault and returns a :class:`Violation`: whatever arrives,
``receive`` never raises. On a unidirectional stream the agent has no say at all.

The carrier numbers what it sends: ``sequence`` counts messages from 1, ``chunk`` counts the media of each track.
"""

from __future__ import annotations

import json
from collections import Counter
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal

from voiceharness.errors import LocalProtocolError
from voiceharness.protocols.media_streams.dialects import TWILIO
from voiceharness.protocols.media_streams.messages import (
    Clear,
    Connected,
    Dtmf,
    FaultKind,
    Mark,
    Media,
    Message,
    Start,
    Stop,
    StreamDescription,
    Track,
    Violation,
)
from voiceharness.protocols.media_streams.vocabulary import Dialect, Mismatch, Reader, Shortcut, Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["MAX_MESSAGE", "TRANSITIONS", "AgentEnd", "CarrierEnd", "End", "State"]

MAX_MESSAGE: Final = 1 << 20
"""Default bound of one message in characters: 98 s of audio."""

RATE: Final = 8000
End = Literal["carrier", "agent"]


class State(Enum):
    """How far a stream has come."""

    NEW = "new"
    GREETED = "greeted"
    STREAMING = "streaming"
    OVER = "over"


TRANSITIONS: Final[Mapping[tuple[State, End, str], State]] = {
    (State.NEW, "carrier", "connected"): State.GREETED,
    (State.GREETED, "carrier", "start"): State.STREAMING,
    (State.STREAMING, "carrier", "media"): State.STREAMING,
    (State.STREAMING, "carrier", "dtmf"): State.STREAMING,
    (State.STREAMING, "carrier", "mark"): State.STREAMING,
    (State.STREAMING, "carrier", "clear"): State.STREAMING,
    (State.STREAMING, "carrier", "stop"): State.OVER,
    (State.STREAMING, "agent", "media"): State.STREAMING,
    (State.STREAMING, "agent", "mark"): State.STREAMING,
    (State.STREAMING, "agent", "clear"): State.STREAMING,
}

BIDIRECTIONAL_ONLY: Final = frozenset({("carrier", "dtmf"), ("carrier", "mark"), ("carrier", "clear")})
FILE_HEADERS: Final = (b"RIFF", b"ID3", b"OggS", b"fLaC", b".snd")


@cache
def _moves(who: End, state: State) -> Mapping[str, State]:
    """Return what an end may say in a state, and where each leads."""
    return {event: after for (before, end, event), after in TRANSITIONS.items() if (before, end) == (state, who)}


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


STRICT_JSON: Final = json.JSONDecoder(parse_constant=_refuse_constant)


class _Stream:
    """What both ends have in common: the state, the far side's grammar, and what is wrong with what it sent."""

    def __init__(
        self, us: End, them: End, dialect: Dialect, *, max_message: int, loads: Callable[[str], object] | None
    ) -> None:
        self.dialect = dialect
        self._us: End = us
        self._them: End = them
        self._our_moves: Mapping[str, State] = {}
        self._their_moves: Mapping[str, State] = {}
        self.state = State.NEW
        self._max_message = max_message
        self._loads = loads or STRICT_JSON.decode
        theirs, ours = dialect.from_agent, dialect.from_carrier
        if them == "carrier":
            theirs, ours = ours, theirs
        # A carrier reports fields it does not know; an agent's end must not mind a carrier that has learnt new ones.
        self._readers = {kind: Reader(template, strict=them == "agent") for kind, template in theirs.items()}
        self._media = Shortcut(theirs["media"])
        self._our_events = frozenset(ours) - frozenset(theirs)

    @property
    def state(self) -> State:
        """How far the stream has come."""
        return self._state

    @state.setter
    def state(self, state: State) -> None:
        self._state = state
        self._our_moves, self._their_moves = _moves(self._us, state), _moves(self._them, state)

    def _say(self, kind: str) -> None:
        """Take a step of our own."""
        following = self._our_moves.get(kind)
        if following is None:
            raise LocalProtocolError(f"{kind} cannot be sent by the {self._us} in a stream that is {self.state.value}")
        if following is not self._state:
            self.state = following

    def _usual_media(self, data: str | bytes) -> tuple[Media, str | None, int | None] | None:
        """Return audio, stream and sequence number of a media message of the usual shape, or None: look closer."""
        return self._media.read(data) if isinstance(data, str) and len(data) <= self._max_message else None

    def _parse(self, data: str | bytes) -> tuple[str, Mapping[str, object]] | Violation:
        """Return the kind of a message and its content, or why it has none."""
        if isinstance(data, bytes | bytearray | memoryview):
            return Violation("binary_message", f"a binary message of {len(data)} bytes; messages are text")
        if len(data) > self._max_message:
            limit = self._max_message
            return Violation("message_too_big", f"a message of {len(data)} characters; at most {limit} are taken")
        try:
            message = self._loads(data)
        except (ValueError, RecursionError) as error:
            return Violation("not_json", f"a message that is not JSON: {str(error)[:80]}")
        if not isinstance(message, dict):
            return Violation("not_an_object", f"a message that is a JSON {type(message).__name__}, not an object")
        event = message.get(self.dialect.event_key)
        if not isinstance(event, str):
            return Violation("no_event", f"a message without the text {self.dialect.event_key!r}")
        if event in self._readers:
            return event, message
        kind: FaultKind = "wrong_direction" if event in self._our_events else "unknown_event"
        return Violation(kind, f"event {ascii(event)[:40]} is not one that the {self._them} sends")

    def _step(self, kind: str) -> Violation | None:
        """Take a step of theirs, or say why it is none."""
        following = self._their_moves.get(kind)
        if following is None:
            return Violation("out_of_order", f"{kind} from the {self._them} in a stream that is {self.state.value}")
        if following is not self._state:
            self.state = following
        return None


class CarrierEnd(_Stream):
    """The carrier's end of one stream: numbers and writes what it sends, judges what the agent sends."""

    def __init__(
        self,
        description: StreamDescription,
        *,
        dialect: Dialect = TWILIO,
        max_message: int = MAX_MESSAGE,
        loads: Callable[[str], object] | None = None,
    ) -> None:
        super().__init__("carrier", "agent", dialect, max_message=max_message, loads=loads)
        self.description = description
        self._sequence = 0
        self._chunks: Counter[str] = Counter()
        fixed = {
            "stream": description.stream,
            "call": description.call,
            "account": description.account,
            "tracks": list(description.tracks),
            "parameters": dict(description.parameters),
            "rate": RATE,
            "channels": 1,
        }
        self._writers = {kind: Writer(template, fixed) for kind, template in dialect.from_carrier.items()}
        self._write_media = self._writers["media"].write_media

    # What the carrier sends

    def connected(self) -> str:
        """Return the first message of every stream; it alone has no sequence number."""
        self._say("connected")
        return self._writers["connected"].write()

    def start(self) -> str:
        """Return the message that describes the stream."""
        return self._numbered("start")

    def media(self, payload: bytes, timestamp_ms: int, track: Track = "inbound") -> str:
        """Return a message with encoded audio that was heard ``timestamp_ms`` after the start of the stream."""
        if self._state is not State.STREAMING or track not in self.description.tracks:
            self._say("media")
            raise LocalProtocolError(f"this stream has no {track} track; it has {', '.join(self.description.tracks)}")
        self._sequence += 1
        chunk = self._chunks[track] = self._chunks[track] + 1
        return self._write_media(self._sequence, chunk, timestamp_ms, track, payload)

    def dtmf(self, digit: str) -> str:
        """Return the message for a key that the user pressed."""
        return self._numbered("dtmf", digit=digit)

    def mark(self, name: str) -> str:
        """Return the answer to a mark of the agent."""
        return self._numbered("mark", name=name)

    def clear(self) -> str:
        """Return a clear addressed to the agent: no carrier sends it, but some agents honour it."""
        self._say("clear")
        return self._writers["clear"].write()

    def stop(self) -> str:
        """Return the last message of the stream."""
        return self._numbered("stop")

    def _numbered(self, kind: str, **values: str) -> str:
        if (self._us, kind) in BIDIRECTIONAL_ONLY and not self.description.bidirectional:
            raise LocalProtocolError(f"{kind} exists only on a bidirectional stream")
        self._say(kind)
        self._sequence += 1
        return self._writers[kind].write(sequence=self._sequence, **values)

    # What the agent sends

    def receive(self, data: str | bytes) -> Media | Mark | Clear | Violation:
        """Judge one message of the agent. Never raises."""
        usual = self._usual_media(data)
        if usual is not None and self.description.bidirectional:
            media, stream, _ = usual
            return self._step("media") or self._judge("media", media, stream, [])
        parsed = self._parse(data)
        if isinstance(parsed, Violation):
            return parsed
        kind, message = parsed
        if not self.description.bidirectional:
            return Violation("one_way_stream", f"{kind} from the agent on a stream that only listens")
        disorder = self._step(kind)
        if disorder is not None:
            return disorder
        try:
            values, extra = self._readers[kind].read(message)
        except Mismatch as mismatch:
            return Violation(mismatch.kind, f"in {kind}: {mismatch.detail}")
        return self._judge(kind, self._said(kind, values), values.get("stream"), extra)

    def _said(self, kind: str, values: Mapping[str, Any]) -> Media | Mark | Clear:
        match kind:
            case "media":
                return Media(values["payload"])
            case "mark":
                return Mark(values["name"])
        return Clear()

    def _judge(
        self, kind: str, said: Media | Mark | Clear, stream: str | None, extra: list[str]
    ) -> Media | Mark | Clear | Violation:
        if stream is not None and stream != self.description.stream:
            return Violation("wrong_stream", f"{kind} for stream {ascii(stream)[:60]}, which is not this one")
        if extra:
            return Violation("extra_field", f"in {kind}: the unknown field {', '.join(extra[:3])}", said)
        if isinstance(said, Media) and said.payload.startswith(FILE_HEADERS):
            return Violation("file_header", "the payload begins with a file's header, which is heard as noise", said)
        return said


class AgentEnd(_Stream):
    """The agent's end of one stream: what a host that serves an agent, or a call of our own number, runs."""

    def __init__(
        self,
        *,
        dialect: Dialect = TWILIO,
        max_message: int = MAX_MESSAGE,
        loads: Callable[[str], object] | None = None,
    ) -> None:
        super().__init__("agent", "carrier", dialect, max_message=max_message, loads=loads)
        self.started: Start | None = None
        self._writers: dict[str, Writer] = {}
        self._last_sequence = 0

    # What the agent sends

    def media(self, payload: bytes) -> str:
        """Return a message with encoded audio to be played."""
        self._say("media")
        return self._writers["media"].write(payload=payload)

    def mark(self, name: str) -> str:
        """Return a message that asks to be told when playout gets here."""
        self._say("mark")
        return self._writers["mark"].write(name=name)

    def clear(self) -> str:
        """Return a message that drops the audio that has not been played."""
        self._say("clear")
        return self._writers["clear"].write()

    # What the carrier sends

    def receive(self, data: str | bytes) -> Message | Violation:
        """Judge one message of the carrier. Never raises."""
        usual = self._usual_media(data)
        if usual is not None:
            media, stream, sequence = usual
            return self._disorder("media", stream) or self._in_sequence("media", sequence, media)
        parsed = self._parse(data)
        if isinstance(parsed, Violation):
            return parsed
        kind, message = parsed
        try:
            values, _ = self._readers[kind].read(message)
        except Mismatch as mismatch:
            return Violation(mismatch.kind, f"in {kind}: {mismatch.detail}")
        disorder = self._disorder(kind, values.get("stream"))
        return disorder or self._in_sequence(kind, values.get("sequence"), self._take(kind, values))

    def _disorder(self, kind: str, stream: str | None) -> Violation | None:
        """Take a step of theirs, or say why it is none: of this stream, or at this time."""
        if self.started is not None and stream != self.started.stream:
            return Violation("wrong_stream", f"{kind} for stream {ascii(stream)[:60]}, which is not this one")
        return self._step(kind)

    def _in_sequence(self, kind: str, sequence: int | None, taken: Message) -> Message | Violation:
        if sequence is None:
            return taken
        due, self._last_sequence = self._last_sequence + 1, sequence
        if sequence != due and self.dialect.ordered:
            return Violation("sequence_gap", f"{kind} has sequence number {sequence} where {due} was due", taken)
        return taken

    def _take(self, kind: str, values: Mapping[str, Any]) -> Message:
        match kind:
            case "media":
                return Media(values["payload"], values["track"], values["chunk"], values["timestamp"])
            case "connected":
                return Connected()
            case "start":
                return self._start(values)
            case "dtmf":
                return Dtmf(values["digit"])
            case "mark":
                return Mark(values["name"])
            case "clear":
                return Clear()
        return Stop()

    def _start(self, values: Mapping[str, Any]) -> Start:
        self.started = Start(
            values["stream"],
            values["call"],
            values["account"],
            values.get("tracks", ("inbound",)),
            values["parameters"],
            values["rate"],
        )
        fixed = {"stream": self.started.stream}
        self._writers = {kind: Writer(template, fixed) for kind, template in self.dialect.from_agent.items()}
        return self.started
