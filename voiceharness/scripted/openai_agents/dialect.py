"""Responses and stream events in the SDK's own types, for a scripted model behind its runner."""

from __future__ import annotations

import copy
import dataclasses
import itertools
from typing import TYPE_CHECKING, Any, Final

from agents.items import ModelResponse
from agents.model_settings import ModelSettings
from agents.retry import ModelRetryAdvice
from agents.usage import Usage
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseCreatedEvent,
    ResponseOutputItemDoneEvent,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseTextDeltaEvent,
    ResponseUsage,
)
from pydantic import BaseModel

from voiceharness.scripted.model_dialect import default_id, read_raw_usage
from voiceharness.scripted.output import json_detached
from voiceharness.scripted.snapshot import SnapshotPolicy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agents.items import TResponseStreamEvent

__all__ = ["AgentsDialect"]

MODEL_NAME: Final = "scripted"


class AgentsDialect:
    """The Responses API's items, ``agents.items.ModelResponse``, and the events that the runner needs of a stream.

    Raw usage is asked for by the setting ``preserve_raw_usage``.
    """

    snapshots = (
        SnapshotPolicy()
        .register_snapshot_type(ModelResponse, ModelSettings, Usage, BaseModel)
        .register_snapshot_type(ModelRetryAdvice, copier=lambda value, _: copy.deepcopy(value))
    )

    def detach(self, value: Any) -> Any:
        """Copy a response, a list of events, or retry advice."""
        return self.snapshots.copy(value)

    def is_full(self, value: object) -> bool:
        """Say whether a value is a full response."""
        return isinstance(value, ModelResponse)

    def accepts(self, value: object) -> bool:
        """Say whether a value is a list of items, or a response whose output and usage are what they should be."""
        if isinstance(value, ModelResponse):
            return _are_items(value.output) and isinstance(value.usage, Usage)
        return _are_items(value)

    def response(self, value: Any, *, call_index: int, settings: Any) -> ModelResponse:
        """Make the response of an accepted value."""
        if isinstance(value, list):
            return ModelResponse(output=value, usage=Usage(requests=1), response_id=default_id(call_index))
        raw_usage = None
        if getattr(settings, "preserve_raw_usage", None) is True:
            raw_usage = json_detached(read_raw_usage(value))
        return ModelResponse(value.output, value.usage, value.response_id, value.request_id, raw_usage)

    def events(self, response: ModelResponse, *, call_index: int) -> Iterator[TResponseStreamEvent]:
        """Make the events of an automatic stream: created, a delta for each text part, each item done, completed."""
        numbers = itertools.count()
        empty = _response(response, call_index, output=[])
        empty.status, empty.usage = "in_progress", None
        yield ResponseCreatedEvent(type="response.created", response=empty, sequence_number=next(numbers))
        for position, item in enumerate(response.output):
            for part, text in _texts(item):
                yield ResponseTextDeltaEvent(
                    type="response.output_text.delta",
                    content_index=part,
                    delta=text,
                    item_id=item.id or "",
                    logprobs=[],
                    output_index=position,
                    sequence_number=next(numbers),
                )
            yield ResponseOutputItemDoneEvent(
                type="response.output_item.done",
                item=self.detach(item),
                output_index=position,
                sequence_number=next(numbers),
            )
        whole = _response(response, call_index, output=self.detach(response.output))
        yield ResponseCompletedEvent(type="response.completed", response=whole, sequence_number=next(numbers))


def _are_items(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, BaseModel) for item in value)


def _texts(item: Any) -> Iterator[tuple[int, str]]:
    if isinstance(item, ResponseOutputMessage):
        for position, part in enumerate(item.content):
            if isinstance(part, ResponseOutputText):
                yield position, part.text


def _response(response: ModelResponse, call_index: int, *, output: list[Any]) -> Response:
    made = Response(
        id=response.response_id or default_id(call_index),
        created_at=0.0,
        model=MODEL_NAME,
        object="response",
        status="completed",
        output=output,
        parallel_tool_calls=False,
        tool_choice="auto",
        tools=[],
        usage=_usage(response.usage),
    )
    # The runner reads what the Responses API has no field for from these attributes of its own adapters.
    object.__setattr__(made, "_agents_sdk_raw_usage", response.raw_usage)
    return made


def _usage(usage: Usage) -> ResponseUsage:
    made = ResponseUsage(
        input_tokens=usage.input_tokens,
        input_tokens_details=usage.input_tokens_details,
        output_tokens=usage.output_tokens,
        output_tokens_details=usage.output_tokens_details,
        total_tokens=usage.total_tokens,
    )
    # ... among them the number of requests, which is one unless said otherwise.
    object.__setattr__(made, "_agents_sdk_normalized_usage", dataclasses.replace(usage))
    return made
