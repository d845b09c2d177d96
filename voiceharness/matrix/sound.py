"""What probes listen for: stretches of sound, tones and keypad tones on a recorded track."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.edges import Span, Windows
from voiceharness.audio.signals import FULL_SCALE, speech_like

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["level_db", "seconds_of", "sound_until", "sounding", "spoken", "user_sound"]

SOUND_DB: Final = -45.0
BRIDGED: Final = 0.2
SPOKEN_DB: Final = -20.0
SEED: Final = 8


def spoken(seconds: float, rate: int = 8000, *, item: str | None = "probe") -> AudioChunk:
    """Make sound that stands for the agent's speech, as one item."""
    return AudioChunk.from_samples(speech_like(seconds, rate, level_db=SPOKEN_DB, seed=SEED), rate, item=item)


def user_sound(seconds: float, rate: int = 8000) -> AudioChunk:
    """Make sound that stands for the user's speech."""
    return AudioChunk.from_samples(speech_like(seconds, rate, level_db=SPOKEN_DB, seed=SEED + 1), rate)


def sounding(track: NDArray[np.int16], rate: int, *, bridged: float = BRIDGED) -> list[Span]:
    """Find the stretches of a track that are louder than -45 dB, those less than ``bridged`` seconds apart as one."""
    windows = Windows(rate)
    padded = np.pad(track, (0, -len(track) % windows.size))
    loud = np.flatnonzero(windows.measure(padded) > windows.power(SOUND_DB))
    if not len(loud):
        return []
    breaks = np.flatnonzero(np.diff(loud) > windows.count(bridged))
    firsts, lasts = loud[np.r_[0, breaks + 1]], loud[np.r_[breaks, len(loud) - 1]]
    size = windows.size
    return [Span(int(a) * size, (int(b) + 1) * size) for a, b in zip(firsts, lasts, strict=True)]


def sound_until(track: NDArray[np.int16], rate: int, position: int) -> int:
    """Return where the sound that is going on at a position ends; the position itself if there is none."""
    return next((span.offset for span in sounding(track, rate) if span.onset <= position < span.offset), position)


def seconds_of(span: Span, rate: int) -> float:
    """Return the length of a stretch in seconds."""
    return len(span) / rate


def level_db(samples: Any) -> float:  # Any: an int16 array
    """Measure the RMS of a sound in dB re full scale; of silence, -120."""
    power = float(np.mean(np.square(samples.astype(np.float64)))) if len(samples) else 0.0
    return max(10 * float(np.log10(power / FULL_SCALE**2 + 1e-12)), -120.0)
