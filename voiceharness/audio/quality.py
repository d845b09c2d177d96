"""How much one sound is like another: alignment, distortion ratio, the frequency of a tone.

A score that cannot be computed is None with a reason. It is never 0.0, which would read as a verdict.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from voiceharness.audio.edges import speech_edges
from voiceharness.errors import AudioError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["CONFIDENT", "MIN_DURATION", "Alignment", "Score", "align", "si_sdr", "tone_hz"]

MIN_DURATION = 0.2
"""Seconds of sound below which alignment and scores mean nothing."""

CONFIDENT = 0.5
"""Normalised correlation from which an alignment is trusted: speech over a codec has 0.99, at 0 dB of noise 0.7."""


@dataclass(frozen=True, slots=True)
class Score:
    """A figure in dB, or None and why there is none."""

    value: float | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Alignment:
    """Where a reference was found in a track: its position in samples (fractional), and how alike they are, up to 1."""

    position: float
    correlation: float


def align(reference: NDArray[np.int16], track: NDArray[np.int16], rate: int) -> Alignment | None:
    """Find a clip in a track by normalised cross-correlation, to a fraction of a sample.

    Returns None if the reference is silent or under 0.2 s long, or if nothing in the track is alike (`CONFIDENT`).
    """
    if _unusable(reference, rate):
        return None
    wanted, heard = reference.astype(np.float64), track.astype(np.float64)
    heard = np.pad(heard, (0, max(len(wanted) - len(heard), 0)))
    alike = _normalised_correlation(wanted, heard)
    best = int(np.argmax(alike))
    if alike[best] < CONFIDENT:
        return None
    return Alignment(best + _peak_offset(alike, best), min(float(alike[best]), 1.0))


def si_sdr(reference: NDArray[np.int16], heard: NDArray[np.int16], rate: int) -> Score:
    """Measure the scale-invariant signal-to-distortion ratio of aligned clips in dB (Le Roux et al., 2019).

    Only what follows the reference at its best gain counts as signal, so a shift of a few samples destroys the score:
    align first. The longer clip is cut.
    """
    length = min(len(reference), len(heard))
    if reason := _unusable(reference[:length], rate):
        return Score(None, reason)
    if not heard[:length].any():
        return Score(None, "nothing was heard")
    wanted, got = reference[:length].astype(np.float64), heard[:length].astype(np.float64)
    signal = wanted * (float(wanted @ got) / float(wanted @ wanted))
    distortion = float(np.sum(np.square(got - signal)))
    power = float(signal @ signal)
    if not distortion or not power:
        return Score(np.inf if power else -np.inf)
    return Score(10 * float(np.log10(power / distortion)))


def tone_hz(samples: NDArray[np.int16], rate: int) -> float:
    """Measure the strongest frequency of a clip in Hz, to about 0.1 Hz in 0.2 s of a tone.

    Raises:
        AudioError: if the clip is silent.
    """
    if not samples.any():
        raise AudioError(f"{len(samples)} silent samples have no frequency")
    size = 4 * _power_of_two(len(samples))
    levels = np.log(np.abs(np.fft.rfft(samples * np.hanning(len(samples) + 2)[1:-1], size)) + 1e-9)
    peak = int(np.argmax(levels))
    return (peak + _peak_offset(levels, peak)) * rate / size


def _unusable(reference: NDArray[np.int16], rate: int) -> str | None:
    """Why a reference cannot be scored against, if so."""
    if len(reference) < MIN_DURATION * rate:
        return f"the reference has {len(reference) / rate:g} s; {MIN_DURATION:g} s are needed"
    return None if speech_edges(reference, rate) else "the reference is silent"


def _normalised_correlation(wanted: NDArray[np.float64], heard: NDArray[np.float64]) -> NDArray[np.float64]:
    """Correlation at each position where the whole clip lies in the track, from -1 to 1."""
    count = len(heard) - len(wanted) + 1
    size = _power_of_two(len(heard))
    products = np.fft.irfft(np.fft.rfft(heard, size) * np.conj(np.fft.rfft(wanted, size)), size)[:count]
    sums = np.concatenate(([0.0], np.cumsum(np.square(heard))))
    power = sums[len(wanted) :] - sums[: -len(wanted)]
    # Where there is next to nothing, rounding would be divided by rounding.
    floor = max(float(power.max()), 1.0) * 1e-6
    alike: NDArray[np.float64] = products / np.sqrt(np.maximum(power, floor) * float(wanted @ wanted))
    return alike


def _peak_offset(values: NDArray[np.float64], peak: int) -> float:
    """Where the parabola through a peak and its neighbours is highest, from the peak."""
    if not 0 < peak < len(values) - 1:
        return 0.0
    before, top, after = (float(value) for value in values[peak - 1 : peak + 2])
    bend = before - 2 * top + after
    return (before - after) / (2 * bend) if bend else 0.0


def _power_of_two(length: int) -> int:
    return 1 << (length - 1).bit_length()
