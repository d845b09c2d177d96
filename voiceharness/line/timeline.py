"""What happened on a line, in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voiceharness.line.record import EventKind, TimelineEvent, Value

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Timeline"]


class Timeline:
    """Collects events; those that are known ahead of their time are put in their place when they are read."""

    def __init__(self) -> None:
        self._events: list[TimelineEvent] = []

    def note(self, at: int, kind: EventKind, /, **data: Value) -> None:
        """Note an event at a position."""
        self._events.append(TimelineEvent(at, kind, data))

    def until(self, end: int, more: Iterable[TimelineEvent] = ()) -> tuple[TimelineEvent, ...]:
        """Return the events up to a position, with ``more`` among them, in time order (ties: as they were noted)."""
        events = [event for event in (*self._events, *more) if event.at <= end]
        return tuple(sorted(events, key=lambda event: event.at))

    def last_kind(self) -> EventKind:
        """Return the kind of the event that was noted last."""
        return self._events[-1].kind
