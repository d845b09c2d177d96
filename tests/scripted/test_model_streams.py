"""The streams of a scripted model, and cancellation."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from tests.scripted.asking import HELLO, MODES, RAW, ask, awkward, events_of, texts
from voiceharness.clock import run_virtual
from voiceharness.scripted.errors import (
    InvalidScriptedModelStepError,
    ScriptedModelRequestAbortedError,
)
from voiceharness.scripted.model import (
    ModelCall,
    ModelRequest,
    ScriptedModel,
    model_error,
    model_responder,
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


__all__: list[str] = []


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
