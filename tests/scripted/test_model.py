"""The scripted model on its own: plain and streamed calls, copies, cancellation."""

from __future__ import annotations

import array
import asyncio
import dataclasses
from typing import TYPE_CHECKING, Any

import pytest

from voiceharness.clock import LoopClock, run_virtual
from voiceharness.scripted.errors import (
    InvalidScriptedModelStepError,
    ScriptedModelRequestAbortedError,
    UnconsumedModelStepsError,
    UnexpectedModelCallError,
)
from voiceharness.scripted.model import (
    ModelCall,
    ModelRequest,
    ScriptedModel,
    model_error,
    model_responder,
    model_response,
    model_stream,
    model_stream_responder,
)
from voiceharness.scripted.output import (
    ModelResponse,
    OutputTextDelta,
    ResponseDone,
    ResponseStarted,
    Usage,
    assistant_message,
    function_call,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from voiceharness.scripted.model import Cancel

__all__: list[str] = []

HELLO = ModelRequest(input="hello")
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

RAW = ModelRequest(input="hello", settings={"preserve_raw_usage": True})


class AwkwardResponse(ModelResponse):
    """A response whose raw usage is read through code of its own."""

    __slots__ = ()
    reads: list[int] = []  # noqa: RUF012 - one class for each test

    def __init__(self) -> None:
        for item in dataclasses.fields(ModelResponse):
            if item.name != "raw_usage":
                object.__setattr__(self, item.name, {"output": [], "usage": Usage()}.get(item.name))


def awkward(read: Any) -> ModelResponse:
    """Make a response whose ``raw_usage`` is what ``read`` returns, each time."""
    kind = type("Awkward", (AwkwardResponse,), {"__slots__": (), "raw_usage": property(lambda _: read())})
    response: ModelResponse = kind()
    return response


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


# Streams


def test_an_automatic_stream_begins_gives_each_text_and_ends_with_everything() -> None:
    """Item 57."""
    output = [
        assistant_message("one", id="m1", provider_data={"seed": 1}),
        function_call("look_up", {}, call_id="c1"),
        assistant_message("two"),
    ]
    model = ScriptedModel([ModelResponse(output=[*output], usage=Usage(requests=1), response_id="r1")])
    assert asyncio.run(events_of(model)) == [
        ResponseStarted(response_id="r1"),
        OutputTextDelta(delta="one", item_id="m1"),
        OutputTextDelta(delta="two"),
        ResponseDone(response=ModelResponse(output=[*output], usage=Usage(requests=1), response_id="r1")),
    ]
    assert model.calls[0].streamed


def test_an_automatic_stream_gives_an_id_to_a_response_without_one() -> None:
    """Item 56."""
    first, last = asyncio.run(events_of(ScriptedModel([ModelResponse(output=[], usage=Usage())])))
    assert first.response_id == last.response.response_id == "scripted-response-1"


def test_changing_one_automatic_event_does_not_change_a_later_one() -> None:
    """Item 58."""
    item = assistant_message("hello")
    model = ScriptedModel([model_responder(lambda _: [item])])

    async def play() -> ModelResponse:
        stream = model.stream_response(HELLO)
        await anext(stream)
        last = [event async for event in stream][-1]
        last.response.output[0]["content"][0]["text"] = "spoiled"
        response: ModelResponse = last.response
        return response

    assert texts(asyncio.run(play())) == ["spoiled"]
    assert item["content"][0]["text"] == "hello"


def test_streams_take_their_steps_when_they_are_requested() -> None:
    """Item 61."""
    model = ScriptedModel([[assistant_message("one")], [assistant_message("two")]])
    first = model.stream_response(ModelRequest(input="first"))
    second = model.stream_response(ModelRequest(input="second"))
    assert [call.request.input for call in model.calls] == ["first", "second"]

    async def consume() -> list[Any]:
        return [[event async for event in stream][1].delta for stream in (second, first)]

    assert asyncio.run(consume()) == ["two", "one"]


def test_an_exact_stream_is_copied_when_queued_and_passes_through() -> None:
    """Item 62."""
    events: list[Any] = [{"delta": ["a"]}, "anything"]
    model = ScriptedModel([model_stream(events)])
    events[0]["delta"].append("b")
    events.append("later")
    assert asyncio.run(events_of(model)) == [{"delta": ["a"]}, "anything"]


def test_an_async_stream_responder_sees_the_call() -> None:
    """Item 63."""

    async def respond(call: ModelCall) -> AsyncIterator[Any]:
        async def events() -> AsyncIterator[Any]:
            yield (call.index, call.request.input, call.streamed)

        return events()

    assert asyncio.run(events_of(ScriptedModel([model_stream_responder(respond)]))) == [(0, "hello", True)]


async def nothing_async(_call: object) -> Any:
    return None


@pytest.mark.parametrize("respond", [lambda _: None, nothing_async], ids=["sync", "async"])
def test_a_stream_responder_must_return_a_stream(respond: Any) -> None:
    """Item 71."""
    model = ScriptedModel([model_stream_responder(respond)])
    with pytest.raises(InvalidScriptedModelStepError) as caught:
        asyncio.run(events_of(model))
    assert (caught.value.reason, caught.value.call_index) == ("invalid_stream", 0)
    assert caught.value.step_type == "stream_responder"


def test_a_reader_that_stops_early_closes_the_generator() -> None:
    closed: list[str] = []

    def sync_events() -> Iterator[int]:
        try:
            yield from (1, 2)
        finally:
            closed.append("sync")

    async def async_events() -> AsyncIterator[int]:
        try:
            yield 1
            yield 2
        finally:
            closed.append("async")

    async def play() -> None:
        model = ScriptedModel([model_stream(sync_events()), model_stream(async_events())])
        for _ in range(2):
            stream = model.stream_response(HELLO)
            assert await anext(stream) == 1
            await stream.aclose()

    asyncio.run(play())
    assert closed == ["sync", "async"]


# Cancellation


def cancelled() -> asyncio.Event:
    event = asyncio.Event()
    event.set()
    return event


def test_a_request_cancelled_beforehand_leaves_no_trace() -> None:
    """Item 75."""
    model = ScriptedModel([[]])
    with pytest.raises(ScriptedModelRequestAbortedError) as plain:
        ask(model, cancel=cancelled())
    with pytest.raises(ScriptedModelRequestAbortedError) as streamed:
        model.stream_response(HELLO, cancel=cancelled())
    assert [e.value.call_index for e in (plain, streamed)] == [None, None]
    assert (model.calls, model.remaining_steps) == ((), 1)


def test_cancellation_is_noticed_before_each_automatic_event() -> None:
    """Item 59."""
    for events_before in range(3):
        cancel = asyncio.Event()
        stream = ScriptedModel([[assistant_message("hello")]]).stream_response(HELLO, cancel=cancel)

        async def play(stream: Any = stream, cancel: asyncio.Event = cancel, count: int = events_before) -> None:
            for _ in range(count):
                await anext(stream)
            cancel.set()
            await anext(stream)

        with pytest.raises(ScriptedModelRequestAbortedError) as caught:
            asyncio.run(play())
        assert caught.value.call_index == 0


@MODES
def test_cancellation_while_a_response_is_read_is_noticed(streamed: bool) -> None:
    """Item 60."""
    cancel = asyncio.Event()
    model = ScriptedModel([model_responder(lambda _: awkward(cancel.set))])
    with pytest.raises(ScriptedModelRequestAbortedError) as caught:
        ask(model, RAW, streamed=streamed, cancel=cancel)
    assert caught.value.call_index == 0


@MODES
def test_cancellation_within_a_responder_is_noticed(streamed: bool) -> None:
    cancel = asyncio.Event()
    model = ScriptedModel([model_responder(lambda _: cancel.set())])
    with pytest.raises(ScriptedModelRequestAbortedError):
        ask(model, streamed=streamed, cancel=cancel)


def test_a_stream_cancelled_before_it_is_consumed_does_not_play_its_step() -> None:
    """Item 76."""
    played: list[object] = []
    error = ValueError("never raised")
    model = ScriptedModel([model_error(error, retry_advice="wait"), model_responder(played.append)])
    for _ in range(2):
        cancel = asyncio.Event()
        stream = model.stream_response(HELLO, cancel=cancel)
        cancel.set()
        with pytest.raises(ScriptedModelRequestAbortedError) as caught:
            asyncio.run(anext(stream))
        assert caught.value.call_index is not None
    assert played == []
    assert model.retry_advice(error, streamed=True, query=None) is None


def test_cancellation_while_a_stream_responder_works_is_noticed_afterwards() -> None:
    """Item 77."""
    cancel = asyncio.Event()

    async def respond(_call: ModelCall) -> list[str]:
        cancel.set()
        return ["never seen"]

    with pytest.raises(ScriptedModelRequestAbortedError) as caught:
        asyncio.run(events_of(ScriptedModel([model_stream_responder(respond)]), cancel=cancel))
    assert caught.value.call_index == 0


@pytest.mark.parametrize("events_before", [0, 1])
def test_cancellation_within_an_exact_stream_is_noticed_after_the_event(events_before: int) -> None:
    cancel = asyncio.Event()

    def events() -> Iterator[int]:
        yield from range(events_before)
        cancel.set()
        if not events_before:
            yield 1

    got: list[int] = []

    async def play() -> None:
        async for event in ScriptedModel([model_stream(events())]).stream_response(HELLO, cancel=cancel):
            got.append(event)  # noqa: PERF401 - what came before the error is the point

    with pytest.raises(ScriptedModelRequestAbortedError):
        asyncio.run(play())
    assert got == list(range(events_before))


def test_a_cancelled_task_stays_cancelled_and_its_step_is_spent() -> None:
    async def never(_call: ModelCall) -> list[Any]:
        await asyncio.Event().wait()
        return []

    model = ScriptedModel([model_responder(never)])

    async def play() -> None:
        async with asyncio.timeout(1):
            await model.get_response(HELLO)

    with pytest.raises(TimeoutError):
        run_virtual(play())
    assert len(model.calls) == 1
    model.assert_complete()
