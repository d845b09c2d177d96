"""What a session sends, as calls of the scripted transport."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from agents.realtime.items import AssistantMessageItem, RealtimeToolCallItem, SystemMessageItem, UserMessageItem
from agents.realtime.model_events import RealtimeModelToolCallEvent
from agents.realtime.model_inputs import (
    RealtimeModelSendAudio,
    RealtimeModelSendInterrupt,
    RealtimeModelSendRawMessage,
    RealtimeModelSendSessionUpdate,
    RealtimeModelSendToolOutput,
    RealtimeModelSendUserInput,
)

from voiceharness.scripted.snapshot import SnapshotPolicy

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from agents.realtime.model import RealtimeModelConfig

    from voiceharness.scripted.protocol import ConnectOptions
    from voiceharness.scripted.transport import ScriptedRealtimeTransport

__all__ = ["SNAPSHOTS", "connect_options", "send"]

SNAPSHOTS: Final = SnapshotPolicy().register_snapshot_type(
    RealtimeModelToolCallEvent, RealtimeToolCallItem, AssistantMessageItem, SystemMessageItem, UserMessageItem
)
"""The SDK's data, copied when recorded; tools and handoffs keep their identity."""


def connect_options(options: RealtimeModelConfig) -> ConnectOptions:
    """Return the transport's options for the SDK's; the model's name is one of the settings there."""
    settings = options.get("initial_model_settings", {})
    return {
        "api_key": options.get("api_key"),
        "url": options.get("url"),
        "headers": options.get("headers"),
        "call_id": options.get("call_id"),
        "model": settings.get("model_name"),
        "initial_session_config": settings,
    }


def send(transport: ScriptedRealtimeTransport, event: object) -> None:
    """Make the call that corresponds to what a session sends.

    A kind that a later SDK may bring is sent as a raw event, so that the test sees it instead of failing.
    """
    call = _SENDS.get(type(event))
    if call is None:
        transport.send_event(event)
    else:
        call(transport, event)


def _send_user_input(transport: ScriptedRealtimeTransport, event: RealtimeModelSendUserInput) -> None:
    transport.send_message(event.user_input)


def _send_audio(transport: ScriptedRealtimeTransport, event: RealtimeModelSendAudio) -> None:
    transport.send_audio(event.audio, commit=event.commit)


def _send_tool_output(transport: ScriptedRealtimeTransport, event: RealtimeModelSendToolOutput) -> None:
    transport.send_function_call_output(event.tool_call, event.output, event.start_response)


def _send_interrupt(transport: ScriptedRealtimeTransport, event: RealtimeModelSendInterrupt) -> None:
    transport.interrupt(
        force_response_cancel=event.force_response_cancel,
        response_id=event.response_id,
        cancel_response_only=event.cancel_response_only,
        playback_only=event.playback_only,
    )


def _send_session_update(transport: ScriptedRealtimeTransport, event: RealtimeModelSendSessionUpdate) -> None:
    transport.update_session_config(event.session_settings)


def _send_raw_message(transport: ScriptedRealtimeTransport, event: RealtimeModelSendRawMessage) -> None:
    transport.send_event({"type": event.message["type"], **event.message.get("other_data", {})})


_SENDS: Final[Mapping[type, Callable[[ScriptedRealtimeTransport, Any], None]]] = {
    RealtimeModelSendUserInput: _send_user_input,
    RealtimeModelSendAudio: _send_audio,
    RealtimeModelSendToolOutput: _send_tool_output,
    RealtimeModelSendInterrupt: _send_interrupt,
    RealtimeModelSendSessionUpdate: _send_session_update,
    RealtimeModelSendRawMessage: _send_raw_message,
}
