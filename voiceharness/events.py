"""What can happen on a line, as frozen values.

Three families. *Agent events* come from the agent's side through ``receive_audio``, in arrival order, beside audio.
*User events* reach the agent's door (:mod:`voiceharness.agent`). A :class:`Segment` is a stretch of sound on one track.

``at_ns`` is the time of arrival on the loop's clock, in nanoseconds, taken before decoding; None lets the line stamp
the event when it gets it. It does not take part in comparison.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from voiceharness.audio.chunk import AudioChunk

if TYPE_CHECKING:
    from voiceharness.capabilities import DtmfMethod

__all__ = [
    "AgentEvent",
    "AgentState",
    "CallEnded",
    "Digit",
    "EndOfStream",
    "Flush",
    "HistoryClaimed",
    "Interrupted",
    "Mark",
    "MarkPlayed",
    "MediaChanged",
    "MediaTrouble",
    "Party",
    "ProtocolFault",
    "RemoteHangup",
    "Segment",
    "StateClaimed",
    "TruncationClaimed",
    "TurnDone",
    "UserItem",
    "Word",
    "Words",
]

Party = Literal["user", "agent"]
AgentState = Literal["listening", "thinking", "speaking"]


@dataclass(frozen=True, slots=True)
class Word:
    """One spoken word; ``start`` and ``end`` are seconds from the first sample of the audio it belongs to."""

    text: str
    start: float
    end: float
    estimated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentEvent:
    """Base of what the agent's side can do besides sending audio."""

    at_ns: int | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Flush(AgentEvent):
    """Empty the playout queue: what was not heard yet never will be. On a Twilio stream this is ``clear``."""


@dataclass(frozen=True, slots=True)
class Mark(AgentEvent):
    """A name to be answered when playout reaches this point of the queue, or when a flush removes it."""

    name: str


@dataclass(frozen=True, slots=True)
class Digit(AgentEvent):
    """A keypad digit, from either side. ``duration`` is in seconds (0: the transport does not tell)."""

    digit: str
    duration: float = 0.0
    method: DtmfMethod = "event"


@dataclass(frozen=True, slots=True)
class Words(AgentEvent):
    """Words of the agent's item ``item``, timed from the item's first sample.

    With ``words`` empty, ``text`` is spread over the audio of the item and marked estimated.
    """

    item: str | None = None
    words: tuple[Word, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class TurnDone(AgentEvent):
    """The transport says that the agent's response is complete (sent, not yet heard), with or without audio."""

    item: str | None = None


@dataclass(frozen=True, slots=True)
class StateClaimed(AgentEvent):
    """What the agent says it is doing. A claim, to be held against the sound."""

    state: AgentState


@dataclass(frozen=True, slots=True)
class TruncationClaimed(AgentEvent):
    """The agent's belief of how much of an item was heard, in seconds from the item's start."""

    item: str
    heard: float


@dataclass(frozen=True, slots=True)
class HistoryClaimed(AgentEvent):
    """The text that the agent keeps in its history as spoken for an item."""

    item: str
    text: str


@dataclass(frozen=True, slots=True)
class ProtocolFault(AgentEvent):
    """The agent's side broke a rule of the protocol; ``kind`` is a stable name, ``detail`` says what was received."""

    kind: str
    detail: str


@dataclass(frozen=True, slots=True)
class MediaTrouble(AgentEvent):
    """The agent's sound came over the network in disorder, which breaks no rule of the protocol but may be heard.

    ``kind`` is a stable name (those of :data:`~voiceharness.measure.finding.MEDIA_KINDS` become findings), ``detail``
    says what was received. It began ``duration`` seconds before; ``figure`` is its size in ``unit``.
    """

    kind: str
    detail: str
    figure: float = 0.0
    unit: Literal["packets", "s", "times"] = "times"
    duration: float = 0.0


@dataclass(frozen=True, slots=True)
class MediaChanged(AgentEvent):
    """The transport's media began, or ended, within the call; ``detail`` is the transport's own word of it."""

    state: Literal["started", "stopped"]
    detail: str = ""


@dataclass(frozen=True, slots=True)
class RemoteHangup(AgentEvent):
    """The agent ended the call. ``code`` and ``reason`` are the transport's own cause, where it has one."""

    reason: str = ""
    code: int | None = None


@dataclass(frozen=True, slots=True)
class EndOfStream(AgentEvent):
    """Nothing more will come from the agent. Said once, last."""


@dataclass(frozen=True, slots=True)
class Interrupted:
    """The transport's own interrupt signal, at the agent's door. It removes no queued audio itself."""


@dataclass(frozen=True, slots=True)
class MarkPlayed:
    """Answer to a mark: playout reached it, or a flush removed it."""

    name: str
    flushed: bool = False


@dataclass(frozen=True, slots=True)
class CallEnded:
    """The user hung up, or the call was ended for the user. Said once, last."""

    reason: str = ""


UserItem: TypeAlias = AudioChunk | Digit | Interrupted | MarkPlayed | CallEnded
"""What an agent can receive at its door."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of sound of one party: samples ``onset`` (first) to ``offset`` (one past the last) on its track."""

    party: Party
    onset: int
    offset: int
    rate: int = 8000

    @property
    def start(self) -> float:
        """Onset in seconds after the answer."""
        return self.onset / self.rate

    @property
    def end(self) -> float:
        """Offset in seconds after the answer."""
        return self.offset / self.rate

    @property
    def duration(self) -> float:
        """Length in seconds."""
        return (self.offset - self.onset) / self.rate
