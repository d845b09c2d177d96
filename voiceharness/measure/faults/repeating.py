"""An agent that repeats itself: the same answer twice, or the same prompt again and again."""

from __future__ import annotations

from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from voiceharness.audio.edges import Span, speech_edges
from voiceharness.measure.finding import Finding, finding, moment
from voiceharness.measure.playout import Playout
from voiceharness.measure.utterances import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from voiceharness.line.record import CallRecord
    from voiceharness.measure.metrics import Metrics
    from voiceharness.measure.turns import Turn

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


def double_answer(record: CallRecord, metrics: Metrics) -> Iterator[Finding]:
    """The same was said twice in a row, though the user had said nothing in between."""
    for first, second in pairwise(_pieces(record, metrics)):
        silent = (second.onset - first.offset) / record.rate
        answered = any(first.onset <= said.offset <= second.onset for said in metrics.utterances)
        if silent <= AGAIN_WITHIN and not answered and _alike(record, first, second):
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
    row: list[Turn] = []
    for turn in metrics.agent_turns:
        if row and _answered(metrics, row[-1], turn) and _alike(record, row[-1].span, turn.span):
            row.append(turn)
            continue
        yield from _repeated(record, row)
        row = [turn]
    yield from _repeated(record, row)


def _repeated(record: CallRecord, row: list[Turn]) -> Iterator[Finding]:
    if len(row) >= IN_A_ROW:
        yield finding(
            "repeated_prompt",
            Span(row[0].onset, row[-1].offset),
            len(row),
            "turns",
            f"from {moment(record, row[0].onset)} to {moment(record, row[-1].offset)} the agent said the same "
            f"{len(row)} times, whatever the user answered",
            severity="warning",
        )


def _answered(metrics: Metrics, before: Turn, after: Turn) -> bool:
    return any(before.onset < user.offset <= after.onset for user in metrics.user_turns)


def _pieces(record: CallRecord, metrics: Metrics) -> Iterator[Span]:
    """The agent's turns, those that hold several items cut where one item follows another."""
    playout = Playout(record.arrivals)
    for turn in metrics.agent_turns:
        runs = groupby(playout.between(turn.onset, turn.offset), key=lambda arrival: arrival.item)
        starts = [next(run).start for _, run in runs]
        if len(starts) < 2:
            yield turn.span
            continue
        for low, high in pairwise([turn.onset, *starts[1:], turn.offset]):
            edges = speech_edges(record.agent[low:high], record.rate)
            if edges is not None:
                yield Span(low + edges.onset, low + edges.offset)


def _alike(record: CallRecord, first: Span, second: Span) -> bool:
    """Whether two stretches of the agent's track hold the same: the same words where they are known, or sound."""
    least, share = _SAME_LENGTH
    if min(len(first), len(second)) < _LEAST * record.rate:
        return False
    words = _words(record, first)
    if len(words) > 1:
        return words == _words(record, second)
    if abs(len(first) - len(second)) > max(least * record.rate, share * len(first)):
        return False
    return _same_sound(_head(record, first), _head(record, second), round(_SHIFT * record.rate))


def _words(record: CallRecord, span: Span) -> list[str]:
    heard = (event for event in record.of_kind("word_heard") if span.onset < event.at <= span.offset)
    return [text_of(event.data, "text").lower() for event in heard]


def _head(record: CallRecord, span: Span) -> NDArray[np.float64]:
    return record.agent[span.onset : span.onset + round(_HEAD * record.rate)].astype(np.float64)


def _same_sound(first: NDArray[np.float64], second: NDArray[np.float64], shift: int) -> bool:
    """Whether two sounds of a length are the same, up to a shift of their edges."""
    inner = second[shift:-shift]
    windows = np.lib.stride_tricks.sliding_window_view(first, len(inner))
    norms = np.sqrt(np.einsum("ij,ij->i", windows, windows) * (inner @ inner)) + 1.0
    return bool(np.max(windows @ inner / norms) >= _ALIKE)


DETECTORS: Final = (double_answer, repeated_prompt)
