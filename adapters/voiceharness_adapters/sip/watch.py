"""What is wrong with the media of a call, as the worker's statistics tell it four times a second."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["Finding", "MediaWatch"]

_NS: Final = 1_000_000_000
_JITTER_JUMP_MS: Final = 40.0
_LIKELY_JUMP: Final = 16
"""One packet moves the interarrival jitter by a sixteenth of its own (RFC 3550, 6.4.1)."""

_LATE_SHARE: Final = 0.02
_NEWS: Final = 1.25
_ENOUGH: Final = 50

_COUNTED: Final = {
    "rtp_lost": ("lost", "were lost"),
    "rtp_late": ("discarded", "came too late to be played"),
    "rtp_doubled": ("doubled", "came twice"),
    "rtp_reordered": ("reordered", "came out of order"),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """Something about the media: a stable ``kind``, and what was seen. A ``fault`` breaks a rule of the protocol.

    It began ``duration`` seconds before it is told; ``figure`` is its size in ``unit``.
    """

    kind: str
    detail: str
    fault: bool = False
    figure: float = 1
    unit: Literal["packets", "s", "times"] = "times"
    duration: float = 0.0


@dataclass(slots=True)
class _Count:
    """How many packets of a kind were told of, and since when they come."""

    told: float = 0.0
    since_ns: int | None = None


class MediaWatch:
    """Finds that no media comes, that it stopped, and that it comes in disorder; each once per occasion.

    Disorder that goes on is told again when it has grown by a quarter, and at the end. ``timeout`` is how long, in
    seconds, the peer may send nothing while the call is not held (0: for ever). ``loss_blurs_time`` says that
    the places of what is heard are less sure where packets are missing.
    """

    def __init__(self, timeout: float, *, started_ns: int, loss_blurs_time: bool = False) -> None:
        self._timeout_ns = round(timeout * _NS)
        self._received = 0
        self._since_ns = self._looked_ns = started_ns
        self._silent = False
        self._jitter_ms = 0.0
        self._blurred = {"rtp_lost", "rtp_late"} if loss_blurs_time else set()
        self._counts = {kind: _Count() for kind in _COUNTED}

    @property
    def silent(self) -> bool:
        """Whether the peer has sent nothing for too long."""
        return self._silent

    def take(self, stats: Mapping[str, float], at_ns: int, *, held: bool) -> Iterator[Finding]:
        """Take the statistics of a moment and yield what they show."""
        yield from self._silence(int(stats.get("received", 0)), at_ns, held=held)
        yield from self._jump(stats)
        yield from self._disorder(stats, at_ns, _NEWS)
        self._looked_ns = at_ns

    def finish(self, stats: Mapping[str, float], at_ns: int) -> Iterator[Finding]:
        """Take the last statistics, when the call has ended."""
        yield from self._disorder(stats, at_ns, 1.0)

    def _silence(self, received: int, at_ns: int, *, held: bool) -> Iterator[Finding]:
        if received != self._received or held:
            self._received, self._since_ns, self._silent = received, at_ns, False
            return
        waited_ns = at_ns - self._since_ns
        if self._silent or not self._timeout_ns or waited_ns < self._timeout_ns:
            return
        self._silent = True
        waited = f"{waited_ns / _NS:.1f} s"
        if not received:
            yield Finding("no_rtp", f"agent to user: not one RTP packet in {waited}", fault=True)
        else:
            yield Finding("one_way_audio", f"agent to user: no RTP packet for {waited}, after {received}", fault=True)

    def _jump(self, stats: Mapping[str, float]) -> Iterator[Finding]:
        received, jitter_ms = stats.get("received", 0), stats.get("jitter_last_ms", 0.0)
        risen_ms = jitter_ms - self._jitter_ms
        if received >= _ENOUGH and risen_ms > _JITTER_JUMP_MS:
            detail = f"interarrival jitter rose from {self._jitter_ms:.0f} to {jitter_ms:.0f} ms at once"
            yield Finding("rtp_timestamp_jump", detail, figure=risen_ms * _LIKELY_JUMP / 1000, unit="s")
        self._jitter_ms = jitter_ms

    def _disorder(self, stats: Mapping[str, float], at_ns: int, news: float) -> Iterator[Finding]:
        received = stats.get("received", 0)
        for kind, (name, what) in _COUNTED.items():
            count, of_kind = stats.get(name, 0), self._counts[kind]
            if count and of_kind.since_ns is None:
                of_kind.since_ns = self._looked_ns
            if received < _ENOUGH or count <= max(_LATE_SHARE * received, news * of_kind.told):
                continue
            of_kind.told = count
            since_ns = self._looked_ns if of_kind.since_ns is None else of_kind.since_ns
            detail = f"{count:.0f} packets {what}, and {received:.0f} came so far"
            if kind in self._blurred:
                detail += "; the timing of this call is approximate"
            yield Finding(kind, detail, figure=count, unit="packets", duration=(at_ns - since_ns) / _NS)
