"""What a script emits, as the provider's server events.

A script speaks of turns, audio and words; the wire wants ids, indexes and an announcement of every item. What the
script leaves out is filled in: the response under way, one item for each response, and the counters.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from voiceharness.scripted import inbound
from voiceharness.scripted.errors import ScriptTypeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from voiceharness.scripted.wire.provider import Event, ProviderSession

__all__ = ["ServerEvent", "ServerEvents"]

USAGE_FIELDS: Final = ("input_tokens", "output_tokens", "total_tokens")


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """A server event as it goes out, not made by the script: an acknowledgement, or an error."""

    body: Event
    type: str = "server_event"


@dataclass(slots=True)
class _Response:
    id: str
    items: list[str] = field(default_factory=list)
    spoken: dict[str, str] = field(default_factory=dict)


class ServerEvents:
    """Turns the events of a script into server events, one conversation long."""

    def __init__(self, provider: ProviderSession) -> None:
        self._provider = provider
        self._response: _Response | None = None
        self._responses = 0
        self._calls: Mapping[type, Callable[[Any], Iterator[Event]]] = {
            inbound.TurnStartedEvent: self._turn_started,
            inbound.TurnDoneEvent: self._turn_done,
            inbound.AudioEvent: self._audio,
            inbound.AudioDoneEvent: self._audio_done,
            inbound.AudioTranscriptDeltaEvent: self._transcript,
            inbound.OutputTextDeltaEvent: self._text,
            inbound.FunctionCallEvent: self._function_call,
            inbound.AudioInterruptedEvent: self._interrupted,
            inbound.ItemUpdateEvent: self._item_update,
            inbound.ItemDeletedEvent: self._item_deleted,
            inbound.ErrorEvent: self._error,
            inbound.CustomEvent: self._custom,
            inbound.UsageUpdateEvent: self._nothing,  # usage travels in response.done
            inbound.ConnectionChangeEvent: self._nothing,  # the websocket itself tells
            ServerEvent: self._as_it_is,
        }

    def of(self, event: object) -> Iterator[Event]:
        """Go through the server events for one of the script's.

        Raises:
            ScriptTypeError: if the wire has no such event.
        """
        make = self._calls.get(type(event))
        if make is None:
            raise ScriptTypeError(
                f"the wire has no server event for {type(event).__name__}; emit a CustomEvent or a RawEvent instead"
            )
        return make(event)

    def _turn_started(self, event: inbound.TurnStartedEvent) -> Iterator[Event]:
        yield from self._begin(event.response_id)

    def _begin(self, response_id: str | None) -> Iterator[Event]:
        self._responses += 1
        self._response = _Response(response_id or f"response-{self._responses}")
        body = {"id": self._response.id, "object": "realtime.response", "status": "in_progress", "output": []}
        yield {"type": "response.created", "response": body}

    def _turn_done(self, event: inbound.TurnDoneEvent) -> Iterator[Event]:
        response = self._response or _Response(event.response_id or "response-0")
        output = [_message(item_id, response.spoken.get(item_id, ""), "completed") for item_id in response.items]
        for position, item in enumerate(output):
            yield {
                "type": "response.output_item.done",
                "response_id": response.id,
                "output_index": position,
                "item": item,
            }
        body: Event = {"id": event.response_id or response.id, "object": "realtime.response", "output": output}
        body["status"] = "cancelled" if self._provider.cancelled else "completed"
        if event.usage is not None:
            body["usage"] = {name: _read(event.usage, name) for name in USAGE_FIELDS}
        self._response = None
        yield {"type": "response.done", "response": body}

    def _audio(self, event: inbound.AudioEvent) -> Iterator[Event]:
        delta = base64.b64encode(event.data).decode("ascii")
        yield from self._part("response.output_audio.delta", event, delta=delta)

    def _audio_done(self, event: inbound.AudioDoneEvent) -> Iterator[Event]:
        yield from self._part("response.output_audio.done", event)

    def _transcript(self, event: inbound.AudioTranscriptDeltaEvent) -> Iterator[Event]:
        yield from self._part("response.output_audio_transcript.delta", event, delta=event.delta)

    def _text(self, event: inbound.OutputTextDeltaEvent) -> Iterator[Event]:
        yield from self._part("response.output_text.delta", event, delta=event.delta)

    def _part(self, kind: str, event: Any, **payload: Any) -> Iterator[Event]:
        """Send a part of an item; begin the response and announce the item if the script has not."""
        if self._response is None:
            yield from self._begin(event.response_id)
        response = self._response
        assert response is not None
        item_id = event.item_id or f"item-{self._responses}"
        if item_id not in response.items:
            yield from self._announce(response, item_id)
        if kind == "response.output_audio_transcript.delta":
            response.spoken[item_id] = response.spoken.get(item_id, "") + payload["delta"]
        yield {
            "type": kind,
            "response_id": event.response_id or response.id,
            "item_id": item_id,
            "output_index": response.items.index(item_id),
            "content_index": getattr(event, "content_index", 0),
            **payload,
        }

    def _announce(self, response: _Response, item_id: str) -> Iterator[Event]:
        response.items.append(item_id)
        item = _message(item_id, "", "in_progress")
        position = len(response.items) - 1
        yield {
            "type": "response.output_item.added",
            "response_id": response.id,
            "output_index": position,
            "item": item,
        }

    def _function_call(self, event: inbound.FunctionCallEvent) -> Iterator[Event]:
        item = {
            "id": event.item_id or f"item-{event.call_id}",
            "object": "realtime.item",
            "type": "function_call",
            "status": "completed",
            "name": event.name,
            "call_id": event.call_id,
            "arguments": event.arguments,
        }
        response_id = event.response_id or (self._response.id if self._response else "response-0")
        yield {"type": "response.output_item.done", "response_id": response_id, "output_index": 0, "item": item}

    def _interrupted(self, event: inbound.AudioInterruptedEvent) -> Iterator[Event]:
        """Tell that the user spoke, which is how a provider that detects turns says it."""
        start_ms = int(self._provider.user_audio_ms)
        yield {
            "type": "input_audio_buffer.speech_started",
            "audio_start_ms": start_ms,
            "item_id": event.item_id or "user-item",
        }

    def _item_update(self, event: inbound.ItemUpdateEvent) -> Iterator[Event]:
        yield {"type": "conversation.item.added", "previous_item_id": None, "item": event.item}

    def _item_deleted(self, event: inbound.ItemDeletedEvent) -> Iterator[Event]:
        yield {"type": "conversation.item.deleted", "item_id": event.item_id}

    def _error(self, event: inbound.ErrorEvent) -> Iterator[Event]:
        error = event.error if isinstance(event.error, dict) else {"message": str(event.error)}
        yield {"type": "error", "error": {"type": "server_error", "code": None, "message": "", **error}}

    def _custom(self, event: inbound.CustomEvent) -> Iterator[Event]:
        yield {"type": event.type, **(event.data or {})}

    def _as_it_is(self, event: ServerEvent) -> Iterator[Event]:
        yield event.body

    def _nothing(self, _event: object) -> Iterator[Event]:
        yield from ()


def _message(item_id: str, spoken: str, status: str) -> Event:
    content = [{"type": "output_audio", "transcript": spoken}] if spoken else []
    return {
        "id": item_id,
        "object": "realtime.item",
        "type": "message",
        "role": "assistant",
        "status": status,
        "content": content,
    }


def _read(usage: Any, name: str) -> int:
    value = usage.get(name, 0) if isinstance(usage, dict) else getattr(usage, name, 0)
    return int(value)
