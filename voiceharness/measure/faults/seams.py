"""Clicks: the sound jumps where one chunk meets the next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from voiceharness.audio.edges import Span
from voiceharness.measure.finding import Finding, finding, moment
from voiceharness.measure.playout import Playout

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from voiceharness.line.record import CallRecord
    from voiceharness.measure.metrics import Metrics

__all__ = ["DETECTORS", "clicks_at_seams"]

CLICKS: Final = (3, 0.1)
"""How many seams of a turn click, at least, and which share of them."""

_ROOM: Final = 0.01
_DAMAGE: Final = 0.00275
_SHARPER: Final = 2.0
_LEAST_BEND: Final = 500.0


def clicks_at_seams(record: CallRecord, metrics: Metrics) -> Iterator[Finding]:
    """The sound jumps where one chunk meets the next, again and again."""
    playout = Playout(record.arrivals)
    for turn in metrics.agent_turns:
        seams = _seams(playout, turn.span, record)
        if len(seams) < CLICKS[0]:
            continue
        clicks = seams[_jumps(record.agent, seams, record.rate)]
        if len(clicks) >= max(CLICKS[0], CLICKS[1] * len(seams)):
            where = Span(int(clicks[0]), int(clicks[-1]) + 1)
            yield finding(
                "clicks_at_seams",
                where,
                len(clicks),
                "clicks",
                f"the sound jumps at {len(clicks)} of {len(seams)} places where chunks meet, from "
                f"{moment(record, where.onset)} to {moment(record, where.offset)}",
            )


def _seams(playout: Playout, turn: Span, record: CallRecord) -> NDArray[np.intp]:
    """Where a chunk follows another without a hole, with room for a comparison on both sides."""
    room = round(_ROOM * record.rate)
    between = playout.between(turn.onset + room, min(turn.offset, len(record.agent)) - room)
    holes = {hole.offset for hole in playout.holes(turn.onset, turn.offset)}
    return np.array([arrival.start for arrival in between if arrival.start not in holes], np.intp)


def _jumps(track: NDArray[np.int16], seams: NDArray[np.intp], rate: int) -> NDArray[np.bool_]:
    """Whether the sound bends at a seam, or in the 2.75 ms after it, far more sharply than elsewhere within 10 ms.

    That long the damage of a stray header of 22 samples lasts; a step is one sample long.
    """
    room, damage = round(_ROOM * rate), round(_DAMAGE * rate)
    around = track[seams[:, None] + np.arange(-room, room)].astype(np.float64)
    bends = np.abs(np.diff(around, 2, axis=1))
    # A jump between samples n-1 and n bends the line at both; bend i is that of sample i+1.
    sharpest = bends[:, room - 2 : room + damage].max(axis=1)
    elsewhere = np.delete(bends, np.s_[room - 3 : room + damage + 1], axis=1).max(axis=1)
    return np.asarray(sharpest > np.maximum(_SHARPER * elsewhere, _LEAST_BEND), np.bool_)


DETECTORS: Final = (clicks_at_seams,)
