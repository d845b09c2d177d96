"""One line's impairments, both ways, and the named profiles."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from voiceharness.impairment.packets import Jitter, Loss, PacketImpairment, Packets
from voiceharness.impairment.sound import Codec, Echo, Gain, Narrowband, Noise
from voiceharness.impairment.source import Context

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voiceharness.impairment.source import SoundImpairment, Source

__all__ = ["CLEAN", "PROFILES", "LineImpairments", "OneWay", "impaired"]


@dataclass(frozen=True, slots=True)
class OneWay:
    """What happens in one direction: to the sound, in this order, and then to its packets."""

    sound: tuple[SoundImpairment, ...] = ()
    packets: tuple[PacketImpairment, ...] = ()


@dataclass(frozen=True, slots=True)
class LineImpairments:
    """What happens on a line: ``to_agent`` to the user's side, ``to_user`` to the agent's; ``delay`` s each way."""

    to_agent: OneWay = OneWay()
    to_user: OneWay = OneWay()
    delay: float = 0.0


CLEAN: Final = LineImpairments()

PROFILES: Final[Mapping[str, LineImpairments]] = MappingProxyType(
    {
        "good": LineImpairments(OneWay((Codec(),)), OneWay((Codec(),)), 0.03),
        "mobile": LineImpairments(
            OneWay((Narrowband(), Noise(25.0, "babble"), Codec("mulaw", 2)), (Loss(0.01, 2.0),)),
            OneWay((Narrowband(), Codec("mulaw", 2)), (Loss(0.01, 2.0),)),
            0.12,
        ),
        "bad_wifi": LineImpairments(
            OneWay((Codec(),), (Loss(0.05, 3.0), Jitter(0.08))),
            OneWay((Codec(),), (Loss(0.05, 3.0), Jitter(0.08))),
            0.08,
        ),
        "speakerphone": LineImpairments(
            OneWay((Gain(-6.0), Noise(20.0, "babble"), Echo(0.15, -25.0), Codec())), OneWay((Codec(),)), 0.05
        ),
    }
)
"""Lines by name: a landline (``good``), a ``mobile``, voice over a bad wireless network, a ``speakerphone``."""


def impaired(way: OneWay, source: Source, other: Source, *, rate: int, seed: int) -> Source:
    """Return a source with a direction's sound impairments on it, each with a seed of its own."""
    for index, impairment in enumerate(way.sound):
        source = impairment.over(source, Context(rate, seed * 16 + index, other))
    return source


def packets_of(way: OneWay, seed: int) -> Packets:
    """Return what decides the fate of a direction's frames."""
    return Packets(way.packets, seed)
