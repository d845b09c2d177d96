"""The scripted model for the SDK's real ``Runner``, plain and streamed.

Pass ``RunConfig(tracing_disabled=True)`` to stay offline. Errors of the script leave the runner as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agents.items import ModelResponse, TResponseStreamEvent
from agents.models.interface import Model, ModelProvider

from voiceharness.scripted.errors import ScriptValueError
from voiceharness.scripted.model import ModelRequest, ModelScript
from voiceharness.scripted.openai_agents.dialect import AgentsDialect

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterable, Mapping

    from agents.agent_output import AgentOutputSchemaBase
    from agents.handoffs import Handoff
    from agents.items import TResponseInputItem
    from agents.model_settings import ModelSettings
    from agents.models.interface import ModelTracing
    from agents.retry import ModelRetryAdvice, ModelRetryAdviceRequest
    from agents.tool import Tool
    from openai.types.responses.response_prompt_param import ResponsePromptParam

__all__ = ["ScriptedAgentsModel", "ScriptedModelProvider"]


class ScriptedAgentsModel(ModelScript[ModelResponse, TResponseStreamEvent], Model):
    """A model whose calls take the steps of a script; output items are made by ``output`` of this package."""

    def __init__(self, steps: Iterable[object] = (), *, now: Callable[[], float | None] | None = None) -> None:
        super().__init__(steps, dialect=AgentsDialect(), now=now)

    async def get_response(
        self,
        system_instructions: str | None,
        input: str | list[TResponseInputItem],  # noqa: A002 - the SDK's name
        model_settings: ModelSettings,
        tools: list[Tool],
        output_schema: AgentOutputSchemaBase | None,
        handoffs: list[Handoff],
        tracing: ModelTracing,
        *,
        previous_response_id: str | None,
        conversation_id: str | None,
        prompt: ResponsePromptParam | None,
    ) -> ModelResponse:
        """Answer a plain call with the next step."""
        return await self.respond(
            ModelRequest(
                input=input,
                system_instructions=system_instructions,
                settings=model_settings,
                tools=tools,
                output_schema=output_schema,
                handoffs=handoffs,
                tracing=tracing,
                previous_response_id=previous_response_id,
                conversation_id=conversation_id,
                prompt=prompt,
            )
        )

    def stream_response(
        self,
        system_instructions: str | None,
        input: str | list[TResponseInputItem],  # noqa: A002 - the SDK's name
        model_settings: ModelSettings,
        tools: list[Tool],
        output_schema: AgentOutputSchemaBase | None,
        handoffs: list[Handoff],
        tracing: ModelTracing,
        *,
        previous_response_id: str | None,
        conversation_id: str | None,
        prompt: ResponsePromptParam | None,
    ) -> AsyncGenerator[TResponseStreamEvent, None]:
        """Answer a streamed call with the next step; recorded now, not when it is iterated."""
        return self.stream(
            ModelRequest(
                input=input,
                system_instructions=system_instructions,
                settings=model_settings,
                tools=tools,
                output_schema=output_schema,
                handoffs=handoffs,
                tracing=tracing,
                previous_response_id=previous_response_id,
                conversation_id=conversation_id,
                prompt=prompt,
            )
        )

    def get_retry_advice(self, request: ModelRetryAdviceRequest) -> ModelRetryAdvice | None:
        """Return the advice scripted for the failure, once."""
        advice: ModelRetryAdvice | None = self.retry_advice(request.error, streamed=request.stream, query=request)
        return advice


class ScriptedModelProvider(ModelProvider):
    """Models by name, for agents that name theirs."""

    def __init__(self, models: Mapping[str | None, Model]) -> None:
        self._models = dict(models)

    def get_model(self, model_name: str | None) -> Model:
        """Return the model of this name; None is the default's name.

        Raises:
            ScriptValueError: if there is none.
        """
        if model_name not in self._models:
            known = ", ".join(sorted(map(str, self._models)))
            raise ScriptValueError(f"no scripted model is named {model_name!r}; known are: {known}")
        return self._models[model_name]
