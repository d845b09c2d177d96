"""The steps of a scripted model: what one call is answered with.

A step is made by one of the factories here; a list of output items, or a full response, is a step as it stands. What is
plain data is copied when the step is queued; exceptions, functions and generators are not.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterable, Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from voiceharness.scripted.errors import InvalidScriptedModelStepError

if TYPE_CHECKING:
    from voiceharness.scripted.model_dialect import Dialect

__all__ = [
    "Advice",
    "ModelStep",
    "StepType",
    "is_stream",
    "model_error",
    "model_responder",
    "model_response",
    "model_stream",
    "model_stream_responder",
    "prepare_step",
]

StepType: TypeAlias = Literal["response", "responder", "error", "stream", "stream_responder"]

Advice: TypeAlias = Any
"""Retry advice: a value, or a function of the query that returns one."""


class _Missing:
    def __repr__(self) -> str:
        return "<missing>"


_MISSING: Final = _Missing()


@dataclass(frozen=True, slots=True)
class ModelStep:
    """One step. ``value`` is the response, the responder, the error or the events, as ``type`` says."""

    type: StepType
    value: Any = _MISSING
    retry_advice: Advice = None

    @property
    def streams(self) -> bool:
        """Whether it can only answer a streamed call."""
        return self.type in ("stream", "stream_responder")


def model_response(response: Any) -> ModelStep:
    """Answer with a response: a list of output items, or a full one."""
    return ModelStep("response", response)


def model_responder(respond: Callable[[Any], Any | Awaitable[Any]]) -> ModelStep:
    """Answer with the response that a function, sync or async, makes of the recorded call."""
    return ModelStep("responder", respond)


def model_error(error: BaseException, *, retry_advice: Advice = None) -> ModelStep:
    """Answer by raising this very exception. A function as ``retry_advice`` is called with the query."""
    return ModelStep("error", error, retry_advice)


def model_stream(events: Iterable[Any] | AsyncIterable[Any]) -> ModelStep:
    """Answer a streamed call with exactly these events."""
    return ModelStep("stream", events)


def model_stream_responder(
    respond: Callable[[Any], Iterable[Any] | AsyncIterable[Any] | Awaitable[Iterable[Any] | AsyncIterable[Any]]],
) -> ModelStep:
    """Answer a streamed call with the events that a function, sync or async, makes of the recorded call."""
    return ModelStep("stream_responder", respond)


def is_stream(value: object) -> bool:
    """Say whether a value can be a stream of events; a text or a mapping is a mistake, not a stream."""
    return isinstance(value, (Iterable, AsyncIterable)) and not isinstance(value, (str, bytes, dict))


def prepare_step(given: object, index: int, dialect: Dialect[Any, Any]) -> ModelStep:
    """Check a step and detach it from its maker.

    Raises:
        InvalidScriptedModelStepError: with the ``reason`` and ``input_index=index``.
    """
    step = given if isinstance(given, ModelStep) else ModelStep("response", given)
    reason = _fault(step, dialect, bare=step is not given)
    if reason is not None:
        step_type = step.type if step is given and reason != "unknown_step_type" else None
        raise InvalidScriptedModelStepError(reason, input_index=index, step_type=step_type)
    if step.type == "response" or (step.type == "stream" and isinstance(step.value, (list, tuple))):
        return ModelStep(step.type, dialect.detach(step.value))
    if step.type == "error" and not callable(step.retry_advice):
        return ModelStep(step.type, step.value, dialect.detach(step.retry_advice))
    return step


def _fault(step: ModelStep, dialect: Dialect[Any, Any], *, bare: bool) -> str | None:
    """Name what is wrong with a step, if anything."""
    value, missing = step.value, step.value is _MISSING
    kind: str = step.type  # whatever a caller without a type checker may have written
    match kind:
        case "response":
            if missing:
                return "missing_response"
            if bare and not isinstance(value, list) and not dialect.is_full(value):
                return "invalid_input"
            return None if dialect.accepts(value) else "invalid_response"
        case "error":
            if not isinstance(value, BaseException):
                return "missing_error"
            return "invalid_retry_advice" if inspect.iscoroutinefunction(step.retry_advice) else None
        case "responder" | "stream_responder":
            return None if callable(value) else "missing_responder"
        case "stream":
            return None if is_stream(value) and not missing else "invalid_stream"
    return "unknown_step_type"
