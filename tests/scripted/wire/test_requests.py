"""A client's events as calls of the transport, without a socket."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from voiceharness.scripted.calls import (
    InterruptCall,
    RealtimeCall,
    RequestResponseCall,
    SendAudioCall,
    SendEventCall,
    SendFunctionCallOutputCall,
    SendMessageCall,
    UpdateSessionConfigCall,
)
from voiceharness.scripted.transport import ScriptedRealtimeTransport
from voiceharness.scripted.wire.requests import call_transport, connect_options

__all__: list[str] = []

MESSAGE = {"type": "message", "role": "user", "content": []}
SYSTEM = {"type": "message", "role": "system", "content": []}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "done"}

PAIRS: list[tuple[dict[str, Any], RealtimeCall]] = [
    ({"type": "session.update", "session": {"a": 1}}, UpdateSessionConfigCall(index=0, config={"a": 1})),
    (
        {"type": "input_audio_buffer.append", "audio": base64.b64encode(b"ab").decode()},
        SendAudioCall(index=0, audio=b"ab"),
    ),
    ({"type": "input_audio_buffer.commit"}, SendAudioCall(index=0, audio=b"", commit=True)),
    ({"type": "conversation.item.create", "item": MESSAGE}, SendMessageCall(index=0, message=MESSAGE)),
    (
        {"type": "conversation.item.create", "item": OUTPUT},
        SendFunctionCallOutputCall(index=0, tool_call={"call_id": "c1"}, output="done", start_response=False),
    ),
    (
        {"type": "conversation.item.create", "item": SYSTEM},
        SendEventCall(index=0, event={"type": "conversation.item.create", "item": SYSTEM}),
    ),
    ({"type": "response.create", "response": {"a": 1}}, RequestResponseCall(index=0, response={"a": 1})),
    (
        {"type": "response.cancel", "response_id": "r1"},
        InterruptCall(index=0, response_id="r1", cancel_response_only=True),
    ),
    ({"type": "anything.else"}, SendEventCall(index=0, event={"type": "anything.else"})),
]


@pytest.mark.parametrize(
    ("event", "call"), PAIRS, ids=lambda value: value.get("type") if isinstance(value, dict) else ""
)
def test_a_clients_event_becomes_a_call(event: dict[str, Any], call: RealtimeCall) -> None:
    transport = ScriptedRealtimeTransport()
    call_transport(transport, event)
    assert transport.calls == (call,)


def test_the_query_names_the_model_or_the_call() -> None:
    options = connect_options("/v1/realtime?model=gpt-realtime&call_id=c1", {"Authorization": "Bearer key"})
    assert (options.get("model"), options.get("call_id")) == ("gpt-realtime", "c1")
    assert options.get("api_key") is not None
    assert connect_options("/", {}).get("api_key") is None
