"""The tones that are heard on a track: how high each is, where it begins and where it ends.

Theory of operation
-------------------
Frames of 100 ms, tapered and 25 ms apart, are taken apart into frequencies. A frame is *tonal* if its strongest one or
two frequencies, within 6 dB of each other, hold half of its energy: so noise may come within 3 dB of the tone. A
frequency that stands still over five frames is a tone; the pitch of a voice hardly ever does. Brought down to 0 Hz and
smoothed over 50 ms, a tone is its own envelope, and its edges are where that passes half of its height: there the edge
is in the middle of the smoothing window. Interruptions of up to 30 ms do not end a tone. Its frequency is that of its
whole length.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from voiceharness.audio.edges import QUIET_DB, Span
from voiceharness.measure.spans import joined
from voiceharness.measure.tones import peak_place

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

__all__ = ["LOWEST_HZ", "SHORTEST_TONE", "HeardTone", "find_tones"]

SHORTEST_TONE: Final = 0.1
"""Seconds that a tone lasts at least; shorter ones are not told from the sounds of speech."""

LOWEST_HZ: Final = 40.0
"""The lowest tone that is looked for; what is below is hum."""

_FRAME: Final = 0.1
_HOP: Final = 0.025
_AT_ONCE: Final = 256
_LOBE_HZ: Final = 2 / _FRAME
_PURITY: Final = 0.5
_EQUAL: Final = 10 ** (-6 / 10)
_STILL_HZ: Final = 1.0
_STILL: Final = 0.001
_LEAST_FRAMES: Final = 5
_SMOOTHING: Final = 0.05
_BRIDGED: Final = 0.03
_PLATEAU: Final = 90
_MARGIN: Final = 0.01


@dataclass(frozen=True, slots=True)
class HeardTone:
    """A tone on a track at ``rate``: its frequency in Hz, and where it is, in samples."""

    hz: float
    onset: int
    offset: int
    rate: int

    @property
    def duration(self) -> float:
        """Seconds from its onset to its offset."""
        return (self.offset - self.onset) / self.rate


@dataclass(slots=True)
class _Trace:
    """A frequency that is followed from frame ``first`` to ``last``; ``hz`` is its mean over so many ``frames``."""

    first: int
    last: int
    hz: float
    frames: int = 1

    def goes_on(self, other: _Trace, most: int) -> bool:
        """Whether another trace has this frequency, and begins at most so many frames after the last one."""
        still = abs(other.hz - self.hz) <= max(_STILL_HZ, _STILL * self.hz)
        return still and other.first - self.last <= most

    def take(self, other: _Trace) -> None:
        """Go on with another trace."""
        frames = self.frames + other.frames
        self.hz += (other.hz - self.hz) * other.frames / frames
        self.frames, self.last = frames, max(self.last, other.last)


def find_tones(samples: NDArray[np.int16], rate: int) -> tuple[HeardTone, ...]:
    """Find the tones of at least 0.1 s in some sound, in the order of their onsets; two may sound at once.

    The frequency of a clean tone of a second is exact to 0.1 Hz, its edges to a few milliseconds.
    """
    tones = (tone for trace in _merged(_traces(samples, rate)) for tone in _measured(samples, rate, trace))
    return tuple(sorted(set(tones), key=lambda tone: (tone.onset, tone.hz)))


def _traces(samples: NDArray[np.int16], rate: int) -> list[_Trace]:
    """The frequencies that stand still for some frames."""
    done: list[_Trace] = []
    going: list[_Trace] = []
    for frame, heights in _tonal_frames(samples, rate):
        done += [trace for trace in going if trace.last < frame - 1]
        going = [trace for trace in going if trace.last >= frame - 1]
        _join(going, [_Trace(frame, frame, hz) for hz in heights], 1)
    return [trace for trace in done + going if trace.frames >= _LEAST_FRAMES]


def _join(traces: list[_Trace], more: Iterable[_Trace], most: int) -> None:
    """Let traces go on with others, where those begin at most so many frames after, or add them."""
    for each in more:
        before = next((trace for trace in traces if trace.goes_on(each, most)), None)
        if before is None:
            traces.append(each)
        else:
            before.take(each)


def _merged(traces: Iterable[_Trace]) -> list[_Trace]:
    """Join what is one frequency with less than a frame between: the envelope will tell whether it was one tone."""
    merged: list[_Trace] = []
    _join(merged, sorted(traces, key=lambda each: each.first), round(2 * _FRAME / _HOP))
    return merged


def _tonal_frames(samples: NDArray[np.int16], rate: int) -> Iterator[tuple[int, list[float]]]:
    """The number of each tonal frame, and its one or two frequencies; the first frame begins before the sound."""
    size, hop = round(_FRAME * rate), round(_HOP * rate)
    frames = sliding_window_view(np.pad(samples, size), size)[::hop]
    taper, length = np.hanning(size), 1 << size.bit_length()
    quiet = size * 32768.0**2 * 10 ** (QUIET_DB / 10)
    for first in range(0, len(frames), _AT_ONCE):
        block = frames[first : first + _AT_ONCE].astype(np.float64)
        audible = np.flatnonzero(np.einsum("ij,ij->i", block, block) > quiet)
        spectra = np.abs(np.fft.rfft(block[audible] * taper, length, axis=1)) ** 2
        for index, power in zip(audible, spectra, strict=True):
            heights = _heights(power, rate / length)
            if heights:
                yield first + int(index), heights


def _heights(power: NDArray[np.float64], bin_hz: float) -> list[float]:
    """The frequencies that hold a frame, at most two, out of its spectrum, which is used up; none if it is no tone."""
    power[: int(LOWEST_HZ / bin_hz)] = 0
    total, lobe = float(power.sum()), round(_LOBE_HZ / bin_hz)
    found: list[tuple[float, float]] = []
    for _ in range(2):
        peak = int(np.argmax(power))
        around = slice(max(0, peak - lobe), peak + lobe + 1)
        found.append((peak_place(power, peak) * bin_hz, float(power[around].sum())))
        power[around] = 0
    (first, strongest), (second, weaker) = found
    heights = [first, second] if weaker > _EQUAL * strongest else [first]
    held = strongest + weaker if len(heights) == 2 else strongest
    return heights if total > 0 and held >= _PURITY * total else []


def _measured(samples: NDArray[np.int16], rate: int, trace: _Trace) -> Iterator[HeardTone]:
    """The tones that a trace is made of: one for each stretch in which its envelope is at least half as high."""
    size, hop = round(_FRAME * rate), round(_HOP * rate)
    start = max(0, trace.first * hop - 2 * size)
    sound = samples[start : trace.last * hop + size].astype(np.float64)
    envelope = _envelope(sound, rate, trace.hz)
    first, last = (max(0, frame * hop - size // 2 - start) for frame in (trace.first, trace.last))
    middles = envelope[first : last + 1]
    loud = envelope >= np.percentile(middles, _PLATEAU) / 2
    edges = np.flatnonzero(np.diff(loud, prepend=False, append=False)).reshape(-1, 2)
    spans = [Span(int(onset), int(offset)) for onset, offset in edges]
    for span in joined(spans, round(_BRIDGED * rate)):
        if len(span) >= (SHORTEST_TONE - _MARGIN) * rate:
            hz = _exact(sound[span.onset : span.offset], rate, trace.hz)
            yield HeardTone(hz, start + span.onset, start + span.offset, rate)


def _envelope(sound: NDArray[np.float64], rate: int, hz: float) -> NDArray[np.float64]:
    down = sound * np.exp(-2j * np.pi * hz / rate * np.arange(len(sound)))
    half = round(_SMOOTHING * rate / 2)
    window = np.hanning(2 * half + 1)
    length = 1 << (len(sound) + 2 * half).bit_length()
    spectrum = np.fft.fft(down, length) * np.fft.fft(window / window.sum(), length)
    smooth: NDArray[np.float64] = np.abs(np.fft.ifft(spectrum)[half : half + len(sound)])
    return smooth


def _exact(sound: NDArray[np.float64], rate: int, near: float) -> float:
    """The frequency of a whole tone, by its highest peak near one that is known roughly."""
    length = 2 << len(sound).bit_length()
    power = np.abs(np.fft.rfft(sound * np.hanning(len(sound)), length)) ** 2
    reach = 2 * _STILL_HZ + _STILL * near
    low, high = (round(min(max(near + side, 0), rate / 2) * length / rate) for side in (-reach, reach))
    return peak_place(power, low + int(np.argmax(power[low : high + 1]))) * rate / length
