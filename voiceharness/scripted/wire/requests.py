"""What a client sends over the wire, as calls of the scripted transport."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs, urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from voiceharness.scripted.protocol import ConnectOptions
    from voiceharness.scripted.transport import ScriptedRealtimeTransport
    from voiceharness.scripted.wire.provider import Event

__all__ = ["call_transport", "connect_options"]


def connect_options(path: str, headers: Mapping[str, str]) -> ConnectOptions:
    """Return the transport's options for the request that opened the websocket."""
    query = {name: values[0] for name, values in parse_qs(urlsplit(path).query).items()}
    return {
        "model": query.get("model"),
        "call_id": query.get("call_id"),
        "url": path,
        "api_key": headers.get("Authorization") or headers.get("api-key"),
        "headers": dict(headers.items()),
    }


def call_transport(transport: ScriptedRealtimeTransport, event: Event) -> None:
    """Make the call that corresponds to a client's event; one without a call of its own is a raw event."""
    call = _CALLS.get(event.get("type", ""), _send_event)
    call(transport, event)


def _send_event(transport: ScriptedRealtimeTransport, event: Event) -> None:
    transport.send_event(event)


def _update(transport: ScriptedRealtimeTransport, event: Event) -> None:
    transport.update_session_config(event.get("session"))


def _append(transport: ScriptedRealtimeTransport, event: Event) -> None:
    transport.send_audio(base64.b64decode(event["audio"]))


def _commit(transport: ScriptedRealtimeTransport, _event: Event) -> None:
    transport.send_audio(b"", commit=True)


def _create_item(transport: ScriptedRealtimeTransport, event: Event) -> None:
    item: dict[str, Any] = event["item"]
    if item.get("type") == "function_call_output":
        transport.send_function_call_output({"call_id": item.get("call_id")}, str(item.get("output", "")), False)
    elif item.get("type") == "message" and item.get("role") == "user":
        transport.send_message(item)
    else:
        transport.send_event(event)


def _request(transport: ScriptedRealtimeTransport, event: Event) -> None:
    transport.request_response(event.get("response"))


def _cancel(transport: ScriptedRealtimeTransport, event: Event) -> None:
    transport.interrupt(response_id=event.get("response_id"), cancel_response_only=True)


_CALLS: Final[Mapping[str, Callable[[ScriptedRealtimeTransport, Event], None]]] = {
    "session.update": _update,
    "input_audio_buffer.append": _append,
    "input_audio_buffer.commit": _commit,
    "conversation.item.create": _create_item,
    "response.create": _request,
    "response.cancel": _cancel,
}
