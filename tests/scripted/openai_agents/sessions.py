"""The SDK's real realtime session, opened on a scripted model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agents import function_tool
from agents.realtime import RealtimeAgent, RealtimeRunner

from voiceharness.clock import run_virtual
from voiceharness.scripted.openai_agents.realtime import ScriptedAgentsRealtimeModel
from voiceharness.scripted.openai_agents.recorder import SessionRecorder

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from agents.realtime import RealtimeSession

    from voiceharness.scripted.run import ScenarioContext

    Exercise = Callable[[RealtimeSession, SessionRecorder], Awaitable[Any]]

__all__ = ["KEY", "desk", "look_up", "open_session", "run"]

KEY = "sk-never-recorded"


@function_tool
def look_up(order: int) -> str:
    """Look an order up."""
    return f"order {order} is on its way"


@function_tool(needs_approval=True)
def refund(order: int) -> str:
    """Refund an order."""
    return f"order {order} is refunded"


def desk(**options: Any) -> RealtimeAgent[None]:
    return RealtimeAgent[None](name="desk", instructions="Help.", tools=[look_up, refund], **options)


async def open_session(
    model: ScriptedAgentsRealtimeModel, agent: RealtimeAgent[None] | None = None, **config: Any
) -> RealtimeSession:
    settings: Any = {"tracing_disabled": True, **config}
    runner = RealtimeRunner(agent or desk(), model=model, config=settings)
    return await runner.run(model_config={"api_key": KEY, "url": f"wss://host.example/v1?key={KEY}"})


def run(
    scenario: Callable[[ScenarioContext], object],
    exercise: Exercise,
    *,
    model: ScriptedAgentsRealtimeModel | None = None,
    agent: RealtimeAgent[None] | None = None,
    **config: Any,
) -> ScriptedAgentsRealtimeModel:
    """Play a scenario against a real session that is open while ``exercise`` runs; in virtual time."""
    double = model or ScriptedAgentsRealtimeModel()

    async def play() -> None:
        session = await open_session(double, agent, **config)

        async def talk() -> None:
            async with session, SessionRecorder(session) as recorder:
                await exercise(session, recorder)

        await double.transport.run_scenario(scenario=scenario, exercise=talk, timeout=60)

    run_virtual(play())
    double.transport.assert_complete()
    double.transport.assert_closed()
    return double
