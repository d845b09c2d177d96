"""Output items of a scripted model, as the SDK's runner takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from voiceharness.scripted.output import json_arguments

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voiceharness.scripted.output import Phase

__all__ = ["MESSAGE_ID", "assistant_message", "function_call"]

MESSAGE_ID = "scripted-message"
"""The id of a message that is given none, for the SDK demands one."""


def assistant_message(
    text: str,
    *,
    id: str | None = None,  # noqa: A002 - the item's own name for it
    phase: Phase | None = None,
    provider_data: dict[str, Any] | None = None,
) -> ResponseOutputMessage:
    """Make a completed message with one text part."""
    return ResponseOutputMessage(
        id=MESSAGE_ID if id is None else id,
        type="message",
        role="assistant",
        status="completed",
        content=[ResponseOutputText(type="output_text", text=text, annotations=[], logprobs=[])],
        **_given(phase=phase, provider_data=provider_data),
    )


def function_call(
    name: str,
    arguments: str | Mapping[str, Any],
    *,
    call_id: str,
    id: str | None = None,  # noqa: A002 - the item's own name for it
    namespace: str | None = None,
    provider_data: dict[str, Any] | None = None,
) -> ResponseFunctionToolCall:
    """Make a completed function call; ``id`` defaults to ``call_id``, and text arguments pass unchanged."""
    return ResponseFunctionToolCall(
        type="function_call",
        status="completed",
        name=name,
        call_id=call_id,
        arguments=json_arguments(arguments),
        id=call_id if id is None else id,
        **_given(namespace=namespace, provider_data=provider_data),
    )


def _given(**optional: Any) -> dict[str, Any]:
    return {name: value for name, value in optional.items() if value is not None}
