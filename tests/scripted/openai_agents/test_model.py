"""The scripted model behind the SDK's real runner."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("agents")

from agents import Agent, ModelSettings, RunConfig, Runner, function_tool
from agents.items import ModelResponse
from agents.models.interface import ModelTracing
from agents.retry import ModelRetryAdvice, ModelRetryAdviceRequest, ModelRetrySettings, retry_policies
from agents.usage import Usage
from openai.types.responses import ResponseCompletedEvent, ResponseTextDeltaEvent

from voiceharness.scripted.errors import (
    InvalidScriptedModelStepError,
    ScriptValueError,
    UnconsumedModelStepsError,
    UnexpectedModelCallError,
)
from voiceharness.scripted.model_steps import model_error, model_responder, model_stream
from voiceharness.scripted.openai_agents.model import ScriptedAgentsModel, ScriptedModelProvider
from voiceharness.scripted.openai_agents.output import MESSAGE_ID, assistant_message, function_call

__all__: list[str] = []

OFFLINE = RunConfig(tracing_disabled=True)
MODES = pytest.mark.parametrize("streamed", [False, True], ids=["plain", "streamed"])


@function_tool
def look_up(order: int) -> str:
    """Look an order up."""
    return f"order {order} is on its way"


def desk(model: ScriptedAgentsModel, **settings: Any) -> Agent[None]:
    return Agent[None](
        name="desk", instructions="Help.", model=model, tools=[look_up], model_settings=ModelSettings(**settings)
    )


def run(agent: Agent[None], *, streamed: bool, config: RunConfig = OFFLINE) -> Any:
    """Run an agent to its end and return the result; the events of a streamed run are ``result.seen``."""

    async def play() -> Any:
        if not streamed:
            return await Runner.run(agent, "where is order 7?", run_config=config)
        result: Any = Runner.run_streamed(agent, "where is order 7?", run_config=config)
        result.seen = [event async for event in result.stream_events()]
        return result

    return asyncio.run(play())


@MODES
def test_the_real_runner_makes_a_tool_turn_and_answers(streamed: bool) -> None:
    """Item 44."""
    model = ScriptedAgentsModel(
        [[function_call("look_up", {"order": 7}, call_id="c1")], [assistant_message("It is on its way.")]]
    )
    result = run(desk(model), streamed=streamed)
    assert result.final_output == "It is on its way."
    first, second = model.calls
    assert (first.index, first.streamed, first.request.input) == (
        0,
        streamed,
        [{"content": "where is order 7?", "role": "user"}],
    )
    assert first.request.tools == [look_up]
    assert first.request.tools[0] is look_up
    assert second.request.input[-1] == {
        "type": "function_call_output",
        "call_id": "c1",
        "output": "order 7 is on its way",
    }
    assert result.context_wrapper.usage.requests == 2
    model.assert_complete()


def test_a_streamed_run_reports_the_texts_and_the_tools() -> None:
    model = ScriptedAgentsModel(
        [[function_call("look_up", {"order": 7}, call_id="c1")], [assistant_message("on its way", id="m1")]]
    )
    result = run(desk(model), streamed=True)
    deltas = [event.data for event in result.seen if event.type == "raw_response_event"]
    assert [(event.item_id, event.delta) for event in deltas if isinstance(event, ResponseTextDeltaEvent)] == [
        ("m1", "on its way")
    ]
    names = [event.name for event in result.seen if event.type == "run_item_stream_event"]
    assert names == ["tool_called", "tool_output", "message_output_created"]


@MODES
def test_usage_is_kept_as_given(streamed: bool) -> None:
    """Item 51."""
    given = ModelResponse(output=[assistant_message("done")], usage=Usage(requests=0), response_id="r1")
    result = run(desk(ScriptedAgentsModel([given])), streamed=streamed)
    assert result.context_wrapper.usage.requests == 0
    assert result.raw_responses[0].response_id == "r1"


@MODES
@pytest.mark.parametrize("asked", [True, False])
def test_raw_usage_is_preserved_if_the_settings_ask_for_it(streamed: bool, asked: bool) -> None:
    """Item 52."""
    raw = {"prompt": {"tokens": 3}}
    given = ModelResponse([assistant_message("done")], Usage(requests=1), "r1", raw_usage=raw)
    result = run(desk(ScriptedAgentsModel([given]), preserve_raw_usage=asked), streamed=streamed)
    assert result.raw_responses[0].raw_usage == (raw if asked else None)


def test_settings_are_copied_and_other_objects_keep_their_identity() -> None:
    """Item 46."""
    model = ScriptedAgentsModel([[assistant_message("done")]])
    agent = desk(model, metadata={"kind": "test"})
    run(agent, streamed=False)
    assert agent.model_settings.metadata is not None
    agent.model_settings.metadata["kind"] = "changed"
    request = model.calls[0].request
    assert request.settings.metadata == {"kind": "test"}
    assert request.tracing is ModelTracing.DISABLED


@MODES
def test_errors_of_the_script_leave_the_runner_as_they_are(streamed: bool) -> None:
    error = ConnectionError("busy")
    with pytest.raises(ConnectionError) as caught:
        run(desk(ScriptedAgentsModel([model_error(error)])), streamed=streamed)
    assert caught.value is error
    with pytest.raises(UnexpectedModelCallError):
        run(desk(ScriptedAgentsModel()), streamed=streamed)


def test_a_step_that_the_run_did_not_need_is_left_over() -> None:
    model = ScriptedAgentsModel([[assistant_message("done")], [assistant_message("never")]])
    run(desk(model), streamed=False)
    with pytest.raises(UnconsumedModelStepsError):
        model.assert_complete()


@MODES
def test_the_runner_retries_on_the_scripted_advice(streamed: bool) -> None:
    """Items 64 and 66."""
    asked: list[tuple[int, bool]] = []

    def advise(query: ModelRetryAdviceRequest) -> ModelRetryAdvice:
        asked.append((query.attempt, query.stream))
        return ModelRetryAdvice(suggested=True, retry_after=0.0)

    model = ScriptedAgentsModel(
        [model_error(ConnectionError("busy"), retry_advice=advise), [assistant_message("done")]]
    )
    retry = ModelRetrySettings(max_retries=1, policy=retry_policies.provider_suggested(), backoff={"initial_delay": 0})
    assert run(desk(model, retry=retry), streamed=streamed).final_output == "done"
    assert asked == [(1, streamed)]
    assert len(model.calls) == 2


def test_an_exact_stream_of_the_sdks_events_passes_through() -> None:
    template = ScriptedAgentsModel([[assistant_message("exactly this")]])
    events = [event.data for event in run(desk(template), streamed=True).seen if event.type == "raw_response_event"]
    model = ScriptedAgentsModel(
        [model_stream([event for event in events if isinstance(event, ResponseCompletedEvent)])]
    )
    assert run(desk(model), streamed=True).final_output == "exactly this"


def test_a_stream_cannot_answer_the_plain_runner() -> None:
    with pytest.raises(InvalidScriptedModelStepError, match="incompatible_call"):
        run(desk(ScriptedAgentsModel([model_stream([])])), streamed=False)


def spoiled(**changes: Any) -> ModelResponse:
    """Make a response that is wrong in a way its own checks do not see."""
    response = ModelResponse([], Usage(), None)
    for name, value in changes.items():
        setattr(response, name, value)
    return response


@pytest.mark.parametrize("given", [["text"], spoiled(output=["text"]), spoiled(usage=None)])
def test_output_must_be_the_sdks(given: Any) -> None:
    with pytest.raises(InvalidScriptedModelStepError) as caught:
        ScriptedAgentsModel([given])
    assert caught.value.reason == "invalid_response"


def test_a_responder_may_return_the_sdks_response() -> None:
    """Item 45."""
    model = ScriptedAgentsModel(
        [model_responder(lambda call: ModelResponse([assistant_message(f"call {call.index}")], Usage(), None))]
    )
    result = run(desk(model), streamed=False)
    assert result.final_output == "call 0"
    assert result.raw_responses[0].response_id is None


def test_optional_fields_of_items_are_set_when_given() -> None:
    """Item 73."""
    message = assistant_message("hello")
    assert (message.id, message.status, message.phase) == (MESSAGE_ID, "completed", None)
    assert "provider_data" not in message.model_dump()
    full: Any = assistant_message("hello", id="m1", phase="commentary", provider_data={"a": 1})
    assert (full.id, full.phase, full.provider_data) == ("m1", "commentary", {"a": 1})
    call = function_call("f", "{}", call_id="c1", id="i1", namespace="shop")
    assert (call.id, call.namespace, call.arguments) == ("i1", "shop", "{}")


def test_a_provider_finds_models_by_name() -> None:
    model = ScriptedAgentsModel([[assistant_message("done")]])
    config = RunConfig(tracing_disabled=True, model_provider=ScriptedModelProvider({"cheap": model}))
    agent = Agent[None](name="desk", model="cheap")
    assert run(agent, streamed=False, config=config).final_output == "done"
    with pytest.raises(ScriptValueError, match="cheap"):
        config.model_provider.get_model("dear")
