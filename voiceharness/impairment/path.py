"""One line's impairments, both ways, and the named profiles."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np

from voiceharness.impairment.packets import NO_FATE, Jitter, Loss, PacketImpairment, Packets
from voiceharness.impairment.sound import Codec, Echo, Gain, Narrowband, Noise
from voiceharness.impairment.source import Context, rounded

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from voiceharness.impairment.source import Samples, SoundImpairment, Source

__all__ = ["CLEAN", "PROFILES", "Direction", "LineImpairments", "OneWay"]


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
            OneWay((Codec(),), (Loss(0.05, 3.0), Jitter(0.064))),
            OneWay((Codec(),), (Loss(0.05, 3.0), Jitter(0.064))),
            0.08,
        ),
        "speakerphone": LineImpairments(
            OneWay((Gain(-6.0), Noise(20.0, "babble"), Echo(0.15, -25.0), Codec())), OneWay((Codec(),)), 0.05
        ),
    }
)
"""Lines by name: a landline (``good``), a ``mobile``, voice over a bad wireless network, a ``speakerphone``."""


class Direction:
    """One direction of a line with its impairments: what its receiver hears at any position, and its packets' fates.

    ``source`` is the clean sound, ``other`` the other party's as it is heard, ``frame`` the samples of a packet. A
    packet out of order or doubled is heard as by a receiver without a buffer: in the place where it came.
    """

    def __init__(self, way: OneWay, source: Source, other: Source, *, rate: int, frame: int, seed: int) -> None:
        self.way = way
        self.packets = Packets(way.packets, seed)
        self.frame = frame
        self._looked_at: list[str | None] = []
        for index, impairment in enumerate(way.sound):
            source = impairment.over(source, Context(rate, seed * 16 + index, other))
        self._sound = source

    def read(self, start: int, end: int) -> NDArray[np.int16]:
        """Return the sound that arrives, before any packet is lost."""
        return rounded(self._sound(start, end) if self.packets.idle else self._by_packet(start, end, lose=False))

    def read_with_losses(self, start: int, end: int) -> NDArray[np.int16]:
        """Return the sound that is heard: a lost packet is silence."""
        return rounded(self._sound(start, end) if self.packets.idle else self._by_packet(start, end, lose=True))

    def unheard(self, end: int) -> Sequence[tuple[int, str]]:
        """List the packets that begin before a position and are not heard as sent: where they begin, and the kind."""
        while not self.packets.idle and len(self._looked_at) * self.frame < end:
            index = len(self._looked_at)
            kind = self.packets.lost_to_a_buffer(index)
            self._looked_at.append(kind or ("reorder" if self._origin(index) != index else None))
        known = enumerate(self._looked_at[: -(-end // self.frame)])
        return [(index * self.frame, kind) for index, kind in known if kind is not None]

    def _by_packet(self, start: int, end: int, *, lose: bool) -> Samples:
        frame = self.frame
        heard = np.zeros(end - start)
        for index in range(start // frame, -(-end // frame)):
            if lose and self.packets.lost_to_a_buffer(index):
                continue
            first, last = max(start, index * frame), min(end, (index + 1) * frame)
            shift = (self._origin(index) - index) * frame
            heard[first - start : last - start] = self._sound(first + shift, last + shift)
        return heard

    def _origin(self, index: int) -> int:
        """Return which packet is heard in the place of the n-th: of two that changed places, the one that was sent."""
        fate, before = self.packets.fate(index), self.packets.fate(index - 1) if index else NO_FATE
        if before.swapped or before.doubled:
            return index - 1
        return index + 1 if fate.swapped else index
