"""What is recorded of each outbound call of a realtime transport, one frozen class per method.

Payloads that a provider defines (events, messages, configurations, tool calls) are of any shape, hence ``Any``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

from voiceharness.scripted.records import RecordedCall

__all__ = [
    "CALL_TYPES",
    "AddImageCall",
    "CloseCall",
    "ConnectCall",
    "InterruptCall",
    "Method",
    "MuteCall",
    "RealtimeCall",
    "RequestResponseCall",
    "ResetHistoryCall",
    "SendAudioCall",
    "SendEventCall",
    "SendFunctionCallOutputCall",
    "SendMcpResponseCall",
    "SendMessageCall",
    "UpdateSessionConfigCall",
]

Method: TypeAlias = Literal[
    "connect",
    "send_event",
    "request_response",
    "send_message",
    "add_image",
    "send_audio",
    "update_session_config",
    "close",
    "mute",
    "send_function_call_output",
    "interrupt",
    "reset_history",
    "send_mcp_response",
]
"""The methods of a realtime transport that are recorded."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ConnectCall(RecordedCall):
    """How the transport was asked to connect. Keys and headers are never recorded, only whether they were given."""

    method: ClassVar[Literal["connect"]] = "connect"
    model: str | None = None
    url: str | None = None
    call_id: str | None = None
    initial_session_config: Any = None
    api_key_provided: bool = False
    headers_provided: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SendEventCall(RecordedCall):
    """A raw provider event."""

    method: ClassVar[Literal["send_event"]] = "send_event"
    event: Any


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RequestResponseCall(RecordedCall):
    """A request for the agent's answer."""

    method: ClassVar[Literal["request_response"]] = "request_response"
    response: Any = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SendMessageCall(RecordedCall):
    """A user message, as text or structured."""

    method: ClassVar[Literal["send_message"]] = "send_message"
    message: Any
    other_event_data: Any = None
    trigger_response: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AddImageCall(RecordedCall):
    """An image for the conversation."""

    method: ClassVar[Literal["add_image"]] = "add_image"
    image: str
    trigger_response: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SendAudioCall(RecordedCall):
    """User audio, in the transport's format."""

    method: ClassVar[Literal["send_audio"]] = "send_audio"
    audio: bytes
    commit: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class UpdateSessionConfigCall(RecordedCall):
    """A change of the session's configuration."""

    method: ClassVar[Literal["update_session_config"]] = "update_session_config"
    config: Any


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CloseCall(RecordedCall):
    """The close that had an effect."""

    method: ClassVar[Literal["close"]] = "close"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MuteCall(RecordedCall):
    """Muting or unmuting."""

    method: ClassVar[Literal["mute"]] = "mute"
    muted: bool


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SendFunctionCallOutputCall(RecordedCall):
    """The output of a tool."""

    method: ClassVar[Literal["send_function_call_output"]] = "send_function_call_output"
    tool_call: Any
    output: str
    start_response: bool


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class InterruptCall(RecordedCall):
    """The transport's own interruption of the agent."""

    method: ClassVar[Literal["interrupt"]] = "interrupt"
    force_response_cancel: bool = False
    response_id: str | None = None
    cancel_response_only: bool = False
    playback_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ResetHistoryCall(RecordedCall):
    """A new history in place of the old one."""

    method: ClassVar[Literal["reset_history"]] = "reset_history"
    old_history: Any
    new_history: Any


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SendMcpResponseCall(RecordedCall):
    """An answer to a request for approval."""

    method: ClassVar[Literal["send_mcp_response"]] = "send_mcp_response"
    approval_request: Any
    approved: bool
    reason: str | None = None


RealtimeCall: TypeAlias = (
    ConnectCall
    | SendEventCall
    | RequestResponseCall
    | SendMessageCall
    | AddImageCall
    | SendAudioCall
    | UpdateSessionConfigCall
    | CloseCall
    | MuteCall
    | SendFunctionCallOutputCall
    | InterruptCall
    | ResetHistoryCall
    | SendMcpResponseCall
)
"""Any recorded call; ``method`` tells which."""

CALL_TYPES: tuple[type[RealtimeCall], ...] = (
    ConnectCall,
    SendEventCall,
    RequestResponseCall,
    SendMessageCall,
    AddImageCall,
    SendAudioCall,
    UpdateSessionConfigCall,
    CloseCall,
    MuteCall,
    SendFunctionCallOutputCall,
    InterruptCall,
    ResetHistoryCall,
    SendMcpResponseCall,
)
"""Every call class, one for each method."""
