"""What is known of an event of the timeline, as a person reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from voiceharness.line.record import TimelineEvent, Value

__all__ = ["event_data"]


def event_data(event: TimelineEvent) -> Iterator[str]:
    """Write all that is known of an event under the names of the timeline.

    Steps count from 1, as everywhere that a person reads; in the timeline itself they are indices, from 0.
    """
    for name, value in event.data.items():
        if value not in (None, ""):
            yield f"{name} {_counted(name, value)}"


def _counted(name: str, value: Value) -> Value:
    return value + 1 if name == "step" and isinstance(value, int) else value
