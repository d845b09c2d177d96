"""Retry advice: which failure it belongs to, and how long."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from voiceharness.scripted.model import ModelRequest, ScriptedModel, model_error
from voiceharness.scripted.model_retry import RetryQuery

__all__: list[str] = []

REQUEST = ModelRequest(input="hello")


async def fail_plain(model: ScriptedModel) -> BaseException:
    with pytest.raises(ConnectionError) as caught:
        await model.get_response(REQUEST)
    return caught.value


async def fail_streamed(model: ScriptedModel) -> BaseException:
    with pytest.raises(ConnectionError) as caught:
        async for _ in model.stream_response(REQUEST):
            pass
    return caught.value


def test_an_error_is_raised_by_identity_and_an_advice_function_sees_the_attempt() -> None:
    """Item 64."""
    error = ConnectionError("busy")
    model = ScriptedModel([model_error(error, retry_advice=lambda query: {"after": query.attempt * 2})])
    assert asyncio.run(fail_plain(model)) is error
    assert model.get_retry_advice(RetryQuery(error=error, attempt=3)) == {"after": 6}


def test_fixed_advice_is_copied_when_queued() -> None:
    """Item 65."""
    error, advice = ConnectionError(), {"after": 1}
    model = ScriptedModel([model_error(error, retry_advice=advice)])
    advice["after"] = 2
    asyncio.run(fail_plain(model))
    assert model.get_retry_advice(RetryQuery(error=error)) == {"after": 1}


def test_a_reused_error_gives_the_advice_of_its_step_in_its_mode() -> None:
    """Item 66."""
    error = ConnectionError()
    model = ScriptedModel(
        [model_error(error, retry_advice="plain"), model_error(error, retry_advice="streamed"), model_error(error)]
    )

    async def play() -> None:
        await fail_plain(model)
        await fail_streamed(model)
        await fail_plain(model)

    asyncio.run(play())
    plain, streamed = RetryQuery(error=error), RetryQuery(error=error, streamed=True)
    asked: list[Any] = [model.get_retry_advice(query) for query in (streamed, plain, plain, plain)]
    assert asked == ["streamed", "plain", None, None]


def test_failures_with_one_error_object_are_asked_about_in_their_order() -> None:
    """Item 67: there is no request to go by, so the oldest failure comes first."""
    error = ConnectionError()
    model = ScriptedModel([model_error(error, retry_advice=number) for number in (1, 2)])

    async def play() -> None:
        await fail_plain(model)
        await fail_plain(model)

    asyncio.run(play())
    query = RetryQuery(error=error)
    assert [model.get_retry_advice(query) for _ in range(3)] == [1, 2, None]


def test_an_equal_but_different_error_gets_no_advice() -> None:
    error = ConnectionError("busy")
    model = ScriptedModel([model_error(error, retry_advice="wait")])
    asyncio.run(fail_plain(model))
    assert model.get_retry_advice(RetryQuery(error=ConnectionError("busy"))) is None


def test_a_retry_is_a_new_call_that_takes_the_next_step() -> None:
    model = ScriptedModel([model_error(ConnectionError()), []])

    async def play() -> None:
        await fail_plain(model)
        await model.get_response(REQUEST)

    asyncio.run(play())
    assert [call.index for call in model.calls] == [0, 1]
    model.assert_complete()
