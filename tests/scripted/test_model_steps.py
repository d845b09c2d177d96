"""What can be a step of a scripted model, and how a mistake is reported."""

from __future__ import annotations

from typing import Any

import pytest

from voiceharness.scripted.errors import InvalidScriptedModelStepError
from voiceharness.scripted.model import ScriptedModel
from voiceharness.scripted.model_steps import (
    ModelStep,
    StepType,
    model_error,
    model_responder,
    model_response,
    model_stream,
    model_stream_responder,
)
from voiceharness.scripted.output import ModelResponse, Usage, assistant_message

__all__: list[str] = []


def step_of(kind: Any) -> ModelStep:
    return ModelStep(kind)


async def advise(_query: object) -> None:
    """Advise asynchronously, which nobody awaits."""


UNUSABLE: list[tuple[object, str, StepType | None]] = [
    (None, "invalid_input", None),
    (7, "invalid_input", None),
    ({"output": []}, "invalid_input", None),
    (step_of("song"), "unknown_step_type", None),
    (step_of("response"), "missing_response", "response"),
    (model_response("hello"), "invalid_response", "response"),
    (model_response(["hello"]), "invalid_response", "response"),
    (["hello"], "invalid_response", None),
    (ModelResponse(output=[], usage={"requests": 1}), "invalid_response", None),  # type: ignore[arg-type] # the mistake
    (ModelResponse(output="hello", usage=Usage()), "invalid_response", None),  # type: ignore[arg-type] # the mistake
    (step_of("error"), "missing_error", "error"),
    (model_error("hello"), "missing_error", "error"),  # type: ignore[arg-type] # the mistake
    (model_error(ValueError(), retry_advice=advise), "invalid_retry_advice", "error"),
    (step_of("responder"), "missing_responder", "responder"),
    (model_responder([]), "missing_responder", "responder"),  # type: ignore[arg-type] # the mistake
    (step_of("stream_responder"), "missing_responder", "stream_responder"),
    (model_stream_responder(None), "missing_responder", "stream_responder"),  # type: ignore[arg-type] # the mistake
    (step_of("stream"), "invalid_stream", "stream"),
    (model_stream(7), "invalid_stream", "stream"),  # type: ignore[arg-type] # the mistake
    (model_stream("hello"), "invalid_stream", "stream"),
]


@pytest.mark.parametrize(("given", "reason", "step_type"), UNUSABLE)
def test_a_step_that_cannot_be_used_is_refused_with_a_stable_reason(
    given: object, reason: str, step_type: str | None
) -> None:
    """Item 69."""
    with pytest.raises(InvalidScriptedModelStepError) as caught:
        ScriptedModel([[assistant_message("fine")], given])
    assert (caught.value.reason, caught.value.input_index, caught.value.step_type) == (reason, 1, step_type)
    assert caught.value.call_index is None


def test_enqueue_is_all_or_nothing_and_counts_its_own_inputs() -> None:
    """Item 69."""
    model = ScriptedModel([[]])
    with pytest.raises(InvalidScriptedModelStepError) as caught:
        model.enqueue([assistant_message("never queued")], None)
    assert caught.value.input_index == 1
    assert model.remaining_steps == 1
