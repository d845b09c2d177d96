"""Virtual cables: two channels of one sink, so that both directions of a call share one sample clock.

One null sink of two channels is the line. Two sinks of one channel each lead to it: ``NAME_u2a`` carries the user to
the agent on the left, ``NAME_a2u`` the agent to the user on the right; the sources ``NAME_u2a_mic`` and
``NAME_a2u_mic`` bring each of them back (one name cannot be both in PulseAudio).
The harness plays into ``NAME_u2a`` and listens to the line's monitor in stereo: what it compares lies on one clock,
wherever the drivers slip.
"""

from __future__ import annotations

import re
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from voiceharness.errors import DeviceError, OptionError
from voiceharness_adapters.sound_card.pulse import PulseServer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

__all__ = ["CABLE_RATE", "Cables", "create_cables", "remove_cables", "temporary_cables"]

CABLE_RATE: Final = 48000
"""Native rate of the cables in hertz."""

DEFAULT_NAME: Final = "voiceharness"
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9-]*")


@dataclass(frozen=True, slots=True)
class Cables:
    """A pair of virtual cables on a server, by name."""

    name: str = DEFAULT_NAME
    server: PulseServer = field(default_factory=PulseServer)

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise OptionError(f"cables are named by letters, digits and hyphens, not {self.name!r}")

    @property
    def line(self) -> str:
        """The sink of two channels."""
        return f"{self.name}_line"

    @property
    def monitor(self) -> str:
        """The source that hears both directions, the user on the left."""
        return f"{self.line}.monitor"

    @property
    def to_agent(self) -> str:
        """The sink where the user plays."""
        return f"{self.name}_u2a"

    @property
    def agent_microphone(self) -> str:
        """The source where the agent hears the user."""
        return f"{self.to_agent}_mic"

    @property
    def to_user(self) -> str:
        """The sink where the agent plays."""
        return f"{self.name}_a2u"


async def create_cables(cables: Cables) -> None:
    """Make the cables.

    Raises:
        DeviceError: if there are cables of that name, or the server refuses.
    """
    server = cables.server
    if cables.line in await server.names("sinks"):
        raise DeviceError(
            f"sound card: there are cables {cables.name!r} already; use them, remove them, or choose another name"
        )
    try:
        await server.load(
            "module-null-sink",
            sink_name=cables.line,
            rate=CABLE_RATE,
            format="s16le",
            channels=2,
            channel_map="front-left,front-right",
            norewinds=1,
            sink_properties=f"device.description={cables.line}",
        )
        for name, channel in ((cables.to_agent, "front-left"), (cables.to_user, "front-right")):
            await _branch(cables, name, channel)
    except BaseException:
        await remove_cables(cables)
        raise


async def _branch(cables: Cables, name: str, channel: str) -> None:
    """Lead one channel of the line out as a sink and a source of their own."""
    mono: dict[str, str | int] = {"channels": 1, "channel_map": "mono", "master_channel_map": channel, "remix": "no"}
    await cables.server.load(
        "module-remap-sink",
        sink_name=name,
        master=cables.line,
        sink_properties=f"device.description={name}",
        **mono,
    )
    await cables.server.load(
        "module-remap-source",
        source_name=f"{name}_mic",
        master=cables.monitor,
        source_properties=f"device.description={name}_mic",
        **mono,
    )


async def remove_cables(cables: Cables) -> bool:
    """Take the cables away; False if there were none."""
    own = re.compile(rf"\b(sink_name|source_name)={re.escape(cables.name)}_(line|u2a|a2u|u2a_mic|a2u_mic)(\s|$)")
    found = [module for module in await cables.server.modules() if own.search(module.arguments)]
    for module in reversed(found):  # the branches before the line that they hang on
        await cables.server.unload(module.index)
    return bool(found)


@asynccontextmanager
async def temporary_cables(cables: Cables) -> AsyncIterator[Cables]:
    """Make cables that are gone at the end."""
    await create_cables(cables)
    try:
        yield cables
    finally:
        await remove_cables(cables)
