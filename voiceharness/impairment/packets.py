"""Impairments of packets: which frames are lost, late, doubled or out of order.

What happens to frame n is a function of the seed and n (for bursts of loss: of the frames before it, too), so it is the
same in every run, however the frames are sent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from voiceharness.audio.signals import random_words
from voiceharness.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["NO_FATE", "Duplicate", "Fate", "Jitter", "Loss", "PacketImpairment", "Packets", "Reorder"]

_WORD: Final = float(2**64)
_DRAWN_AT_ONCE: Final = 512


@dataclass(frozen=True, slots=True)
class Loss:
    """Frames lost at random: ``rate`` of all, in bursts of ``burst`` frames on average (1: independent of each other).

    Bursts follow a two-state Markov chain that loses everything in its bad state (Gilbert, 1960; Elliott, 1963).
    """

    rate: float
    burst: float = 1.0

    def __post_init__(self) -> None:
        _share("loss", self.rate)
        if self.burst < 1:
            raise OptionError(f"a burst of loss is at least 1 frame long, not {self.burst:g}")

    def chance(self, lost_before: bool) -> float:
        """Return the chance that a frame is lost, given the one before it."""
        if self.burst == 1 or self.rate == 1:
            return self.rate
        return 1 - 1 / self.burst if lost_before else self.rate / (self.burst * (1 - self.rate))


@dataclass(frozen=True, slots=True)
class Jitter:
    """Frames late by up to ``spread`` seconds, evenly distributed; their order is kept.

    On the way to the user, and to an agent whose transport keeps time itself, a buffer of ``buffer`` seconds takes the
    jitter up: what comes later than that is lost.
    """

    spread: float
    buffer: float = 0.06

    def __post_init__(self) -> None:
        if not 0 <= self.spread <= 2:
            raise OptionError(f"jitter spreads over 0 to 2 s, not {self.spread:g} s")


@dataclass(frozen=True, slots=True)
class Reorder:
    """A share of frames change places with the one after them."""

    rate: float

    def __post_init__(self) -> None:
        _share("reorder", self.rate)


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A share of frames are sent twice."""

    rate: float

    def __post_init__(self) -> None:
        _share("duplicate", self.rate)


PacketImpairment = Loss | Jitter | Reorder | Duplicate


@dataclass(frozen=True, slots=True)
class Fate:
    """What happens to one frame; ``delay`` is in seconds."""

    lost: bool = False
    delay: float = 0.0
    swapped: bool = False
    doubled: bool = False


NO_FATE: Final = Fate()


class Packets:
    """Decides the fate of each frame of one direction."""

    def __init__(self, impairments: Sequence[PacketImpairment], seed: int) -> None:
        self._impairments = tuple(impairments)
        self._seed = seed
        self._lost: dict[int, list[bool]] = {}
        self._drawn: dict[int, list[float]] = {}

    @property
    def idle(self) -> bool:
        """Whether nothing ever happens to a frame."""
        return not self._impairments

    def fate(self, frame: int) -> Fate:
        """Return what happens to the n-th frame since the answer."""
        lost, delay, swapped, doubled = False, 0.0, False, False
        for index, impairment in enumerate(self._impairments):
            match impairment:
                case Loss():
                    lost = self._is_lost(index, impairment, frame) or lost
                case Jitter(spread=spread):
                    delay += spread * self._draw(index, frame)
                case Reorder(rate=rate):
                    swapped = self._draw(index, frame) < rate or swapped
                case Duplicate(rate=rate):
                    doubled = self._draw(index, frame) < rate or doubled
        return Fate(lost, delay, swapped, doubled)

    def lost_to_a_buffer(self, frame: int) -> Literal["loss", "jitter"] | None:
        """Say by what a frame is lost: on its way, or because it comes too late for the buffer at the other end."""
        if self.fate(frame).lost:
            return "loss"
        late = any(
            impairment.spread * self._draw(index, frame) > impairment.buffer
            for index, impairment in enumerate(self._impairments)
            if isinstance(impairment, Jitter)
        )
        return "jitter" if late else None

    def _is_lost(self, index: int, loss: Loss, frame: int) -> bool:
        known = self._lost.setdefault(index, [])
        while len(known) <= frame:
            chance = loss.chance(known[-1]) if known else loss.rate
            known.append(self._draw(index, len(known)) < chance)
        return known[frame]

    def _draw(self, index: int, frame: int) -> float:
        drawn = self._drawn.setdefault(index, [])
        while len(drawn) <= frame:
            words = random_words(_DRAWN_AT_ONCE, self._seed * 16 + index, len(drawn))
            drawn += (words / _WORD).tolist()
        return drawn[frame]


def _share(what: str, rate: float) -> None:
    if not 0 <= rate <= 1:
        raise OptionError(f"{what} is a share from 0 to 1, not {rate:g}")
