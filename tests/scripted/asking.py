"""Asking a scripted model, in either mode, and responses that are awkward to read."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import TYPE_CHECKING, Any

import pytest

from voiceharness.scripted.model import ModelRequest, ScriptedModel
from voiceharness.scripted.output import ModelResponse, ResponseDone, Usage

if TYPE_CHECKING:
    from voiceharness.scripted.model import Cancel

__all__ = ["HELLO", "MODES", "RAW", "ask", "awkward", "events_of", "texts"]

HELLO = ModelRequest(input="hello")
RAW = ModelRequest(input="hello", settings={"preserve_raw_usage": True})
MODES = pytest.mark.parametrize("streamed", [False, True], ids=["plain", "streamed"])


async def events_of(model: ScriptedModel, request: ModelRequest = HELLO, cancel: Cancel | None = None) -> list[Any]:
    return [event async for event in model.stream_response(request, cancel=cancel)]


def ask(
    model: ScriptedModel, request: ModelRequest = HELLO, *, streamed: bool = False, cancel: Cancel | None = None
) -> ModelResponse:
    """Call the model in either mode and return the response; of a stream, the one of its terminal event."""
    if not streamed:
        return asyncio.run(model.get_response(request, cancel=cancel))
    last = asyncio.run(events_of(model, request, cancel))[-1]
    assert isinstance(last, ResponseDone)
    return last.response


def texts(response: ModelResponse) -> list[str]:
    return [part["text"] for item in response.output for part in item["content"]]


class AwkwardResponse(ModelResponse):
    """A response whose raw usage is read through code of its own."""

    __slots__ = ()

    def __init__(self) -> None:
        for item in dataclasses.fields(ModelResponse):
            if item.name != "raw_usage":
                object.__setattr__(self, item.name, {"output": [], "usage": Usage()}.get(item.name))


def awkward(read: Any) -> ModelResponse:
    """Make a response whose ``raw_usage`` is what ``read`` returns, each time."""
    kind = type("Awkward", (AwkwardResponse,), {"__slots__": (), "raw_usage": property(lambda _: read())})
    response: ModelResponse = kind()
    return response
