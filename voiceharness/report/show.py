"""A saved call as a picture in text: both tracks on one time line, and what happened when."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from voiceharness.report.agent_words import words_text
from voiceharness.report.event_data import event_data
from voiceharness.report.printable import fitted
from voiceharness.report.waveform import ASCII_LEVELS, BLOCKS, waveform

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from voiceharness.line.record import CallRecord, EventKind, TimelineEvent
    from voiceharness.measure.metrics import Metrics
    from voiceharness.report.agent_words import AgentWords

__all__ = ["timeline_text"]

_NARROWEST: Final = 40
_WIDEST: Final = 240
_LABEL: Final = "agent "
_SECONDS_PER_ROW: Final = 20.0
_TICKS: Final = (0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600)
_TICK_SPACE: Final = 8

_PINS: Final[Mapping[EventKind, str]] = {
    "barge_in": "!",
    "interrupt_signal": "i",
    "flush": "x",
    "mark_played": "m",
    "digit_sent": "#",
    "digit_received": "#",
    "protocol_fault": "?",
    "stall": "z",
    "fault": "?",
    "hangup": "]",
}
"""One sign for each kind of event that is worth a look; a later one covers an earlier one in the same column."""

_LISTED: Final = frozenset({*_PINS, "answered", "step_started", "truncation_claimed"})


def timeline_text(
    record: CallRecord,
    metrics: Metrics,
    *,
    words: Iterable[AgentWords] = (),
    width: int = 80,
    ascii_only: bool = False,
    events: bool = True,
) -> str:
    """Draw a call no wider than ``width`` characters (at least 40), with a list of its turns and events below.

    ``words`` are those of the agent's turns. Long calls take several rows. ``ascii_only`` draws without block
    characters. Ends with a line feed.
    """
    picture = _Picture.of(record, min(max(width, _NARROWEST), _WIDEST), ascii_only)
    lines = [line for row in range(picture.rows) for line in picture.row(row)]
    if events:
        lines += ["", *_moments(record, metrics, words)]
    legend = ", ".join(f"{sign} {kind}" for kind, sign in _used_pins(record).items())
    if legend:
        lines += ["", f"({legend})"]
    limit, more = max(width, _NARROWEST), "..." if ascii_only else "…"
    return "".join(f"{fitted(line, limit, more=more)}\n" for line in lines)


@dataclass(frozen=True, slots=True)
class _Picture:
    """The rows of a drawing; ``samples`` are those of one column."""

    record: CallRecord
    columns: int
    samples: float
    rows: int
    levels: str

    @classmethod
    def of(cls, record: CallRecord, width: int, ascii_only: bool) -> _Picture:
        columns = width - len(_LABEL)
        rows = max(1, math.ceil(record.duration / _SECONDS_PER_ROW))
        samples = max(1.0, len(record.user) / rows / columns)
        return cls(record, columns, samples, rows, ASCII_LEVELS if ascii_only else BLOCKS)

    def row(self, row: int) -> Iterator[str]:
        """Draw one row: ruler, user, agent, and pins if there are any."""
        start, end = (round(edge * self.columns * self.samples) for edge in (row, row + 1))
        yield " " * len(_LABEL) + self._ruler(start)
        for label, track in (("user", self.record.user), ("agent", self.record.agent)):
            drawn = waveform(track[start:end], self._filled(start, end), levels=self.levels)
            yield f"{label:<{len(_LABEL)}}{drawn}".rstrip()
        if pins := self._pins(start, end):
            yield " " * len(_LABEL) + pins

    def _filled(self, start: int, end: int) -> int:
        present = min(end, len(self.record.user)) - start
        return min(self.columns, max(0, math.ceil(present / self.samples)))

    def _ruler(self, start: int) -> str:
        seconds_per_column = self.samples / self.record.rate
        tick = next((tick for tick in _TICKS if tick / seconds_per_column >= _TICK_SPACE), _TICKS[-1])
        ruler = [" "] * self.columns
        first = math.ceil(start / self.record.rate / tick)
        for number in range(first, first + self.columns):
            text = f"|{number * tick:g}"
            column = round((number * tick * self.record.rate - start) / self.samples)
            if column + len(text) > self.columns:
                break
            ruler[column : column + len(text)] = text
        return "".join(ruler).rstrip()

    def _pins(self, start: int, end: int) -> str:
        pins = [" "] * self.columns
        last = end == round(self.rows * self.columns * self.samples)
        for event in self.record.events:
            if event.kind in _PINS and (start <= event.at < end or (last and event.at >= end)):
                pins[min(int((event.at - start) / self.samples), self.columns - 1)] = _PINS[event.kind]
        return "".join(pins).rstrip()


def _moments(record: CallRecord, metrics: Metrics, words: Iterable[AgentWords]) -> list[str]:
    """List turns and events in time order, one in a line, with their time in seconds."""
    moments = [*_turns(metrics, words), *_events(record.events)]
    moments.sort(key=lambda moment: moment[0])
    return [f"{at / record.rate:9.3f}  {text}" for at, text in moments]


def _turns(metrics: Metrics, words: Iterable[AgentWords]) -> Iterator[tuple[int, str]]:
    said = {each["turn"]: f"  {words_text(each)}" for each in words}
    latencies = {exchange.answer: exchange.latency for exchange in metrics.exchanges if exchange.answer is not None}
    for turn in metrics.user_turns:
        yield turn.onset, f"user   to {turn.offset / metrics.rate:.3f}  {turn.text}".rstrip()
    for index, turn in enumerate(metrics.agent_turns):
        latency = latencies.get(index)
        answer = "" if latency is None else f"  response_latency {latency:.3f} s"
        yield turn.onset, f"agent  to {turn.offset / metrics.rate:.3f}{answer}{said.get(index, '')}"


def _events(events: Iterable[TimelineEvent]) -> Iterator[tuple[int, str]]:
    for event in events:
        if event.kind in _LISTED:
            yield event.at, "  ".join((event.kind, *event_data(event)))


def _used_pins(record: CallRecord) -> dict[EventKind, str]:
    present = {event.kind for event in record.events}
    return {kind: sign for kind, sign in _PINS.items() if kind in present}
