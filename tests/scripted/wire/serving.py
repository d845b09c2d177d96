"""A scenario against a client of the scripted websocket: the SDK's own, or a bare one."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from agents import function_tool
from agents.realtime import OpenAIRealtimeWebSocketModel, RealtimeAgent, RealtimePlaybackTracker, RealtimeRunner
from websockets.asyncio.client import connect

from voiceharness.scripted.calls import (
    CloseCall,
    ConnectCall,
)
from voiceharness.scripted.openai_agents.recorder import SessionRecorder
from voiceharness.scripted.wire.server import RealtimeWireServer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from agents.realtime import RealtimeSession
    from websockets.asyncio.client import ClientConnection

    from voiceharness.scripted.run import ScenarioContext

__all__ = ["KEY", "LIMIT", "SECOND", "accept", "next_of", "run_client", "run_session", "serve", "tell"]

KEY = "sk-never-recorded"
SECOND = b"\0\0" * 24_000
LIMIT = 20.0


@function_tool
def look_up(order: int) -> str:
    """Look an order up."""
    return f"order {order} is on its way"


def serve(**options: Any) -> RealtimeWireServer:
    """Make a server whose client may configure the session and send audio whenever it likes."""
    return RealtimeWireServer(ambient={"send_audio", "update_session_config"}, **options)


def run_session(
    server: RealtimeWireServer,
    scenario: Callable[[ScenarioContext], object],
    exercise: Callable[[RealtimeSession, SessionRecorder], Awaitable[object]],
    *,
    tracker: RealtimePlaybackTracker | None = None,
) -> None:
    """Play a scenario against the SDK's session on its own websocket model."""

    async def play() -> None:
        async with server:
            await server.transport.run_scenario(scenario=scenario, exercise=talk, timeout=LIMIT)

    async def talk() -> None:
        agent = RealtimeAgent[None](name="desk", instructions="Help.", tools=[look_up])
        runner = RealtimeRunner(agent, model=OpenAIRealtimeWebSocketModel(), config={"tracing_disabled": True})
        config: Any = {"api_key": KEY, "url": f"{server.url}?model=gpt-realtime"}
        if tracker is not None:
            config["playback_tracker"] = tracker
        session = await runner.run(model_config=config)
        async with session, SessionRecorder(session) as recorder:
            await exercise(session, recorder)

    asyncio.run(play())


def run_client(
    server: RealtimeWireServer,
    scenario: Callable[[ScenarioContext], object],
    exercise: Callable[[ClientConnection], Awaitable[object]],
) -> None:
    """Play a scenario against a bare websocket client."""

    async def play() -> None:
        async with server:
            await server.transport.run_scenario(scenario=scenario, exercise=talk, timeout=LIMIT)

    async def talk() -> None:
        async with connect(server.url) as client:
            await exercise(client)

    asyncio.run(play())


async def tell(client: ClientConnection, event_type: str, **body: Any) -> None:
    await client.send(json.dumps({"type": event_type, **body}))


async def next_of(client: ClientConnection, event_type: str) -> dict[str, Any]:
    while (event := json.loads(await client.recv()))["type"] != event_type:
        pass
    return dict(event)


async def accept(far: ScenarioContext) -> None:
    await far.expect_call(ConnectCall)
    await far.expect_call(CloseCall)
