"""What the scripted transport emits, as events of the SDK's realtime model.

Ids that the SDK demands and the script leaves out are ``DEFAULT_ITEM`` and ``DEFAULT_RESPONSE``.
"""

from __future__ import annotations

from dataclasses import asdict, is_dataclass
from typing import TYPE_CHECKING, Any, Final

from agents.realtime import model_events as sdk
from agents.realtime.items import RealtimeItem
from agents.usage import Usage
from pydantic import TypeAdapter

from voiceharness.scripted import inbound as ours

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from voiceharness.scripted.inbound import EventLike

__all__ = ["DEFAULT_ITEM", "DEFAULT_RESPONSE", "to_sdk"]

DEFAULT_ITEM: Final = "scripted-item"
DEFAULT_RESPONSE: Final = "scripted-response"


def to_sdk(event: EventLike) -> tuple[Any, ...]:
    """Return the SDK's events for one of ours; an event of the SDK is passed on, and anything else is ``Other``."""
    if type(event).__module__ == sdk.__name__:
        return (event,)
    convert = _CONVERSIONS.get(type(event))
    return (sdk.RealtimeModelOtherEvent(data=event),) if convert is None else convert(event)


def _function_call(event: ours.FunctionCallEvent) -> tuple[Any, ...]:
    return (
        sdk.RealtimeModelToolCallEvent(
            name=event.name,
            call_id=event.call_id,
            arguments=event.arguments,
            id=event.item_id,
            previous_item_id=event.previous_item_id,
        ),
    )


def _audio(event: ours.AudioEvent) -> tuple[Any, ...]:
    return (
        sdk.RealtimeModelAudioEvent(
            data=event.data,
            response_id=event.response_id or DEFAULT_RESPONSE,
            item_id=event.item_id or DEFAULT_ITEM,
            content_index=event.content_index,
        ),
    )


def _audio_interrupted(event: ours.AudioInterruptedEvent) -> tuple[Any, ...]:
    return (sdk.RealtimeModelAudioInterruptedEvent(event.item_id or DEFAULT_ITEM, event.content_index),)


def _audio_done(event: ours.AudioDoneEvent) -> tuple[Any, ...]:
    return (sdk.RealtimeModelAudioDoneEvent(event.item_id or DEFAULT_ITEM, event.content_index),)


def _transcript_delta(event: ours.AudioTranscriptDeltaEvent) -> tuple[Any, ...]:
    item_id, response_id = event.item_id or DEFAULT_ITEM, event.response_id or DEFAULT_RESPONSE
    return (sdk.RealtimeModelTranscriptDeltaEvent(item_id=item_id, delta=event.delta, response_id=response_id),)


def _text_delta(event: ours.OutputTextDeltaEvent) -> tuple[Any, ...]:
    item_id, response_id = event.item_id or DEFAULT_ITEM, event.response_id or DEFAULT_RESPONSE
    return (sdk.RealtimeModelOutputTextDeltaEvent(item_id=item_id, delta=event.delta, response_id=response_id),)


def _item_update(event: ours.ItemUpdateEvent) -> tuple[Any, ...]:
    item = event.item
    if isinstance(item, dict):
        item = TypeAdapter[Any](RealtimeItem).validate_python(item)
    return (sdk.RealtimeModelItemUpdatedEvent(item=item),)


def _usage_of(usage: Any) -> sdk.RealtimeModelUsageEvent:
    if isinstance(usage, Usage):
        return sdk.RealtimeModelUsageEvent(usage=usage)
    counts: Mapping[str, Any] = asdict(usage) if is_dataclass(usage) and not isinstance(usage, type) else usage
    names = ("requests", "input_tokens", "output_tokens", "total_tokens")
    return sdk.RealtimeModelUsageEvent(usage=Usage(**{name: counts.get(name, 0) for name in names}))


def _turn_done(event: ours.TurnDoneEvent) -> tuple[Any, ...]:
    ended = sdk.RealtimeModelTurnEndedEvent(response_id=event.response_id)
    return (ended,) if event.usage is None else (_usage_of(event.usage), ended)


_CONVERSIONS: Final[Mapping[type, Callable[[Any], tuple[Any, ...]]]] = {
    ours.ErrorEvent: lambda event: (sdk.RealtimeModelErrorEvent(error=event.error),),
    ours.FunctionCallEvent: _function_call,
    ours.AudioEvent: _audio,
    ours.AudioInterruptedEvent: _audio_interrupted,
    ours.AudioDoneEvent: _audio_done,
    ours.AudioTranscriptDeltaEvent: _transcript_delta,
    ours.OutputTextDeltaEvent: _text_delta,
    ours.ItemUpdateEvent: _item_update,
    ours.ItemDeletedEvent: lambda event: (sdk.RealtimeModelItemDeletedEvent(item_id=event.item_id),),
    ours.ConnectionChangeEvent: lambda event: (sdk.RealtimeModelConnectionStatusEvent(status=event.status),),
    ours.TurnStartedEvent: lambda event: (sdk.RealtimeModelTurnStartedEvent(response_id=event.response_id),),
    ours.TurnDoneEvent: _turn_done,
    ours.UsageUpdateEvent: lambda event: (_usage_of(event.usage),),
    ours.RawEvent: lambda event: (sdk.RealtimeModelRawServerEvent(data=event.data),),
}
