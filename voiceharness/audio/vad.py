"""The harness's ear: where there is sound on a track, decided from its samples alone.

Theory of operation
-------------------
The track is measured in 5 ms windows. A window is *quiet* at -60 dB or below, and *loud* above the gate of -50 dB (RMS,
re full scale; A-law's silence is -72 dB). A *stretch* is a run of windows that are not quiet.

==========================================  =======================================================================
stretch                                     what counts as active in it
==========================================  =======================================================================
shorter than 2 s                            loud windows: the line is clean, so any sound counts, tones and clicks too
longer, in blocks of 2 s from its start:
  quietest window < -20 dB, level varies    10 ms frames that webrtcvad (mode 3) takes for speech: nobody speaks for
                                            2 s without a pause, so what fills the pauses is noise of the line
  otherwise                                 loud windows: music too loud to be a line's noise, or a pure tone, whose
                                            windows (5th to 95th percentile) are within 0.8 dB of each other
  the rest, under 2 s                       as the block before it
==========================================  =======================================================================

Active windows less than ``merge_gap`` apart form one segment; its edges are then found at its own level (`edges`)
wherever the sound around it falls more than 35 dB below its peak. Otherwise the edges are webrtcvad's own.

`Ear` does this as samples arrive. What is *settled* never changes: stretches that ended, blocks that are complete, and
segments followed by enough silence. The open rest is judged again on each question, so the answers depend only on the
samples so far, never on how they were cut in chunks. Truncating drops what was decided beyond the cut and goes back to
the start of the stretch that was cut.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np
import webrtcvad

from voiceharness.audio.edges import EDGE_DB, QUIET_DB, Span, Windows, speech_edges, utterance_edges
from voiceharness.errors import AudioError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["MERGE_GAP", "RATES", "Ear", "Span", "find_segments", "speech_edges", "utterance_edges"]

MERGE_GAP = 0.2
"""Seconds of silence below which two sounds belong to one segment."""

RATES = (8000, 16000, 32000, 48000)
"""Sample rates that webrtcvad takes, in Hz."""

_GATE_DB = -50.0
_LOUD_FLOOR_DB = -20.0
_TONE_DB = 0.8
_ABOVE_NOISE_DB = 8.0
_BLOCK = 2.0
_REACH = 0.1
_BURST_GAP = 0.02
_VAD_MODE = 3
_FRAMES_PER_SECOND = 100
_WINDOWS_PER_FRAME = 2

_Group = tuple[int, int]
"""First window and end of a group of active windows."""

_Number = TypeVar("_Number", bound=np.generic)


def find_segments(samples: NDArray[np.int16], rate: int, merge_gap: float = MERGE_GAP) -> list[Span]:
    """Find the segments of sound in a whole track, in order.

    Raises:
        AudioError: if the rate is none of `RATES`, or the detector fails.
    """
    ear = Ear(rate, merge_gap)
    ear.feed(samples)
    return ear.segments()


class Ear:
    """Listen to one track as it grows; answers are those of `find_segments` on all samples fed so far."""

    def __init__(self, rate: int, merge_gap: float = MERGE_GAP) -> None:
        """Start at sample 0 of a track; ``merge_gap`` is in seconds.

        Raises:
            AudioError: if the rate is none of `RATES`.
        """
        if rate not in RATES:
            raise AudioError(f"cannot listen at {rate} Hz; resample to one of {', '.join(map(str, RATES))}")
        self.rate = rate
        self.position = 0
        """Samples fed so far."""
        self._windows = Windows(rate)
        levels = (QUIET_DB, _GATE_DB, _LOUD_FLOOR_DB)
        self._quiet, self._gate, self._loud_floor = map(self._windows.power, levels)
        self._block, self._reach = self._windows.count(_BLOCK), self._windows.count(_REACH)
        self._merge = self._windows.count(merge_gap)
        self._samples = np.zeros(rate, np.int16)
        self._powers = np.zeros(self._windows.count(1.0), np.float64)
        self._active = np.zeros(self._windows.count(1.0), np.bool_)
        self._measured = 0  # windows whose power is final
        self._settled = 0  # windows whose activity is final: up to here a stretch ended, or a block of it is complete
        self._long: _LongStretch | None = None  # the open stretch, once a block of it is settled
        self._closed: list[Span] = []
        self._groups: list[_Group] = []  # of the closed segments
        self._open: list[Span] | None = None  # the segments after them, until the track changes

    def feed(self, samples: NDArray[np.int16]) -> None:
        """Append samples to the track."""
        end = self.position + len(samples)
        self._samples = _grown(self._samples, end)
        self._samples[self.position : end] = samples
        self.position, self._open = end, None

    def feed_silence(self, samples: int) -> None:
        """Append digital silence of a length in samples."""
        self.position, self._open = self.position + samples, None
        self._samples = _grown(self._samples, self.position)

    def truncate(self, position: int) -> None:
        """Cut the track at a position in samples and forget what was decided beyond it.

        Raises:
            AudioError: if the track does not reach that far.
        """
        if not 0 <= position <= self.position:
            raise AudioError(f"cannot cut at sample {position} a track of {self.position} samples")
        self._samples[position : self.position] = 0
        self.position, self._open = position, None
        self._measured = min(self._measured, position // self._windows.size)
        if self._measured < self._settled or self._long:
            before = np.flatnonzero(self._powers[: self._measured] <= self._quiet)
            self._settled, self._long = int(before[-1]) + 1 if len(before) else 0, None
        while self._groups and not self._is_closed(self._groups[-1]):
            self._groups.pop()
            self._closed.pop()

    def segments(self) -> list[Span]:
        """Segments heard so far, in order; the last may still grow, and its onset move with its level."""
        if self._open is None:
            known = self._judge()
            start = self._groups[-1][1] if self._groups else 0
            groups = _merged(self._active[start:known], start, self._merge)
            spans = self._refined(groups, start, known)
            closed = sum(map(self._is_closed, groups))
            self._groups += groups[:closed]
            self._closed += spans[:closed]
            self._open = spans[closed:]
        return self._closed + self._open

    def bursts(self, since: int = 0) -> list[Span]:
        """Sounds at or after a position, joined only over pauses under 20 ms: what merging into segments would hide."""
        known = self._judge()
        start = since // self._windows.size
        groups = _merged(self._active[start:known], start, self._windows.count(_BURST_GAP))
        return self._refined(groups, start, known)

    def _is_closed(self, group: _Group) -> bool:
        """Whether enough is settled after a group of windows that neither it nor its edges can change."""
        return group[1] + max(self._merge, self._reach) <= self._settled

    def _judge(self) -> int:
        """Bring the activity of all windows up to date and return their number, a last incomplete one included."""
        whole, rest = divmod(self.position, self._windows.size)
        known = whole + (rest > 0)
        self._samples = _grown(self._samples, known * self._windows.size)
        self._powers, self._active = _grown(self._powers, known), _grown(self._active, known)
        fresh = self._samples[self._measured * self._windows.size : known * self._windows.size]
        self._powers[self._measured : known] = self._windows.measure(fresh)
        self._measured = whole
        self._active[self._settled : known] = self._powers[self._settled : known] > self._gate
        if self._settled < whole:
            self._judge_stretches(whole)
        if rest and self._long and self._long.noisy:
            self._active[whole] = False
        return known

    def _judge_stretches(self, end: int) -> None:
        """Settle every stretch that ended, and the complete blocks of the one that is open at ``end``."""
        start, carried = self._settled, self._long
        self._settled, self._long = end, None
        sounding = self._powers[start:end] > self._quiet
        if not sounding.any():
            return
        for first, last in (_runs(sounding) + start).tolist():
            stretch = carried if first == start else None
            rest = first
            if stretch or last - first >= self._block:
                stretch = stretch or _LongStretch(self.rate)
                rest = self._judge_blocks(stretch, first, last)
            if last == end:
                self._settled, self._long = rest, stretch

    def _judge_blocks(self, stretch: _LongStretch, first: int, last: int) -> int:
        """Decide the windows of a long stretch; returns where its incomplete last block begins."""
        for block in range(first, last - self._block + 1, self._block):
            stretch.noisy = self._is_noise(self._powers[block : block + self._block])
            self._listen(stretch, block, block + self._block)
        rest = last - (last - first) % self._block
        self._listen(stretch, rest, last)
        return rest

    def _is_noise(self, powers: NDArray[np.float64]) -> bool:
        """Whether a block that is never quiet has a noise floor, rather than one loud or perfectly steady sound."""
        levels = np.sort(powers)
        tail = len(levels) // 20
        steady = levels[-tail] < levels[tail] * 10 ** (_TONE_DB / 10)
        return bool(levels[0] < self._loud_floor) and not steady

    def _listen(self, stretch: _LongStretch, first: int, last: int) -> None:
        """Decide a block of a long stretch by its mode; loud windows are marked already."""
        if not stretch.noisy:
            stretch.forget()
        elif first < last:
            size, powers = self._windows.size, self._powers[first:last]
            speech = stretch.speech(self._samples[first * size : last * size], first, last)
            # Bumps in the noise are not speech: a run of speech frames must rise out of it somewhere.
            limit = float(powers.min()) * 10 ** (_ABOVE_NOISE_DB / 10)
            for start, end in _runs(speech).tolist():
                speech[start:end] = powers[start:end].max() > limit
            self._active[first:last] = speech

    def _refined(self, groups: list[_Group], start: int, known: int) -> list[Span]:
        """Find the edges of groups of active windows; each may reach out to the ends of its neighbours."""
        before = [start, *(end for _, end in groups)]
        after = [*(first for first, _ in groups[1:]), known]
        return [self._edges(*group, low, high) for group, low, high in zip(groups, before, after, strict=False)]

    def _edges(self, first: int, end: int, low: int, high: int) -> Span:
        low, high = max(first - self._reach, low), min(end + self._reach, high)
        size = self._windows.size
        around = self._powers[low:high]
        peak, floor = float(self._powers[first:end].max()), float(around.min())
        limit = peak / 10 ** (EDGE_DB / 10)
        if floor > limit:
            return Span(first * size, min(end * size, self.position))
        limit = max(limit, floor * 10 ** (_ABOVE_NOISE_DB / 10), self._quiet)
        found = self._windows.edges(self._samples[low * size : high * size], around, limit)
        return Span(found.onset + low * size, found.offset + low * size)


class _LongStretch:
    """What is known of a stretch of more than 2 s: whether its last block was noisy, and what webrtcvad found."""

    def __init__(self, rate: int) -> None:
        self.noisy = False
        self._rate = rate
        self._detector: webrtcvad.Vad | None = None
        self._origin = 0
        self._speech: list[bool] = []  # of each frame since the window ``_origin``

    def forget(self) -> None:
        """Listen with a fresh detector from the next noisy block on."""
        self._detector = None

    def speech(self, samples: NDArray[np.int16], first: int, end: int) -> NDArray[np.bool_]:
        """Which windows from ``first`` to ``end`` are speech; earlier calls covered everything before ``first``."""
        if self._detector is None:
            self._detector, self._origin = webrtcvad.Vad(_VAD_MODE), first
            # A fresh detector takes the first 50 ms of any noise for speech: let it hear the block once before.
            self._speech = self._hear(self._detector, samples)[:0]
        size = len(samples) // (end - first)
        done = self._origin + _WINDOWS_PER_FRAME * len(self._speech)
        self._speech += self._hear(self._detector, samples[(done - first) * size :])
        flags = np.zeros(end - first, np.bool_)
        known = np.repeat(self._speech[(first - self._origin) // _WINDOWS_PER_FRAME :], _WINDOWS_PER_FRAME)
        flags[: len(known)] = known
        return flags

    def _hear(self, detector: webrtcvad.Vad, samples: NDArray[np.int16]) -> list[bool]:
        pcm, frame = samples.tobytes(), 2 * (self._rate // _FRAMES_PER_SECOND)
        starts = range(0, len(pcm) - frame + 1, frame)
        try:
            return [detector.is_speech(pcm[start : start + frame], self._rate) for start in starts]
        except Exception as error:  # webrtcvad has no public error class
            raise AudioError(f"webrtcvad failed on a frame of {frame // 2} samples at {self._rate} Hz") from error


def _runs(flags: NDArray[np.bool_]) -> NDArray[np.intp]:
    """First and end index of each run of True, one run per row."""
    padded = np.zeros(len(flags) + 2, np.bool_)
    padded[1:-1] = flags
    changes: NDArray[np.intp] = (padded[1:] != padded[:-1]).nonzero()[0]
    return changes.reshape(-1, 2)


def _merged(active: NDArray[np.bool_], start: int, gap: int) -> list[_Group]:
    """Join the runs of active windows that are less than ``gap`` windows apart; indices count from ``start``."""
    if not active.any():
        return []
    runs = _runs(active) + start
    split = np.flatnonzero(runs[1:, 0] - runs[:-1, 1] >= gap)
    firsts = runs[np.concatenate(([0], split + 1)), 0]
    ends = runs[np.concatenate((split, [len(runs) - 1])), 1]
    return list(zip(firsts.tolist(), ends.tolist(), strict=True))


def _grown(array: NDArray[_Number], size: int) -> NDArray[_Number]:
    """The array, or a copy of at least ``size`` (and doubled) with zeros after its content."""
    if size <= len(array):
        return array
    larger = np.zeros(max(size, 2 * len(array)), array.dtype)
    larger[: len(array)] = array
    return larger
