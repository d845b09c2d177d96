"""The evidence of a call: two tracks and a timeline on one sample clock.

Everything that is reported about a call is computed from a :class:`CallRecord`, during the call and again from its
saved form. Position 0 is the moment the call was answered; all positions are samples at the line's rate.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

__all__ = ["Arrival", "CallRecord", "EventKind", "TimelineEvent", "Value"]

Value: TypeAlias = "str | int | float | bool | None"

EventKind = Literal[
    "answered",  # direction
    "user_utterance",  # onset, offset, start, end, source (say, interrupt), step, text, intent
    "agent_onset",  # as decided during the call; the segments of the recording are the measure
    "agent_offset",
    "barge_in",  # asked, via, signalled, word_source, step, phase as seen live: speaking, silent
    "interrupt_signal",
    "flush",  # cut (samples removed from the queue)
    "mark",  # name, due
    "mark_played",  # name, flushed
    "digit_sent",  # digit, method, duration
    "digit_received",  # digit, method, duration
    "word_heard",  # text, start, end (positions), item, source, estimated
    "turn_done",  # item
    "state_claimed",  # state
    "truncation_claimed",  # item, heard
    "history_claimed",  # item, text
    "protocol_fault",  # kind, detail
    "media",  # state (started, stopped), detail: of a transport whose media is not open all the call
    "media_trouble",  # kind, detail, figure, unit, duration: it began that many seconds before
    "impaired",  # what the harness did to the line: kind, direction, frame (None: the whole call), samples, detail
    "stall",  # duration: the harness's own loop was late
    "step_started",  # step, name
    "step_ended",  # step, name, outcome
    "hangup",  # by (agent, user, limit, transport), reason, code
    "sent_after_end",  # messages: how many the agent sent after the call had ended
    "fault",  # error, message
]


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """Something that happened at sample ``at``; ``data`` holds plain values, named beside each kind above."""

    at: int
    kind: EventKind
    data: Mapping[str, Value] = field(default_factory=lambda: NO_DATA)


NO_DATA: Final[Mapping[str, Value]] = MappingProxyType({})


class Arrival(NamedTuple):
    """Agent audio as it was received, and where the playout put it.

    ``at``: position on arrival; ``start``: position of its first sample on the agent's track; ``samples``: its length;
    ``heard``: how many of those were heard (fewer after a flush or the end of the call).
    """

    at: int
    start: int
    samples: int
    heard: int
    item: str | None


@dataclass(frozen=True, slots=True, eq=False)
class CallRecord:
    """What was heard on a line. ``user`` and ``agent`` are int16 tracks of equal length; events are in time order.

    ``received`` is all agent audio as it came, piece after piece: what was sent, whether it was heard or not.
    """

    rate: int
    user: NDArray[np.int16]
    agent: NDArray[np.int16]
    events: tuple[TimelineEvent, ...] = ()
    arrivals: tuple[Arrival, ...] = ()
    received: NDArray[np.int16] = field(default_factory=lambda: np.zeros(0, np.int16))

    def of_kind(self, *kinds: EventKind) -> Iterator[TimelineEvent]:
        """Iterate over the events of some kinds, in time order."""
        return (event for event in self.events if event.kind in kinds)

    @property
    def duration(self) -> float:
        """Length of the call in seconds."""
        return len(self.user) / self.rate
