"""Serve a :class:`PhoneAgent` as the model behind a session of the OpenAI Agents SDK, with no network."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from voiceharness.errors import MissingExtraError
from voiceharness_adapters.realtime.host import FarSide

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from voiceharness.agent import PhoneAgent

__all__ = ["session_host"]


@asynccontextmanager
async def session_host(agent: PhoneAgent, *, rate: int = 8000) -> AsyncIterator[Mapping[str, object]]:
    """Serve an agent, one call at a time; yields the options with which ``openai_agents`` reaches it.

    The session is the SDK's own, and so is its agent, which has nothing to say itself; what the model says is the
    hosted agent's. Audio has ``rate``, in hertz, in both directions. Marks and digits have no way through a session.

    Raises:
        MissingExtraError: if the SDK is not installed.
    """
    try:
        from agents.realtime import RealtimeAgent

        from voiceharness.scripted.openai_agents.realtime import ScriptedAgentsRealtimeModel
    except ImportError as error:
        raise MissingExtraError("the package openai-agents is not installed", extra="agents") from error
    model = ScriptedAgentsRealtimeModel()
    far_side = FarSide(agent, model.transport, rate)
    try:
        yield {"agent": RealtimeAgent(name="hosted"), "model": model, "audio_rate": rate}
    finally:
        await far_side.end()
