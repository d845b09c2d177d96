"""What a model puts out: messages, function calls, usage, a full response, and the events of a streamed one.

Output items are plain dicts in the shape of the Responses API, so that code under test may read and serialise them as
it does a provider's; keys that have no value are left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NotRequired, TypeAlias, TypedDict

from voiceharness.scripted.snapshot import SnapshotData

__all__ = [
    "AssistantMessage",
    "FunctionCall",
    "ModelResponse",
    "OutputText",
    "OutputTextDelta",
    "ResponseDone",
    "ResponseStarted",
    "StreamEvent",
    "Usage",
    "assistant_message",
    "function_call",
    "json_arguments",
    "json_detached",
    "text_parts",
]

Phase: TypeAlias = Literal["commentary", "final_answer"]


class OutputText(TypedDict):
    """One text part of a message."""

    type: Literal["output_text"]
    text: str


class AssistantMessage(TypedDict):
    """A message of the assistant."""

    type: Literal["message"]
    role: Literal["assistant"]
    status: Literal["completed"]
    content: list[OutputText]
    id: NotRequired[str]
    phase: NotRequired[Phase]
    provider_data: NotRequired[dict[str, Any]]


class FunctionCall(TypedDict):
    """A call of one of the agent's tools; ``arguments`` is JSON text."""

    type: Literal["function_call"]
    status: Literal["completed"]
    name: str
    call_id: str
    arguments: str
    id: str
    namespace: NotRequired[str]
    provider_data: NotRequired[dict[str, Any]]


def assistant_message(
    text: str,
    *,
    id: str | None = None,  # noqa: A002 - the item's own name for it
    phase: Phase | None = None,
    provider_data: dict[str, Any] | None = None,
) -> AssistantMessage:
    """Make a completed message with one text part."""
    message = AssistantMessage(
        type="message", role="assistant", status="completed", content=[OutputText(type="output_text", text=text)]
    )
    if id is not None:
        message["id"] = id
    if phase is not None:
        message["phase"] = phase
    if provider_data is not None:
        message["provider_data"] = provider_data
    return message


def function_call(
    name: str,
    arguments: str | Mapping[str, Any],
    *,
    call_id: str,
    id: str | None = None,  # noqa: A002 - the item's own name for it
    namespace: str | None = None,
    provider_data: dict[str, Any] | None = None,
) -> FunctionCall:
    """Make a completed function call; ``id`` defaults to ``call_id``, and text arguments pass unchanged."""
    call = FunctionCall(
        type="function_call",
        status="completed",
        name=name,
        call_id=call_id,
        arguments=json_arguments(arguments),
        id=call_id if id is None else id,
    )
    if namespace is not None:
        call["namespace"] = namespace
    if provider_data is not None:
        call["provider_data"] = provider_data
    return call


def json_arguments(arguments: str | Mapping[str, Any]) -> str:
    """Return a tool's arguments as JSON text."""
    return arguments if isinstance(arguments, str) else json.dumps(dict(arguments))


def json_detached(value: object) -> dict[str, Any] | None:
    """Return a copy of a mapping through JSON; None for anything that JSON does not know, or that raises."""
    try:
        copied = json.loads(json.dumps(value, allow_nan=False))
    except Exception:  # diagnostic data of any origin: it must not turn a good response into a failure
        return None
    return copied if isinstance(copied, dict) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage(SnapshotData):
    """What a response cost. ``requests=0`` is kept as given."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelResponse(SnapshotData):
    """A full response. ``raw_usage`` is handed on only to a call whose settings ask for it.

    Output items are dicts: messages, function calls, or any other shape a provider has, hence ``Any``.
    """

    output: list[Any]
    usage: Usage
    response_id: str | None = None
    raw_usage: Any = None
    provider_data: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseStarted(SnapshotData):
    """The first event of an automatic stream."""

    type: ClassVar[Literal["response_started"]] = "response_started"
    response_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputTextDelta(SnapshotData):
    """A piece of the text of a message."""

    type: ClassVar[Literal["output_text_delta"]] = "output_text_delta"
    delta: str
    item_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseDone(SnapshotData):
    """The terminal event, with everything."""

    type: ClassVar[Literal["response_done"]] = "response_done"
    response: ModelResponse


StreamEvent: TypeAlias = ResponseStarted | OutputTextDelta | ResponseDone
"""An event of an automatic stream."""


def text_parts(output: Iterable[Any]) -> Iterable[tuple[str, str | None]]:
    """Go through the text parts of all messages, with the id of their message."""
    for item in output:
        if isinstance(item, Mapping) and item.get("type") == "message":
            for part in item.get("content", ()):
                if part.get("type") == "output_text":
                    yield part["text"], item.get("id")
