"""What a track looks like, in few bytes: its envelope, and its spectrogram."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from voiceharness.report.html.png import LEVELS, grey_png

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["envelope", "loudest", "spectrogram_png"]

_COLUMNS_PER_SECOND: Final = 200
_MOST_COLUMNS: Final = 24_000

_WINDOW: Final = 0.032
_STEP: Final = 0.02
_MOST_STEPS: Final = 6_000
_BANDS: Final = 64
_HIGHEST_HZ: Final = 8_000
_QUIETEST_DB: Final = -90.0
_LOUDEST_DB: Final = -25.0
_AT_ONCE: Final = 2_000  # spectra; bounds the memory that a long call takes


def loudest(*tracks: NDArray[np.int16]) -> int:
    """Return the peak of some tracks; at least 1."""
    return max(1, *(int(np.abs(track.astype(np.int32)).max(initial=0)) for track in tracks))


def envelope(track: NDArray[np.int16], rate: int, peak: int) -> bytes:
    """Return lowest and highest sample of each column in turn, as int8 on a scale where ``peak`` is 127.

    There are 200 columns a second, fewer in a call of more than two minutes; at least one.
    """
    columns = max(1, min(round(len(track) / rate * _COLUMNS_PER_SECOND), _MOST_COLUMNS, len(track)))
    if len(track) == 0:
        return bytes(2)
    starts = np.linspace(0, len(track), columns, endpoint=False).astype(np.intp)
    pairs = np.column_stack((np.minimum.reduceat(track, starts), np.maximum.reduceat(track, starts)))
    return np.round(pairs * (127 / peak)).clip(-127, 127).astype(np.int8).tobytes()


def spectrogram_png(track: NDArray[np.int16], rate: int) -> bytes:
    """Draw a spectrogram up to 4 kHz (8 kHz at a higher rate), low at the bottom; white is -25 dBFS, black -90.

    A column is 20 ms, more in a call of over two minutes.
    """
    window = round(_WINDOW * rate)
    step = max(round(_STEP * rate), -(-len(track) // _MOST_STEPS))
    padded = np.pad(track, (window // 2, window))
    centres = slice(min(step // 2, max(0, len(track) - 1)), max(1, len(track)), step)
    frames = sliding_window_view(padded, window)[centres]
    parts = [_decibels(frames[at : at + _AT_ONCE], rate) for at in range(0, len(frames), _AT_ONCE)]
    height = (np.concatenate(parts) - _QUIETEST_DB) / (_LOUDEST_DB - _QUIETEST_DB) * (LEVELS - 1)
    return grey_png(np.round(height).clip(0, LEVELS - 1).astype(np.uint8).T[::-1])


def _decibels(frames: NDArray[np.int16], rate: int) -> NDArray[np.float64]:
    """Return the level of each band of each frame, re a full-scale sine."""
    window = frames.shape[1]
    shape = np.hanning(window)
    spectra = np.abs(np.fft.rfft(frames * shape, axis=1)) / (32768 * shape.sum() / 2)
    top = min(spectra.shape[1], round(_HIGHEST_HZ * window / rate) + 1)
    starts = np.linspace(0, top, min(_BANDS, top), endpoint=False).astype(np.intp)
    bands: NDArray[np.float64] = 20 * np.log10(np.maximum(np.maximum.reduceat(spectra[:, :top], starts, axis=1), 1e-6))
    return bands
