"""What a scripted model speaks: its responses and stream events.

The script (``model``) is the same for every model interface; what differs is here, behind one seam. ``PlainDialect`` is
the one of this package, in plain dicts and dataclasses; another library's model brings its own.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from voiceharness.scripted.output import (
    ModelResponse,
    OutputTextDelta,
    ResponseDone,
    ResponseStarted,
    StreamEvent,
    Usage,
    json_detached,
    text_parts,
)
from voiceharness.scripted.snapshot import SnapshotPolicy

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Dialect", "PlainDialect", "default_id", "read_raw_usage"]

R = TypeVar("R")
E_co = TypeVar("E_co", covariant=True)


def default_id(call_index: int) -> str:
    """Return the id of a response that was given none."""
    return f"scripted-response-{call_index + 1}"


class Dialect(Protocol[R, E_co]):
    """Responses of type ``R`` and stream events of type ``E_co``; ``snapshots`` says what else is copied."""

    @property
    def snapshots(self) -> SnapshotPolicy:
        """How calls and responses are copied."""

    def detach(self, value: Any) -> Any:
        """Copy a response, a list of events, or retry advice."""

    def is_full(self, value: object) -> bool:
        """Say whether a value is a full response, well-formed or not."""

    def accepts(self, value: object) -> bool:
        """Say whether a value is a list of output items or a well-formed full response."""

    def response(self, value: Any, *, call_index: int, settings: Any) -> R:
        """Make the response of an accepted value; a list gets an id, and the usage of one request."""

    def events(self, response: R, *, call_index: int) -> Iterable[E_co]:
        """Make the events of an automatic stream, each a copy of its own."""


class PlainDialect:
    """Plain dicts and dataclasses. Raw usage is asked for by the setting ``preserve_raw_usage``."""

    snapshots = SnapshotPolicy()

    def detach(self, value: Any) -> Any:
        """Copy a response, a list of events, or retry advice."""
        return self.snapshots.copy(value)

    def is_full(self, value: object) -> bool:
        """Say whether a value is a full response."""
        return isinstance(value, ModelResponse)

    def accepts(self, value: object) -> bool:
        """Say whether a value is a list of dicts, or a response whose output and usage are what they should be."""
        if isinstance(value, ModelResponse):
            return _are_items(value.output) and isinstance(value.usage, Usage)
        return _are_items(value)

    def response(self, value: Any, *, call_index: int, settings: Any) -> ModelResponse:
        """Make the response of an accepted value."""
        if isinstance(value, list):
            return ModelResponse(output=value, usage=Usage(requests=1), response_id=default_id(call_index))
        raw_usage = None
        if isinstance(settings, dict) and settings.get("preserve_raw_usage") is True:
            raw_usage = json_detached(read_raw_usage(value))
        fields = [item.name for item in dataclasses.fields(ModelResponse) if item.name != "raw_usage"]
        return ModelResponse(raw_usage=raw_usage, **{name: getattr(value, name) for name in fields})

    def events(self, response: ModelResponse, *, call_index: int) -> Iterable[StreamEvent]:
        """Make the events of an automatic stream: a start, one delta for each text part, the whole."""
        response_id = response.response_id or default_id(call_index)
        yield ResponseStarted(response_id=response_id)
        for text, item_id in text_parts(response.output):
            yield OutputTextDelta(delta=text, item_id=item_id)
        yield ResponseDone(response=self.detach(dataclasses.replace(response, response_id=response_id)))


def read_raw_usage(response: Any) -> object:
    """Read the raw usage once; an accessor that raises counts as none."""
    try:
        return response.raw_usage
    except Exception:  # diagnostic data of any origin: it must not turn a good response into a failure
        return None


def _are_items(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)
