"""Each of our events as the SDK's."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("agents")

from agents.realtime import model_events as sdk
from agents.usage import Usage as SdkUsage

from voiceharness.scripted.inbound import (
    EVENT_TYPES,
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
    RawEvent,
    TurnDoneEvent,
    TurnStartedEvent,
    UsageUpdateEvent,
)
from voiceharness.scripted.openai_agents.inbound import DEFAULT_ITEM, DEFAULT_RESPONSE, to_sdk
from voiceharness.scripted.output import Usage

__all__: list[str] = []

MESSAGE = {"item_id": "i1", "type": "message", "role": "user", "content": []}
COUNTED = sdk.RealtimeModelUsageEvent(usage=SdkUsage(requests=1, input_tokens=3))

PAIRS: list[tuple[Any, list[Any]]] = [
    (ErrorEvent(error="e"), [sdk.RealtimeModelErrorEvent(error="e")]),
    (
        FunctionCallEvent(name="f", call_id="c", arguments="{}", item_id="i", previous_item_id="p"),
        [sdk.RealtimeModelToolCallEvent(name="f", call_id="c", arguments="{}", id="i", previous_item_id="p")],
    ),
    (
        AudioEvent(data=b"a", response_id="r", item_id="i", content_index=1),
        [sdk.RealtimeModelAudioEvent(data=b"a", response_id="r", item_id="i", content_index=1)],
    ),
    (
        AudioEvent(data=b"a"),
        [sdk.RealtimeModelAudioEvent(b"a", response_id=DEFAULT_RESPONSE, item_id=DEFAULT_ITEM, content_index=0)],
    ),
    (AudioInterruptedEvent(item_id="i"), [sdk.RealtimeModelAudioInterruptedEvent(item_id="i", content_index=0)]),
    (AudioDoneEvent(), [sdk.RealtimeModelAudioDoneEvent(item_id=DEFAULT_ITEM, content_index=0)]),
    (
        AudioTranscriptDeltaEvent(delta="d", item_id="i", response_id="r"),
        [sdk.RealtimeModelTranscriptDeltaEvent(item_id="i", delta="d", response_id="r")],
    ),
    (
        OutputTextDeltaEvent(delta="d", item_id="i", response_id="r"),
        [sdk.RealtimeModelOutputTextDeltaEvent(item_id="i", delta="d", response_id="r")],
    ),
    (ItemDeletedEvent(item_id="i"), [sdk.RealtimeModelItemDeletedEvent(item_id="i")]),
    (ConnectionChangeEvent(status="connecting"), [sdk.RealtimeModelConnectionStatusEvent(status="connecting")]),
    (TurnStartedEvent(response_id="r"), [sdk.RealtimeModelTurnStartedEvent(response_id="r")]),
    (TurnDoneEvent(response_id="r"), [sdk.RealtimeModelTurnEndedEvent(response_id="r")]),
    (
        TurnDoneEvent(usage={"requests": 1, "input_tokens": 3}),
        [COUNTED, sdk.RealtimeModelTurnEndedEvent()],
    ),
    (UsageUpdateEvent(usage=Usage(requests=1, input_tokens=3)), [COUNTED]),
    (UsageUpdateEvent(usage=COUNTED.usage), [COUNTED]),
    (RawEvent(data={"a": 1}), [sdk.RealtimeModelRawServerEvent(data={"a": 1})]),
    (
        McpToolsListedEvent(server_label="s", tools=[]),
        [sdk.RealtimeModelOtherEvent(data=McpToolsListedEvent(server_label="s", tools=[]))],
    ),
    (CustomEvent(type="x"), [sdk.RealtimeModelOtherEvent(data=CustomEvent(type="x"))]),
    (sdk.RealtimeModelEndOfStreamEvent(), [sdk.RealtimeModelEndOfStreamEvent()]),
]


@pytest.mark.parametrize(("ours", "theirs"), PAIRS, ids=lambda value: getattr(value, "type", ""))
def test_an_event_becomes_the_sdks(ours: Any, theirs: list[Any]) -> None:
    assert list(to_sdk(ours)) == theirs


def test_an_item_given_as_plain_data_becomes_the_sdks_item() -> None:
    (from_plain,) = to_sdk(ItemUpdateEvent(item=MESSAGE))
    assert (from_plain.item.role, from_plain.item.item_id) == ("user", "i1")
    (as_it_is,) = to_sdk(ItemUpdateEvent(item=from_plain.item))
    assert as_it_is.item is from_plain.item


def test_every_event_of_the_vocabulary_has_a_test_above() -> None:
    untouched = set(EVENT_TYPES) - {type(ours) for ours, _ in PAIRS} - {ItemUpdateEvent}
    assert {kind.__name__ for kind in untouched} == {"McpApprovalRequestEvent", "McpToolCallCompletedEvent"}
