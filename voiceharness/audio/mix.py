"""Levels, gain, and sounds added to each other without wrapping around."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from voiceharness.audio.edges import EDGE_DB, Windows
from voiceharness.audio.signals import FULL_SCALE, gaussian
from voiceharness.errors import AudioError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["active_level_db", "add_noise", "amplify", "level_db", "mix_into", "saturated"]


def level_db(samples: NDArray[np.int16]) -> float:
    """Measure the RMS in dB re full scale (a full-scale sine has -3.01); minus infinity for silence or nothing."""
    power = float(np.mean(np.square(samples.astype(np.float64)))) if len(samples) else 0.0
    return 10 * float(np.log10(power / FULL_SCALE**2)) if power else -np.inf


def active_level_db(samples: NDArray[np.int16], rate: int) -> float:
    """Measure the RMS over the 5 ms windows less than 35 dB below the loudest, in dB re full scale: pauses left out."""
    windows = Windows(rate)
    powers = windows.measure(np.pad(samples, (0, -len(samples) % windows.size)))
    active = powers[powers > powers.max(initial=0.0) / 10 ** (EDGE_DB / 10)]
    return 10 * float(np.log10(active.mean() / windows.power(0))) if len(active) else -np.inf


def amplify(samples: NDArray[np.int16], gain_db: float) -> NDArray[np.int16]:
    """Change the level by a gain in dB, saturating."""
    return saturated(samples.astype(np.float64) * 10 ** (gain_db / 20))


def mix_into(track: NDArray[np.int16], clip: NDArray[np.int16], position: int) -> None:
    """Add a clip to a track in place, from a position in samples on, saturating.

    Raises:
        AudioError: if the clip does not lie within the track.
    """
    end = position + len(clip)
    if position < 0 or end > len(track):
        raise AudioError(f"a clip of {len(clip)} samples at {position} does not fit a track of {len(track)}")
    track[position:end] = saturated(track[position:end].astype(np.int32) + clip)


def add_noise(samples: NDArray[np.int16], rate: int, *, snr_db: float, seed: int) -> NDArray[np.int16]:
    """Add white noise at a ratio in dB below the active level of the samples (`active_level_db`), saturating.

    Raises:
        AudioError: if the samples are silent, which has no ratio.
    """
    level = active_level_db(samples, rate)
    if not np.isfinite(level):
        raise AudioError(f"{len(samples)} silent samples have no signal-to-noise ratio; state the noise's own level")
    noise = FULL_SCALE * 10 ** ((level - snr_db) / 20) * gaussian(len(samples), seed)
    return saturated(samples + noise)


def saturated(samples: NDArray[np.float64] | NDArray[np.int32]) -> NDArray[np.int16]:
    """Round to 16 bits; what is too loud stays at the limit."""
    limited: NDArray[np.int16] = np.clip(np.rint(samples), -32768, 32767).astype(np.int16)
    return limited
