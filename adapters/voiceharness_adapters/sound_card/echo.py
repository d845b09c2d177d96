"""Take the user's own voice out of what a microphone hears, with a plain adaptive filter.

Theory of operation. Through speaker and microphone the harness hears itself. The echo is the user's sound through an
unknown room: a filter of some tens of milliseconds, which is learned sample by sample (normalised least mean squares;
Haykin, Adaptive Filter Theory, chapter 6) and whose output is subtracted. It is learned only while the user is heard
and nothing louder is: an agent that speaks at the same time would teach it nonsense. What is left is measured in the
blocks in which the user speaks; half of them at least hold no agent, so the median tells of the echo.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["EchoCanceller"]

LENGTH: Final = 0.064
MOST_TAPS: Final = 1024
STEP: Final = 0.5
AUDIBLE: Final = 60.0
CONVERGED: Final = 4.0
AGENT_TALKS: Final = 0.5
GAIN_SMOOTHING: Final = 0.1
MOST_GAIN: Final = 1e4
LEAST_BLOCKS: Final = 20
SILENCE_DB: Final = -96.0


class EchoCanceller:
    """Subtracts the echo of one track from another, block by block; both at ``rate``, aligned but for the room.

    ``echo_db`` and ``left_db`` are the level of the echo before and after, in dB re full scale; None until there was
    enough of it.
    """

    def __init__(self, rate: int) -> None:
        self._taps = min(MOST_TAPS, round(LENGTH * rate))
        self._weights = np.zeros(self._taps)
        self._history = np.zeros(self._taps - 1)
        self._before: list[float] = []
        self._after: list[float] = []
        self._gain = 1.0

    def cancel(self, captured: NDArray[np.int16], user: NDArray[np.int16]) -> NDArray[np.int16]:
        """Return what was captured without the echo of what the user said."""
        line = np.concatenate((self._history, user.astype(np.float64)))
        self._history = line[len(line) - self._taps + 1 :]
        if np.sqrt(np.mean(np.square(line))) < AUDIBLE:
            return captured
        rest = self._filtered(captured.astype(np.float64), line)
        self._measure(captured, rest)
        return np.clip(np.rint(rest), -32768, 32767).astype(np.int16)

    def _filtered(self, captured: NDArray[np.float64], line: NDArray[np.float64]) -> NDArray[np.float64]:
        views = np.lib.stride_tricks.sliding_window_view(line, self._taps)
        guess: NDArray[np.float64] = captured - views @ self._weights
        before, after = float(captured @ captured), float(guess @ guess)
        if self._gain > CONVERGED and after > AGENT_TALKS * before:  # more than the learned echo explains
            return guess
        if after:
            self._gain += GAIN_SMOOTHING * (min(before / after, MOST_GAIN) - self._gain)
        rest = np.empty_like(captured)
        weights = self._weights
        steps = STEP / (np.einsum("ij,ij->i", views, views) + 1e4 * self._taps)
        for index, (sample, view) in enumerate(zip(captured, views, strict=True)):
            rest[index] = error = sample - view @ weights
            weights += steps[index] * error * view
        return rest

    def _measure(self, captured: NDArray[np.int16], rest: NDArray[np.float64]) -> None:
        self._before.append(float(np.mean(np.square(captured.astype(np.float64)))))
        self._after.append(float(np.mean(np.square(rest))))

    @property
    def echo_db(self) -> float | None:
        """Level of the echo as it was captured."""
        return _level(self._before)

    @property
    def left_db(self) -> float | None:
        """Level of what is left of it."""
        return _level(self._after[len(self._after) // 2 :])  # once it had time to learn


def _level(powers: list[float]) -> float | None:
    if len(powers) < LEAST_BLOCKS:
        return None
    power = float(np.median(powers)) / 32768**2
    return max(SILENCE_DB, 10 * float(np.log10(power))) if power > 0 else SILENCE_DB
