"""What may come in from a realtime transport, one frozen class per event.

``type`` is the name listeners register for. Payloads that a provider defines are of any shape, hence ``Any``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, TypeAlias

from voiceharness.scripted.snapshot import SnapshotData

__all__ = [
    "EVENT_TYPES",
    "AudioDoneEvent",
    "AudioEvent",
    "AudioInterruptedEvent",
    "AudioTranscriptDeltaEvent",
    "ConnectionChangeEvent",
    "ConnectionStatus",
    "CustomEvent",
    "ErrorEvent",
    "EventLike",
    "FunctionCallEvent",
    "ItemDeletedEvent",
    "ItemUpdateEvent",
    "McpApprovalRequestEvent",
    "McpToolCallCompletedEvent",
    "McpToolsListedEvent",
    "NamedEvent",
    "OutputTextDeltaEvent",
    "RawEvent",
    "RealtimeEvent",
    "TurnDoneEvent",
    "TurnStartedEvent",
    "UsageUpdateEvent",
]

ConnectionStatus: TypeAlias = Literal["connecting", "connected", "disconnected"]
"""What a connection change carries; there is no notification of a transport that is being closed."""


class EventLike(Protocol):
    """Anything that says which event it is; a provider's own event objects can be emitted as they are."""

    @property
    def type(self) -> str:
        """The name that listeners register for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorEvent(SnapshotData):
    """Something went wrong; ``error`` is what the provider or the transport said."""

    type: ClassVar[Literal["error"]] = "error"
    error: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionCallEvent(SnapshotData):
    """The agent calls a tool; ``arguments`` is JSON text."""

    type: ClassVar[Literal["function_call"]] = "function_call"
    name: str
    call_id: str
    arguments: str = "{}"
    item_id: str | None = None
    previous_item_id: str | None = None
    response_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AudioEvent(SnapshotData):
    """A chunk of the agent's audio, in the transport's format."""

    type: ClassVar[Literal["audio"]] = "audio"
    data: bytes
    response_id: str | None = None
    item_id: str | None = None
    content_index: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AudioInterruptedEvent(SnapshotData):
    """The agent was interrupted; audio that is still to be played is void."""

    type: ClassVar[Literal["audio_interrupted"]] = "audio_interrupted"
    item_id: str | None = None
    content_index: int = 0
    response_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AudioTranscriptDeltaEvent(SnapshotData):
    """Words of the agent. ``start`` and ``end`` are seconds into the item's audio, where they are known."""

    type: ClassVar[Literal["audio_transcript_delta"]] = "audio_transcript_delta"
    delta: str
    item_id: str | None = None
    response_id: str | None = None
    start: float | None = None
    end: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputTextDeltaEvent(SnapshotData):
    """Text of the agent that is not spoken."""

    type: ClassVar[Literal["output_text_delta"]] = "output_text_delta"
    delta: str
    item_id: str | None = None
    response_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AudioDoneEvent(SnapshotData):
    """All audio of an item has been sent: received, not heard."""

    type: ClassVar[Literal["audio_done"]] = "audio_done"
    item_id: str | None = None
    content_index: int = 0
    response_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageUpdateEvent(SnapshotData):
    """What the session has used so far."""

    type: ClassVar[Literal["usage_update"]] = "usage_update"
    usage: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemUpdateEvent(SnapshotData):
    """An item of the history is new or has changed."""

    type: ClassVar[Literal["item_update"]] = "item_update"
    item: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemDeletedEvent(SnapshotData):
    """An item left the history."""

    type: ClassVar[Literal["item_deleted"]] = "item_deleted"
    item_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionChangeEvent(SnapshotData):
    """The connection has another status."""

    type: ClassVar[Literal["connection_change"]] = "connection_change"
    status: ConnectionStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStartedEvent(SnapshotData):
    """The agent begins a response."""

    type: ClassVar[Literal["turn_started"]] = "turn_started"
    response_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnDoneEvent(SnapshotData):
    """The agent's response is complete."""

    type: ClassVar[Literal["turn_done"]] = "turn_done"
    response_id: str | None = None
    usage: Any = None
    output: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class McpToolCallCompletedEvent(SnapshotData):
    """A tool of an MCP server has answered."""

    type: ClassVar[Literal["mcp_tool_call_completed"]] = "mcp_tool_call_completed"
    tool_call: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class McpApprovalRequestEvent(SnapshotData):
    """An MCP server asks for approval."""

    type: ClassVar[Literal["mcp_approval_request"]] = "mcp_approval_request"
    approval_request: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class McpToolsListedEvent(SnapshotData):
    """An MCP server has listed its tools."""

    type: ClassVar[Literal["mcp_tools_listed"]] = "mcp_tools_listed"
    server_label: str
    tools: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class RawEvent(SnapshotData):
    """A provider's event as it came."""

    type: ClassVar[Literal["*"]] = "*"
    data: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomEvent(SnapshotData):
    """An event of any other name."""

    type: str
    data: Any = None


NamedEvent: TypeAlias = (
    ErrorEvent
    | FunctionCallEvent
    | AudioEvent
    | AudioInterruptedEvent
    | AudioTranscriptDeltaEvent
    | OutputTextDeltaEvent
    | AudioDoneEvent
    | UsageUpdateEvent
    | ItemUpdateEvent
    | ItemDeletedEvent
    | ConnectionChangeEvent
    | TurnStartedEvent
    | TurnDoneEvent
    | McpToolCallCompletedEvent
    | McpApprovalRequestEvent
    | McpToolsListedEvent
    | RawEvent
)
"""Any event that has a name of its own."""

RealtimeEvent: TypeAlias = NamedEvent | CustomEvent
"""Any event of this vocabulary."""

EVENT_TYPES: tuple[type[NamedEvent], ...] = (
    ErrorEvent,
    FunctionCallEvent,
    AudioEvent,
    AudioInterruptedEvent,
    AudioTranscriptDeltaEvent,
    OutputTextDeltaEvent,
    AudioDoneEvent,
    UsageUpdateEvent,
    ItemUpdateEvent,
    ItemDeletedEvent,
    ConnectionChangeEvent,
    TurnStartedEvent,
    TurnDoneEvent,
    McpToolCallCompletedEvent,
    McpApprovalRequestEvent,
    McpToolsListedEvent,
    RawEvent,
)
"""Every event class that has a name of its own."""
