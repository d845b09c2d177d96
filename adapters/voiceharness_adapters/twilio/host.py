"""Serve an agent to the carrier: as an application in virtual time, on a loopback port in real time."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from voiceharness.clock import LoopClock
from voiceharness_adapters.twilio.agent_app import TwilioAgentApp

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from voiceharness.agent import PhoneAgent

__all__ = ["host"]

TOKEN: Final = "fedcba9876543210fedcba9876543210"
"""What requests to this host are signed with; it opens nothing anywhere else."""

NOWHERE: Final = "https://agent.example.test/voice"


@asynccontextmanager
async def host(agent: PhoneAgent) -> AsyncIterator[Mapping[str, object]]:
    """Serve an agent as a careful one is served; yields the options with which the adapter reaches its webhook."""
    app = TwilioAgentApp(agent, token=TOKEN, announced_only=True)
    if LoopClock().virtual:
        yield {"url": NOWHERE, "app": app, "token": TOKEN, "honours_clear": True}
        return
    from voiceharness_adapters.twilio.asgi_server import serve_asgi

    async with serve_asgi(app) as port:
        yield {"url": f"http://127.0.0.1:{port}/voice", "token": TOKEN, "honours_clear": True}
