"""A script's events as server events, without a socket; the SDK's own types accept every one."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from voiceharness.scripted.errors import ScriptTypeError
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
    McpToolsListedEvent,
    OutputTextDeltaEvent,
    TurnDoneEvent,
    TurnStartedEvent,
    UsageUpdateEvent,
)
from voiceharness.scripted.output import Usage
from voiceharness.scripted.wire.frames import ServerEvent, ServerEvents
from voiceharness.scripted.wire.provider import ProviderSession

__all__: list[str] = []

ITEM = {"id": "u1", "type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]}


def server_events(*events: Any, provider: ProviderSession | None = None) -> list[dict[str, Any]]:
    frames = ServerEvents(provider or ProviderSession())
    return [body for event in events for body in frames.of(event)]


def types(*events: Any) -> list[str]:
    return [body["type"] for body in server_events(*events)]


def test_a_turn_is_announced_spoken_and_finished() -> None:
    bodies = server_events(
        TurnStartedEvent(response_id="r1"),
        AudioTranscriptDeltaEvent(delta="hi ", item_id="i1"),
        AudioTranscriptDeltaEvent(delta="there", item_id="i1"),
        AudioEvent(data=b"ab", item_id="i1"),
        AudioDoneEvent(item_id="i1"),
        TurnDoneEvent(usage=Usage(input_tokens=3, total_tokens=3)),
    )
    assert [body["type"] for body in bodies] == [
        "response.created",
        "response.output_item.added",
        "response.output_audio_transcript.delta",
        "response.output_audio_transcript.delta",
        "response.output_audio.delta",
        "response.output_audio.done",
        "response.output_item.done",
        "response.done",
    ]
    assert base64.b64decode(bodies[4]["delta"]) == b"ab"
    done = bodies[-1]["response"]
    assert (done["id"], done["status"]) == ("r1", "completed")
    assert done["usage"] == {"input_tokens": 3, "output_tokens": 0, "total_tokens": 3}
    assert done["output"][0]["content"][0]["transcript"] == "hi there"


def test_a_script_may_leave_out_turns_and_ids() -> None:
    bodies = server_events(AudioEvent(data=b"ab"), AudioDoneEvent(), TurnDoneEvent(), AudioEvent(data=b"cd"))
    deltas = [body for body in bodies if body["type"] == "response.output_audio.delta"]
    assert [(body["response_id"], body["item_id"]) for body in deltas] == [
        ("response-1", "item-1"),
        ("response-2", "item-2"),
    ]


def test_each_item_has_its_index() -> None:
    bodies = server_events(
        OutputTextDeltaEvent(delta="a", item_id="i1"),
        OutputTextDeltaEvent(delta="b", item_id="i2"),
        OutputTextDeltaEvent(delta="c", item_id="i1"),
    )
    assert [body["output_index"] for body in bodies if body["type"] == "response.output_text.delta"] == [0, 1, 0]


def test_a_cancelled_response_is_done_as_cancelled() -> None:
    provider = ProviderSession()
    provider.note({"type": "response.created", "response": {"id": "r1"}})
    provider.receive({"type": "response.cancel"})
    (done,) = server_events(TurnDoneEvent(response_id="r1"), provider=provider)
    assert done["response"]["status"] == "cancelled"


def test_other_events_have_their_own_form() -> None:
    assert types(ItemUpdateEvent(item=ITEM), ItemDeletedEvent(item_id="i1"), AudioInterruptedEvent()) == [
        "conversation.item.added",
        "conversation.item.deleted",
        "input_audio_buffer.speech_started",
    ]
    assert server_events(ErrorEvent(error=ValueError("no")))[0]["error"]["message"] == "no"
    assert server_events(CustomEvent(type="x", data={"a": 1})) == [{"type": "x", "a": 1}]
    assert server_events(ServerEvent({"type": "y"})) == [{"type": "y"}]
    assert server_events(UsageUpdateEvent(usage=None), ConnectionChangeEvent(status="connected")) == []
    with pytest.raises(ScriptTypeError):
        server_events(McpToolsListedEvent(server_label="s", tools=[]))


def test_the_sdk_accepts_every_server_event() -> None:
    pytest.importorskip("agents")
    from openai.types.realtime.realtime_server_event import RealtimeServerEvent
    from pydantic import TypeAdapter

    adapter: TypeAdapter[Any] = TypeAdapter(RealtimeServerEvent)
    script = (
        TurnStartedEvent(),
        AudioTranscriptDeltaEvent(delta="hi", item_id="i1"),
        AudioEvent(data=b"ab", item_id="i1"),
        AudioDoneEvent(item_id="i1"),
        OutputTextDeltaEvent(delta="a"),
        FunctionCallEvent(name="f", call_id="c1"),
        AudioInterruptedEvent(),
        ItemUpdateEvent(item=ITEM),
        ItemDeletedEvent(item_id="i1"),
        TurnDoneEvent(usage={"total_tokens": 7}),
    )
    for number, body in enumerate(server_events(*script)):
        parsed = adapter.validate_python({"event_id": f"event-{number}", "previous_item_id": "", **body})
        assert parsed.type == body["type"]
