"""What is wrong with the media of a call, as the worker tells it: in statistics four times a second, and at once."""

from __future__ import annotations

from dataclasses import dataclass, replace
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
_LAST_NEWS: Final = 1.05
_ENOUGH: Final = 50
_LATE_ALONE_NS: Final = 100_000_000
"""So late no usual jitter buffer waits for a packet: worth a word however few there are."""

_ONE_STRETCH_NS: Final = 5_000_000_000
_SKEW_MS: Final = 100.0
_SAME_SOURCE_NS: Final = 1_000_000_000
"""Numbers and timestamps that jump so near to a change of their source are the new one's own."""

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


@dataclass(slots=True)
class _Stretch:
    """Late packets with no long time between them: how many, the latest, and how many were told of."""

    since_ns: int
    until_ns: int
    received: int
    packets: int = 0
    most_ns: int = 0
    told: int = 0


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
        self._late = _Stretch(0, started_ns, 0)
        self._skew = _Count()
        self._jumped: tuple[int, Finding] | None = None
        self._source_ns = started_ns - _SAME_SOURCE_NS

    @property
    def silent(self) -> bool:
        """Whether the peer has sent nothing for too long."""
        return self._silent

    def take(self, stats: Mapping[str, float], at_ns: int, *, held: bool) -> Iterator[Finding]:
        """Take the statistics of a moment and yield what they show."""
        yield from self._silence(int(stats.get("received", 0)), at_ns, held=held)
        yield from self._number_jump(at_ns)
        yield from self._jump(stats, at_ns)
        yield from self._disorder(stats, at_ns, _NEWS)
        yield from self._clock_skew(stats, at_ns, _NEWS)
        self._looked_ns = at_ns

    def take_fault(self, fault: Finding, at_ns: int) -> Iterator[Finding]:
        """Take what the worker saw at once; numbers that jump wait until it is known whether their source changed."""
        if fault.kind == "rtp_sequence_jump":
            self._jumped = at_ns, fault
            return
        if fault.kind == "rtp_source_changed":
            self._source_ns = at_ns
        yield fault

    def take_late(self, packets: int, most_ns: int, due_ns: int, at_ns: int) -> Iterator[Finding]:
        """Take packets that came late, by ``most_ns`` the latest of them; the first was due at ``due_ns``.

        They are told of when they came later than a jitter buffer waits, or are more than a few of those that came.
        """
        stretch = self._late
        if due_ns - stretch.until_ns > _ONE_STRETCH_NS or not stretch.packets:
            stretch = self._late = _Stretch(due_ns, at_ns, self._received)
        stretch.packets += packets
        stretch.most_ns = max(stretch.most_ns, most_ns)
        stretch.until_ns = at_ns
        yield from self._lateness(at_ns, _NEWS)

    def finish(self, stats: Mapping[str, float], at_ns: int) -> Iterator[Finding]:
        """Take the last statistics, when the call has ended."""
        yield from self._number_jump(at_ns)
        yield from self._disorder(stats, at_ns, 1.0)
        yield from self._lateness(at_ns, 1.0)
        yield from self._clock_skew(stats, at_ns, _LAST_NEWS)

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

    def _number_jump(self, at_ns: int) -> Iterator[Finding]:
        jumped, self._jumped = self._jumped, None
        if jumped is not None and abs(jumped[0] - self._source_ns) > _SAME_SOURCE_NS:
            yield replace(jumped[1], duration=(at_ns - jumped[0]) / _NS)

    def _jump(self, stats: Mapping[str, float], at_ns: int) -> Iterator[Finding]:
        received, jitter_ms = stats.get("received", 0), stats.get("jitter_last_ms", 0.0)
        risen_ms = jitter_ms - self._jitter_ms
        is_new_source = at_ns - self._source_ns <= _SAME_SOURCE_NS
        if received >= _ENOUGH and risen_ms > _JITTER_JUMP_MS and not is_new_source:
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

    def _lateness(self, at_ns: int, news: float) -> Iterator[Finding]:
        """Tell of late packets, all of one stretch together."""
        late = self._late
        came = self._received - late.received
        is_worth_it = late.most_ns >= _LATE_ALONE_NS or (came >= _ENOUGH and late.packets > _LATE_SHARE * came)
        if not is_worth_it or late.packets <= news * late.told:
            return
        late.told = late.packets
        detail = f"{late.packets} packets came later than they were due, the latest by {late.most_ns / 1e6:.0f} ms"
        duration = (at_ns - late.since_ns) / _NS
        yield Finding("rtp_late", detail, figure=late.packets, unit="packets", duration=duration)

    def _clock_skew(self, stats: Mapping[str, float], at_ns: int, news: float) -> Iterator[Finding]:
        """Tell that packets fall behind their timestamps."""
        skew_ms, skew = stats.get("skew_ms", 0.0), self._skew
        if skew_ms > _LATE_SHARE * _SKEW_MS and skew.since_ns is None:
            skew.since_ns = self._looked_ns
        if skew_ms < _SKEW_MS or skew_ms <= news * skew.told:
            return
        skew.told = skew_ms
        since_ns = at_ns if skew.since_ns is None else skew.since_ns
        detail = f"packets come {skew_ms / 1000:.2f} s later than their timestamps say, by those that came first"
        yield Finding("rtp_clock_skew", detail, figure=skew_ms / 1000, unit="s", duration=(at_ns - since_ns) / _NS)
