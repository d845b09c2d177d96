"""The typed faces of ``expect_call``, ``on``, ``once`` and ``off``: one overload for each name.

They are written once, as protocols, and every object that has such a method shows it through a property.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, TypeVar, overload

from voiceharness.scripted.calls import (
    AddImageCall,
    CloseCall,
    ConnectCall,
    InterruptCall,
    MuteCall,
    RealtimeCall,
    RequestResponseCall,
    ResetHistoryCall,
    SendAudioCall,
    SendEventCall,
    SendFunctionCallOutputCall,
    SendMcpResponseCall,
    SendMessageCall,
    UpdateSessionConfigCall,
)

if TYPE_CHECKING:
    from voiceharness.scripted.expectation import Expectation
    from voiceharness.scripted.inbound import (
        AudioDoneEvent,
        AudioEvent,
        AudioInterruptedEvent,
        AudioTranscriptDeltaEvent,
        ConnectionChangeEvent,
        CustomEvent,
        ErrorEvent,
        FunctionCallEvent,
        ItemDeletedEvent,
        ItemUpdateEvent,
        McpApprovalRequestEvent,
        McpToolCallCompletedEvent,
        McpToolsListedEvent,
        OutputTextDeltaEvent,
        RawEvent,
        TurnDoneEvent,
        TurnStartedEvent,
        UsageUpdateEvent,
    )

__all__ = ["ExpectCall", "Subscribe"]

C = TypeVar("C", bound=RealtimeCall)
E = TypeVar("E")
T_co = TypeVar("T_co", covariant=True)
V = TypeVar("V")

Taking: TypeAlias = Callable[[V], object]
"""A function of one value whose answer may be anything."""


class ExpectCall(Protocol):
    """Expect the next call to be of this method (a name or a call class) and to be accepted by the matcher.

    It registers at once, awaited or not. The matcher gets a snapshot of the call: None or a true answer accepts, a
    false one rejects, and what it raises fails both the call and the expectation.
    """

    @overload
    def __call__(
        self, method: Literal["connect"], matcher: Taking[ConnectCall] | None = None, /
    ) -> Expectation[ConnectCall]: ...

    @overload
    def __call__(
        self, method: Literal["send_event"], matcher: Taking[SendEventCall] | None = None, /
    ) -> Expectation[SendEventCall]: ...

    @overload
    def __call__(
        self, method: Literal["request_response"], matcher: Taking[RequestResponseCall] | None = None, /
    ) -> Expectation[RequestResponseCall]: ...

    @overload
    def __call__(
        self, method: Literal["send_message"], matcher: Taking[SendMessageCall] | None = None, /
    ) -> Expectation[SendMessageCall]: ...

    @overload
    def __call__(
        self, method: Literal["add_image"], matcher: Taking[AddImageCall] | None = None, /
    ) -> Expectation[AddImageCall]: ...

    @overload
    def __call__(
        self, method: Literal["send_audio"], matcher: Taking[SendAudioCall] | None = None, /
    ) -> Expectation[SendAudioCall]: ...

    @overload
    def __call__(
        self,
        method: Literal["update_session_config"],
        matcher: Taking[UpdateSessionConfigCall] | None = None,
        /,
    ) -> Expectation[UpdateSessionConfigCall]: ...

    @overload
    def __call__(
        self, method: Literal["close"], matcher: Taking[CloseCall] | None = None, /
    ) -> Expectation[CloseCall]: ...

    @overload
    def __call__(
        self, method: Literal["mute"], matcher: Taking[MuteCall] | None = None, /
    ) -> Expectation[MuteCall]: ...

    @overload
    def __call__(
        self,
        method: Literal["send_function_call_output"],
        matcher: Taking[SendFunctionCallOutputCall] | None = None,
        /,
    ) -> Expectation[SendFunctionCallOutputCall]: ...

    @overload
    def __call__(
        self, method: Literal["interrupt"], matcher: Taking[InterruptCall] | None = None, /
    ) -> Expectation[InterruptCall]: ...

    @overload
    def __call__(
        self, method: Literal["reset_history"], matcher: Taking[ResetHistoryCall] | None = None, /
    ) -> Expectation[ResetHistoryCall]: ...

    @overload
    def __call__(
        self, method: Literal["send_mcp_response"], matcher: Taking[SendMcpResponseCall] | None = None, /
    ) -> Expectation[SendMcpResponseCall]: ...

    @overload
    def __call__(self, method: type[C], matcher: Taking[C] | None = None, /) -> Expectation[C]: ...


class Subscribe(Protocol[T_co]):
    """Register or remove a listener for an event, by name or by event class.

    An event of a name of your own is taken to be a ``CustomEvent``.
    """

    @overload
    def __call__(self, event: Literal["error"], listener: Taking[ErrorEvent], /) -> T_co: ...

    @overload
    def __call__(self, event: Literal["function_call"], listener: Taking[FunctionCallEvent], /) -> T_co: ...

    @overload
    def __call__(self, event: Literal["audio"], listener: Taking[AudioEvent], /) -> T_co: ...

    @overload
    def __call__(self, event: Literal["audio_interrupted"], listener: Taking[AudioInterruptedEvent], /) -> T_co: ...

    @overload
    def __call__(
        self, event: Literal["audio_transcript_delta"], listener: Taking[AudioTranscriptDeltaEvent], /
    ) -> T_co: ...

    @overload
    def __call__(self, event: Literal["output_text_delta"], listener: Taking[OutputTextDeltaEvent], /) -> T_co: ...

    @overload
    def __call__(self, event: Literal["audio_done"], listener: Taking[AudioDoneEvent], /) -> T_co: ...

    @overload
    def __call__(self, event: Literal["usage_update"], listener: Taking[UsageUpdateEvent], /) -> T_co: ...

    @overload
    def __call__(self, event: Literal["item_update"], listener: Taking[ItemUpdateEvent], /) -> T_co: ...

    @overload
    def __call__(self, event: Literal["item_deleted"], listener: Taking[ItemDeletedEvent], /) -> T_co: ...

    @overload
    def __call__(self, event: Literal["connection_change"], listener: Taking[ConnectionChangeEvent], /) -> T_co: ...

    @overload
    def __call__(self, event: Literal["turn_started"], listener: Taking[TurnStartedEvent], /) -> T_co: ...

    @overload
    def __call__(self, event: Literal["turn_done"], listener: Taking[TurnDoneEvent], /) -> T_co: ...

    @overload
    def __call__(
        self, event: Literal["mcp_tool_call_completed"], listener: Taking[McpToolCallCompletedEvent], /
    ) -> T_co: ...

    @overload
    def __call__(
        self, event: Literal["mcp_approval_request"], listener: Taking[McpApprovalRequestEvent], /
    ) -> T_co: ...

    @overload
    def __call__(self, event: Literal["mcp_tools_listed"], listener: Taking[McpToolsListedEvent], /) -> T_co: ...

    @overload
    def __call__(self, event: Literal["*"], listener: Taking[RawEvent], /) -> T_co: ...

    @overload
    def __call__(self, event: type[E], listener: Taking[E], /) -> T_co: ...

    @overload
    def __call__(self, event: str, listener: Taking[CustomEvent], /) -> T_co: ...
