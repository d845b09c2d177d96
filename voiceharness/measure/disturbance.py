"""What the harness itself did to the sound of a call: it is never held against the agent.

A test may run on a bad line on purpose, and a busy machine may stall the harness. The timeline says so. The agent's
sound is then judged as it was sent (``as_sent``), and what was late, lost or covered on its way to the user is excused.
How the agent copes with a bad line on its own side (noise, echo, losses on the way to it) is judged as ever, for that
is what such a test asks.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np

from voiceharness.audio.edges import Span
from voiceharness.measure.spans import joined
from voiceharness.measure.utterances import integer, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from voiceharness.line.record import CallRecord
    from voiceharness.measure.finding import FindingKind

__all__ = ["MADE_BY", "Disturbance", "as_sent"]

_COVERED: Final[frozenset[FindingKind]] = frozenset(
    {
        "audio_after_flush",
        "claimed_speaking_but_silent",
        "dead_air",
        "growing_latency",
        "residual_burst",
        "talking_over_user",
    }
)

MADE_BY: Final[Mapping[str, frozenset[FindingKind]]] = MappingProxyType({"echo": _COVERED, "noise": _COVERED})
"""Kinds of faults that what is added to the sound on its way to the user can make by itself, by the name of it.

Noise that covers the agent makes it seem silent, noise after it makes it seem to go on.
"""

_STALL_TAIL: Final = 0.1


def as_sent(record: CallRecord) -> CallRecord:
    """Return the record with the agent's sound as it was sent, in the places where it was heard.

    The same record, if nothing was done to that sound, or what was sent is not known.
    """
    untouched = not any(event.data.get("direction") == "to_user" for event in record.of_kind("impaired"))
    if untouched or sum(arrival.samples for arrival in record.arrivals) != len(record.received):
        return record
    track = np.zeros_like(record.agent)
    position = 0
    for arrival in record.arrivals:
        place = track[arrival.start : arrival.start + arrival.heard]
        place[:] = record.received[position : position + len(place)]
        position += arrival.samples
    return replace(record, agent=track)


@dataclass(frozen=True, slots=True)
class Disturbance:
    """``spans``: where the harness was late, or lost sound on its way to the user; sorted and disjoint, in samples.

    ``unjudged``: the kinds of faults that cannot be told on this line.
    """

    spans: tuple[Span, ...]
    unjudged: frozenset[FindingKind]

    @classmethod
    def of(cls, record: CallRecord) -> Disturbance:
        """Read it off the timeline."""
        whole = (
            text_of(event.data, "kind")
            for event in record.of_kind("impaired")
            if event.data.get("direction") == "to_user" and event.data.get("frame") is None
        )
        unjudged = frozenset().union(*(MADE_BY.get(kind, frozenset()) for kind in whole))
        return cls(tuple(joined([*_stalls(record), *_lost(record)])), unjudged)

    def excuses(self, start: int, end: int) -> bool:
        """Whether something was late or lost in a stretch, by the harness's own doing."""
        index = bisect_right(self.spans, start, key=lambda span: span.offset)
        return index < len(self.spans) and self.spans[index].onset < end


def _stalls(record: CallRecord) -> Iterator[Span]:
    for event in record.of_kind("stall"):
        duration = event.data.get("duration")
        seconds = duration if isinstance(duration, int | float) else 0.0
        yield Span(event.at, event.at + round((seconds + _STALL_TAIL) * record.rate))


def _lost(record: CallRecord) -> Iterator[Span]:
    for event in record.of_kind("impaired"):
        if event.data.get("direction") == "to_user" and event.data.get("frame") is not None:
            yield Span(event.at, event.at + integer(event.data, "samples", 0))
