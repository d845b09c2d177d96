"""Serve an agent on virtual cables, on a sound server of its own: no device, no session, no noise."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from voiceharness_adapters.sound_card.cables import Cables, temporary_cables
from voiceharness_adapters.sound_card.far_side import FarSide
from voiceharness_adapters.sound_card.portaudio import PortAudio
from voiceharness_adapters.sound_card.pulse import private_server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from voiceharness.agent import PhoneAgent

__all__ = ["host", "serve_on"]


@asynccontextmanager
async def host(agent: PhoneAgent) -> AsyncIterator[Mapping[str, object]]:
    """Serve an agent on private cables; yields the options with which the adapter ``sound_card`` reaches it.

    Raises:
        DeviceError: if PulseAudio or PortAudio is missing, or does not start.
    """
    async with (
        private_server() as server,
        temporary_cables(Cables(server=server)) as cables,
        serve_on(agent, cables) as far_side,
    ):
        yield {"cables": cables.name, "server": server.address, "far_side": far_side}


@asynccontextmanager
async def serve_on(agent: PhoneAgent, cables: Cables) -> AsyncIterator[FarSide]:
    """Serve an agent on cables that exist."""
    far_side = FarSide(agent, cables, PortAudio())
    try:
        await far_side.open()
        yield far_side
    finally:
        await far_side.close()
