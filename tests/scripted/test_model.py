"""The scripted model on its own: plain and streamed calls, copies, cancellation."""

from __future__ import annotations

import array
from typing import Any

import pytest

from tests.scripted.asking import HELLO, MODES, RAW, ask, awkward, texts
from voiceharness.clock import LoopClock, run_virtual
from voiceharness.scripted.errors import (
    InvalidScriptedModelStepError,
    UnconsumedModelStepsError,
    UnexpectedModelCallError,
)
from voiceharness.scripted.model import (
    ModelCall,
    ModelRequest,
    ScriptedModel,
    model_responder,
    model_response,
    model_stream,
    model_stream_responder,
)
from voiceharness.scripted.output import (
    ModelResponse,
    Usage,
    assistant_message,
)

__all__: list[str] = []

# Steps and calls


def test_an_async_responder_makes_its_answer_of_the_recorded_call() -> None:
    """Item 45."""

    async def echo(call: ModelCall) -> list[Any]:
        return [assistant_message(f"{call.index}: {call.request.input}")]

    response = ask(ScriptedModel([model_responder(echo)]))
    assert texts(response) == ["0: hello"]
    assert response.response_id == "scripted-response-1"
    assert response.usage == Usage(requests=1)


def test_a_request_is_copied_when_the_call_is_made() -> None:
    """Items 46 and 47."""
    cycle: list[Any] = [{"role": "user"}]
    cycle.append(cycle)
    shared = [1]
    tool, handoff, policy = object(), object(), lambda: True
    buffer = array.array("h", [1, 2])
    request = ModelRequest(
        input=[cycle, shared, shared, bytearray(b"ab"), memoryview(buffer)[1:]],
        settings={"temperature": 0.5, "nested": {"stop": ["."]}, "policy": policy},
        tools=[tool],
        handoffs=[handoff],
    )
    model = ScriptedModel([[]])
    ask(model, request)
    cycle[0]["role"] = "system"
    shared.append(2)
    request.settings["nested"]["stop"].append("!")
    request.tools.append(object())
    buffer[1] = 9

    recorded = model.calls[0].request
    assert recorded.input[0][0] == {"role": "user"}
    assert recorded.input[0][1] is recorded.input[0]
    assert recorded.input[1] is recorded.input[2] == [1]
    assert recorded.input[3:] == [bytearray(b"ab"), b"\x02\x00"]
    assert recorded.settings["nested"] == {"stop": ["."]}
    assert recorded.settings["policy"] is policy
    assert recorded.tools == [tool]
    assert recorded.handoffs == [handoff]


def test_whoever_reads_a_call_cannot_change_the_history() -> None:
    """Item 48."""

    def spoil(call: ModelCall) -> list[Any]:
        call.request.input.append("from the responder")
        return []

    model = ScriptedModel([model_responder(spoil)])
    ask(model, ModelRequest(input=["hello"]))
    for call in (model.calls[0], model.first_call, model.last_call):
        assert call is not None
        call.request.input.append("from a reader")
    assert [call.request.input for call in model.calls] == [["hello"]]


def test_first_and_last_call_are_none_before_any_call() -> None:
    model = ScriptedModel()
    assert (model.first_call, model.last_call, model.calls) == (None, None, ())


def test_the_history_is_a_tuple_and_keeps_counting() -> None:
    """Item 72."""
    model = ScriptedModel([[], [], []])
    for _ in range(3):
        ask(model)
        assert isinstance(model.calls, tuple)
    assert [call.index for call in model.calls] == [0, 1, 2]
    assert model.last_call == model.calls[2]


def test_calls_carry_the_time_they_were_given() -> None:
    async def play() -> float | None:
        clock = LoopClock()
        model = ScriptedModel([[]], now=lambda: clock.now_ns() / 1e9)
        await clock.sleep(1.5)
        await model.get_response(HELLO)
        return model.calls[0].at

    assert run_virtual(play()) == 1.5


def test_a_full_response_is_copied_when_queued() -> None:
    """Item 49."""
    given = ModelResponse(
        output=[assistant_message("hello", provider_data={"seed": 1})],
        usage=Usage(requests=1, details={"cached": 1}),
        response_id="r1",
        provider_data={"region": ["eu"]},
    )
    model = ScriptedModel([given])
    given.output.append(assistant_message("later"))
    given.usage.details["cached"] = 2
    assert given.provider_data is not None
    given.provider_data["region"].append("us")
    got = ask(model)
    assert got is not given
    assert texts(got) == ["hello"]
    assert (got.usage.details, got.provider_data, got.response_id) == ({"cached": 1}, {"region": ["eu"]}, "r1")


def test_responses_and_lists_of_output_are_steps_as_they_stand() -> None:
    """Item 50."""
    model = ScriptedModel([ModelResponse(output=[], usage=Usage(requests=2), response_id="r1")])
    model.enqueue([assistant_message("two")], model_response([assistant_message("three")]))
    answers = [ask(model) for _ in range(3)]
    assert [answer.response_id for answer in answers] == ["r1", "scripted-response-2", "scripted-response-3"]
    assert [answer.usage.requests for answer in answers] == [2, 1, 1]
    model.assert_complete()


def test_a_full_response_without_an_id_stays_without_one_in_a_plain_call() -> None:
    assert ask(ScriptedModel([ModelResponse(output=[], usage=Usage())])).response_id is None


@MODES
def test_zero_usage_is_kept_when_given(streamed: bool) -> None:
    """Items 51 and 56."""
    model = ScriptedModel([ModelResponse(output=[], usage=Usage(requests=0)), []])
    assert ask(model, streamed=streamed).usage == Usage(requests=0)
    assert ask(model, streamed=streamed).usage == Usage(requests=1)


def test_a_call_without_a_step_and_a_step_without_a_call_are_errors() -> None:
    """Item 74."""
    model = ScriptedModel([[]])
    with pytest.raises(UnconsumedModelStepsError) as leftover:
        model.assert_complete()
    assert leftover.value.remaining_steps == 1
    ask(model)
    model.assert_complete()
    with pytest.raises(UnexpectedModelCallError) as plain:
        ask(model)
    with pytest.raises(UnexpectedModelCallError) as streamed:
        model.stream_response(HELLO)
    assert [(e.value.call_index, e.value.streamed) for e in (plain, streamed)] == [(1, False), (2, True)]
    assert len(model.calls) == 3


@pytest.mark.parametrize("step", [model_stream([]), model_stream_responder(lambda _: [])])
def test_a_step_that_streams_cannot_answer_a_plain_call(step: Any) -> None:
    """Item 68."""
    model = ScriptedModel([step])
    with pytest.raises(InvalidScriptedModelStepError) as caught:
        ask(model)
    assert (caught.value.reason, caught.value.call_index) == ("incompatible_call", 0)
    assert caught.value.step_type == step.type
    model.assert_complete()


@MODES
def test_a_responder_must_return_a_response(streamed: bool) -> None:
    """Item 70."""
    model = ScriptedModel([model_responder(lambda _: "hello")])
    with pytest.raises(InvalidScriptedModelStepError) as caught:
        ask(model, streamed=streamed)
    assert (caught.value.reason, caught.value.call_index) == ("invalid_response", 0)


def test_what_a_responder_returns_is_not_copied() -> None:
    item = assistant_message("hello")
    assert ask(ScriptedModel([model_responder(lambda _: [item])])).output[0] is item


# Raw usage


@MODES
def test_raw_usage_is_withheld_unless_asked_for_and_then_detached(streamed: bool) -> None:
    """Item 52."""
    raw = {"prompt": {"tokens": 3}}
    model = ScriptedModel([model_responder(lambda _: ModelResponse(output=[], usage=Usage(), raw_usage=raw))] * 2)
    assert ask(model, streamed=streamed).raw_usage is None
    got = ask(model, RAW, streamed=streamed).raw_usage
    assert got == raw
    assert got["prompt"] is not raw["prompt"]


@MODES
@pytest.mark.parametrize("asked", [False, True])
def test_the_setting_counts_as_it_was_when_the_call_was_made(streamed: bool, asked: bool) -> None:
    """Item 53."""
    settings = {"preserve_raw_usage": asked}

    def change_of_mind(call: ModelCall) -> ModelResponse:
        settings["preserve_raw_usage"] = call.request.settings["preserve_raw_usage"] = not asked
        return ModelResponse(output=[], usage=Usage(), raw_usage={"tokens": 3})

    request = ModelRequest(input="hello", settings=settings)
    got = ask(ScriptedModel([model_responder(change_of_mind)]), request, streamed=streamed)
    assert got.raw_usage == ({"tokens": 3} if asked else None)


@MODES
@pytest.mark.parametrize("request_", [HELLO, RAW], ids=["not asked", "asked"])
def test_raw_usage_that_raises_is_ignored(streamed: bool, request_: ModelRequest) -> None:
    """Item 54."""

    def explode() -> None:
        raise RuntimeError("no usage today")

    model = ScriptedModel([model_responder(lambda _: awkward(explode))])
    assert ask(model, request_, streamed=streamed).raw_usage is None


def test_raw_usage_is_read_once() -> None:
    """Item 55."""
    reads = iter([{"tokens": 1}])
    model = ScriptedModel([model_responder(lambda _: awkward(lambda: next(reads)))])
    assert ask(model, RAW).raw_usage == {"tokens": 1}
    assert next(reads, None) is None
