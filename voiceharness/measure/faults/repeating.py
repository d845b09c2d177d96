"""An agent that repeats itself: the same answer twice, or the same prompt again and again."""

from __future__ import annotations

from bisect import bisect_right
from itertools import groupby
from typing import TYPE_CHECKING, Final

import numpy as np

from voiceharness.audio.edges import Span, speech_edges
from voiceharness.measure.finding import Finding, finding, moment
from voiceharness.measure.playout import Playout
from voiceharness.measure.utterances import text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from voiceharness.line.record import CallRecord
    from voiceharness.measure.metrics import Metrics

__all__ = ["DETECTORS", "double_answer", "repeated_prompt"]

AGAIN_WITHIN: Final = 2.0
"""Seconds of silence after which saying the same again is a reminder, not a second answer."""

IN_A_ROW: Final = 3
"""How often the same has to be said, while the user answers each time, to be a prompt that repeats."""

_LEAST: Final = 0.5
_SAME_LENGTH: Final = (0.03, 0.02)
_ALIKE: Final = 0.9
_HEAD: Final = 0.4
_SHIFT: Final = 0.01
_ENOUGH_HZ: Final = 8000


def double_answer(record: CallRecord, metrics: Metrics) -> Iterator[Finding]:
    """The same was said twice in a row, though the user had said nothing in between."""
    for spans in _answers(metrics, _pieces(record, metrics)):
        found = _first_double(record, spans)
        if found is not None:
            first, second = found
            yield finding(
                "double_answer",
                second,
                len(second) / record.rate,
                "s",
                f"what the agent had said from {moment(record, first.onset)} to {moment(record, first.offset)} it said "
                f"again at {moment(record, second.onset)}, though the user had said nothing in between",
            )


def repeated_prompt(record: CallRecord, metrics: Metrics) -> Iterator[Finding]:
    """The same was said again and again, whatever the user answered."""
    row: list[list[Span]] = []
    for said in _answers(metrics, [turn.span for turn in metrics.agent_turns]):
        if row and _all_alike(record, row[-1], said):
            row.append(said)
            continue
        yield from _repeated(record, row)
        row = [said]
    yield from _repeated(record, row)


def _repeated(record: CallRecord, row: list[list[Span]]) -> Iterator[Finding]:
    if len(row) >= IN_A_ROW:
        where = Span(row[0][0].onset, row[-1][-1].offset)
        yield finding(
            "repeated_prompt",
            where,
            len(row),
            "turns",
            f"from {moment(record, where.onset)} to {moment(record, where.offset)} the agent said the same "
            f"{len(row)} times, whatever the user answered",
            severity="warning",
        )


def _answers(metrics: Metrics, spans: Iterable[Span]) -> Iterator[list[Span]]:
    """What the agent said, cut where the user had said something."""
    said = sorted(utterance.offset for utterance in metrics.utterances)
    return (list(group) for _, group in groupby(spans, key=lambda span: bisect_right(said, span.onset)))


def _pieces(record: CallRecord, metrics: Metrics) -> list[Span]:
    """What was said as one: items, where all have names, else turns."""
    heard = Playout(record.arrivals).heard
    if not heard or any(arrival.item is None for arrival in heard):
        return [turn.span for turn in metrics.agent_turns]
    runs = (list(run) for _, run in groupby(heard, key=lambda arrival: arrival.item))
    return [Span(run[0].start, run[-1].start + run[-1].heard) for run in runs]


def _first_double(record: CallRecord, spans: list[Span]) -> tuple[Span, Span] | None:
    """Find something, of one piece or several, that is said twice without a long pause in between."""
    for size in range(1, len(spans) // 2 + 1):
        for start in range(len(spans) - 2 * size + 1):
            first, second = spans[start : start + size], spans[start + size : start + 2 * size]
            silent = second[0].onset - first[-1].offset
            if silent <= AGAIN_WITHIN * record.rate and _all_alike(record, first, second):
                return Span(first[0].onset, first[-1].offset), Span(second[0].onset, second[-1].offset)
    return None


def _all_alike(record: CallRecord, first: list[Span], second: list[Span]) -> bool:
    """Whether two answers are the same: the same words where they are known, else the same sounds."""
    words = _words(record, first)
    if len(words) > 1:
        return words == _words(record, second)
    return len(first) == len(second) and all(_alike(record, *pair) for pair in zip(first, second, strict=True))


def _alike(record: CallRecord, first: Span, second: Span) -> bool:
    """Whether two stretches of the agent's track are as long as each other, and begin with the same sound."""
    least, share = _SAME_LENGTH
    if min(len(first), len(second)) < _LEAST * record.rate:
        return False
    if abs(len(first) - len(second)) > max(least * record.rate, share * len(first)):
        return False
    heads = _head(record, first), _head(record, second)
    return len(heads[0]) == len(heads[1]) and _same_sound(*heads, round(_SHIFT * _rate(record)))


def _words(record: CallRecord, spans: list[Span]) -> list[str]:
    start, end = spans[0].onset, spans[-1].offset
    heard = (event for event in record.of_kind("word_heard") if start < event.at <= end)
    return [text_of(event.data, "text").lower() for event in heard]


def _head(record: CallRecord, span: Span) -> NDArray[np.float64]:
    """The first sound of a stretch."""
    edges = speech_edges(record.agent[span.onset : span.offset], record.rate)
    start = span.onset + (edges.onset if edges else 0)
    end = min(start + round(_HEAD * record.rate), span.offset)
    return record.agent[start : end : record.rate // _rate(record)].astype(np.float64)


def _rate(record: CallRecord) -> int:
    """The rate at which sounds are compared; no more is needed."""
    return record.rate // max(1, record.rate // _ENOUGH_HZ)


def _same_sound(first: NDArray[np.float64], second: NDArray[np.float64], shift: int) -> bool:
    """Whether two sounds of a length are the same, up to a shift of their edges."""
    inner = second[shift:-shift]
    windows = np.lib.stride_tricks.sliding_window_view(first, len(inner))
    norms = np.sqrt(np.einsum("ij,ij->i", windows, windows) * (inner @ inner)) + 1.0
    return bool(np.max(windows @ inner / norms) >= _ALIKE)


DETECTORS: Final = (double_answer, repeated_prompt)
