"""What the RTP statistics of a call say about its sound.

The opinion score is an estimate by the E-model (ITU-T G.107) with its default values, in the usual short form: the
transmission rating loses by delay (G.107 with G.114's knee at 177.3 ms) and by loss, as the codec conceals it (G.113,
Appendix I). It says nothing of the agent's voice itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["RtpQuality", "StreamTotals", "mean_opinion", "rating"]

_BEST_RATING: Final = 93.2
_DELAY_KNEE_MS: Final = 177.3
_IMPAIRMENT: Final[Mapping[str, tuple[float, float]]] = {
    "PCMU": (0.0, 25.1),
    "PCMA": (0.0, 25.1),
    "G722": (13.0, 25.1),
}
"""Codec: equipment impairment and packet-loss robustness (G.113, Appendix I; G.722's on its wideband scale)."""


_COUNTS: Final = ("received", "lost", "doubled", "reordered", "discarded", "sent", "buffer_empty", "buffer_lost")


class StreamTotals:
    """Adds up the counts of a call's streams: a new offer (a hold, a resume) begins one that counts from 0 again."""

    def __init__(self) -> None:
        self._before: dict[str, float] = {}
        self._latest: Mapping[str, float] = {}

    def take(self, stats: Mapping[str, float]) -> dict[str, float]:
        """Take the figures of the present stream and return those of the call; counts are summed, the rest is new."""
        if stats.get("received", 0) < self._latest.get("received", 0):
            self._before = {name: self._sum(name) for name in _COUNTS}
        self._latest = stats
        return {**stats, **{name: self._sum(name) for name in _COUNTS if name in stats}}

    def _sum(self, name: str) -> float:
        return self._before.get(name, 0) + self._latest.get(name, 0)


@dataclass(frozen=True, slots=True)
class RtpQuality:
    """RTP figures of one call, from the receiver's side.

    ``ran_dry`` counts how often the jitter buffer had nothing to play after the call's begin: what is heard after that
    may be a frame or more late. ``opinion`` is the estimated mean opinion score, 1 to 4.5. ``skew_ms`` is by how much
    the latest packets came later than their timestamps say, counted from the first; None where nobody knows.
    """

    received: int
    lost: int
    doubled: int
    reordered: int
    discarded: int
    jitter_ms: float
    jitter_max_ms: float
    round_trip_ms: float
    ran_dry: int
    opinion: float
    skew_ms: float | None = None

    @classmethod
    def of(cls, stats: Mapping[str, float], *, codec: str) -> RtpQuality:
        """Make it of a worker's statistics; without any, everything is 0."""
        received, lost = int(stats.get("received", 0)), int(stats.get("lost", 0))
        total = received + lost
        delay_ms = stats.get("round_trip_ms", 0.0) / 2 + stats.get("buffer_ms", 0.0)
        loss_percent = 100 * (lost + stats.get("discarded", 0)) / total if total else 100.0
        return cls(
            received,
            lost,
            int(stats.get("doubled", 0)),
            int(stats.get("reordered", 0)),
            int(stats.get("discarded", 0)),
            stats.get("jitter_ms", 0.0),
            stats.get("jitter_max_ms", 0.0),
            stats.get("round_trip_ms", 0.0),
            max(0, int(stats.get("buffer_empty", 0)) - 1),  # it is empty once before the first packet
            round(mean_opinion(rating(delay_ms, loss_percent, codec=codec)), 2) if total else 0.0,
            round(stats["skew_ms"], 1) if "skew_ms" in stats else None,
        )


def rating(delay_ms: float, loss_percent: float, *, codec: str) -> float:
    """Return the transmission rating R for a one-way delay and random packet loss."""
    delay = 0.024 * delay_ms + 0.11 * max(0.0, delay_ms - _DELAY_KNEE_MS)
    equipment, robustness = _IMPAIRMENT.get(codec.upper(), (0.0, 25.1))
    loss = equipment + (95 - equipment) * loss_percent / (loss_percent + robustness)
    return _BEST_RATING - delay - loss


def mean_opinion(rating: float) -> float:
    """Return the mean opinion score of a rating (G.107 Annex B)."""
    if rating <= 0:
        return 1.0
    if rating >= 100:
        return 4.5
    return max(1.0, 1 + 0.035 * rating + rating * (rating - 60) * (100 - rating) * 7e-6)
