"""Serve an agent to the in-process adapter: there is nothing to start, so the target is the agent itself."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from voiceharness.agent import PhoneAgent

__all__ = ["host"]


@asynccontextmanager
async def host(agent: PhoneAgent) -> AsyncIterator[Mapping[str, object]]:
    """Serve an agent; yields the options with which the adapter reaches it."""
    yield {"agent": agent}
