"""What went over a transport, in order, with times: the first thing to read when a test failed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from voiceharness.scripted.calls import SendAudioCall

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from voiceharness.scripted.calls import RealtimeCall

__all__ = ["Timeline", "TimelineEntry"]


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """One thing that went out or came in; ``at`` in seconds of the loop's time, where a loop ran."""

    at: float | None
    direction: Literal["out", "in", "note"]
    name: str
    size: int | None = None


@dataclass(frozen=True, slots=True)
class Timeline:
    """Outbound calls and inbound events, names and sizes only; ``str()`` of it is text."""

    entries: tuple[TimelineEntry, ...]

    @classmethod
    def merge(cls, calls: Sequence[RealtimeCall], others: Sequence[tuple[int, TimelineEntry]]) -> Timeline:
        """Put calls and other entries in order; each of those comes with the number of calls made before it."""
        entries: list[TimelineEntry] = []
        made = 0
        for before, entry in others:
            entries += map(_call_entry, calls[made:before])
            entries.append(entry)
            made = before
        return cls((*entries, *map(_call_entry, calls[made:])))

    def first(self, name: str, *, after: float = float("-inf")) -> TimelineEntry | None:
        """Return the first entry of this name at or after a time in seconds."""
        return next((item for item in self.entries if item.name == name and (item.at or 0.0) >= after), None)

    def latency(self, start: str, end: str, *, after: float = float("-inf")) -> float | None:
        """Return the seconds from the first ``start`` to the first ``end`` behind it; None if either is missing.

        ``latency("interrupt", "audio_interrupted")`` is how long the agent took to notice an interruption.
        """
        first = self.first(start, after=after)
        if first is None:
            return None
        begun = first.at or 0.0
        last = self.first(end, after=begun)
        return None if last is None else (last.at or 0.0) - begun

    def __str__(self) -> str:
        """One line for each entry; a run of one kind of audio is one line."""
        return "\n".join(_line(run) for run in _runs(self.entries)) or "nothing was sent or received"


def _call_entry(call: RealtimeCall) -> TimelineEntry:
    return TimelineEntry(call.at, "out", call.method, len(call.audio) if isinstance(call, SendAudioCall) else None)


def _runs(entries: Sequence[TimelineEntry]) -> Iterator[list[TimelineEntry]]:
    run: list[TimelineEntry] = []
    for entry in entries:
        if run and entry.size is not None and (entry.direction, entry.name) == (run[-1].direction, run[-1].name):
            run.append(entry)
            continue
        if run:
            yield run
        run = [entry]
    if run:
        yield run


def _line(run: list[TimelineEntry]) -> str:
    first, last = run[0], run[-1]
    arrow = {"out": "->", "in": "<-", "note": "--"}[first.direction]
    text = f"{_seconds(first.at)} {arrow} {first.name}"
    if first.size is not None:
        text += f", {sum(item.size or 0 for item in run)} bytes"
    if len(run) > 1:
        text += f" in {len(run)}, until {_seconds(last.at).strip()}"
    return text


def _seconds(at: float | None) -> str:
    return f"{'-':>10}" if at is None else f"{at:10.3f}"
