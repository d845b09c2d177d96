"""Change the sample rate of a stream, bit-identically however it is cut in chunks.

Theory of operation
-------------------
Output sample ``m`` lies at input time ``m * down / up``. It is the sum of the input samples around that time, weighted
by a Kaiser-windowed sinc whose cut-off is just under the lower of the two Nyquist frequencies. The filter is centred on
the output sample, so a click stays where it is: the delay is compensated, and what remains is that an output waits for
the input samples after it (`Resampler.lookahead`, 2.5 ms at the lower rate's 8 kHz).

Weights are rounded to 24 fractional bits and samples to 8, so every product and every sum is exact in float64. The
result therefore cannot depend on the order of additions, on chunk sizes, or on the processor.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import ceil, gcd
from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from voiceharness.errors import AudioError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Samples = NDArray[np.int16] | NDArray[np.float32] | NDArray[np.float64]

__all__ = ["Resampler", "resample"]

_HALF_WIDTH = 20
"""Samples of the lower rate on each side of the filter's centre."""

_CUTOFF = 0.98
_KAISER_BETA = 7.0
_WEIGHT_SCALE = 2.0**24
_FLOAT_SCALE = 2.0**8
_BLOCK = 8192


def resample(samples: Samples, from_rate: int, to_rate: int) -> NDArray[np.int16]:
    """Resample a whole clip; the result has ``ceil(len * to_rate / from_rate)`` samples.

    ``samples`` are int16, or floats from -1 to 1. Rates are in Hz.
    """
    resampler = Resampler(from_rate, to_rate)
    return np.concatenate((resampler.push(samples), resampler.flush()))


class Resampler:
    """Resample a stream: push chunks of any size, then flush."""

    def __init__(self, from_rate: int, to_rate: int) -> None:
        """Set up for rates in Hz.

        Raises:
            AudioError: if a rate is not positive.
        """
        self.from_rate = from_rate
        self.to_rate = to_rate
        self._bank = _bank(from_rate, to_rate)
        self._input = np.zeros(0)
        self._taken = self._made = 0
        self._restart()

    @property
    def lookahead(self) -> float:
        """Seconds of input that an output sample waits for."""
        return 0.0 if self.from_rate == self.to_rate else self._bank.half / self.from_rate

    def push(self, samples: Samples) -> NDArray[np.int16]:
        """Take int16 samples, or floats from -1 to 1, and return the output that is complete with them."""
        if self.from_rate == self.to_rate:
            return np.rint(_units(samples)).astype(np.int16)
        self._taken += len(samples)
        self._input = np.concatenate((self._input, _units(samples)))
        return self._produce(self._taken - self._bank.half)

    def flush(self) -> NDArray[np.int16]:
        """Return the rest of the output, as if silence followed, and begin a new stream."""
        if self.from_rate == self.to_rate:
            return np.zeros(0, np.int16)
        self._input = np.concatenate((self._input, np.zeros(self._bank.half)))
        rest = self._produce(self._taken)
        self._restart()
        return rest

    def _restart(self) -> None:
        self._input = np.zeros(self._bank.half - 1)
        self._taken = self._made = 0

    def _produce(self, before: int) -> NDArray[np.int16]:
        """Make the outputs that lie before an input time and are not made yet."""
        up, down = self._bank.up, self._bank.down
        end = max(-(-before * up // down), self._made)
        origin = self._made * down // up
        blocks = [(start, min(start + _BLOCK, end)) for start in range(self._made, end, _BLOCK)]
        parts = [self._bank.outputs(self._input, origin, *block) for block in blocks]
        self._made = end
        self._input = self._input[end * down // up - origin :]
        return np.concatenate(parts) if parts else np.zeros(0, np.int16)


@dataclass(frozen=True, slots=True)
class _Bank:
    """The filter as one row of weights for each of the ``up`` places an output can have between two inputs."""

    up: int
    down: int
    weights: NDArray[np.float64]

    @property
    def half(self) -> int:
        """Inputs after an output's place that it needs."""
        return int(self.weights.shape[1]) // 2

    def outputs(self, samples: NDArray[np.float64], origin: int, start: int, end: int) -> NDArray[np.int16]:
        """Outputs ``start`` to ``end``; the first of ``samples`` belongs to outputs at the input time ``origin``."""
        times = np.arange(start * self.down, end * self.down, self.down)
        inputs, places = np.divmod(times, self.up)
        around = sliding_window_view(samples, self.weights.shape[1])[inputs - origin]
        exact: NDArray[np.float64] = np.einsum("ij,ij->i", around, self.weights[places])
        return np.clip(np.rint(exact), -32768, 32767).astype(np.int16)


@cache
def _bank(from_rate: int, to_rate: int) -> _Bank:
    if from_rate <= 0 or to_rate <= 0:
        raise AudioError(f"cannot resample from {from_rate} Hz to {to_rate} Hz: rates are positive")
    common = gcd(from_rate, to_rate)
    up, down = to_rate // common, from_rate // common
    width = _HALF_WIDTH * max(1.0, from_rate / to_rate)
    half = ceil(width)
    bandwidth = _CUTOFF * min(1.0, to_rate / from_rate)
    # Row p is for an output p/up after an input; its taps run from half - 1 inputs before to half inputs after.
    distances = np.arange(1 - half, half + 1) - np.arange(up)[:, np.newaxis] / up
    taper = np.i0(_KAISER_BETA * np.sqrt(np.clip(1 - (distances / width) ** 2, 0, None)))
    weights = np.sinc(bandwidth * distances) * np.where(np.abs(distances) <= width, taper, 0)
    weights /= weights.sum(axis=1, keepdims=True)
    return _Bank(up, down, np.rint(weights * _WEIGHT_SCALE) / _WEIGHT_SCALE)


def _units(samples: Samples) -> NDArray[np.float64]:
    """Samples in int16 steps, exact to 1/256 of a step."""
    if samples.dtype == np.int16:
        return samples.astype(np.float64)
    if not np.issubdtype(samples.dtype, np.floating):
        raise AudioError(f"cannot resample {samples.dtype} samples; give int16, or floats from -1 to 1")
    steps = np.rint(samples.astype(np.float64) * (32768 * _FLOAT_SCALE)) / _FLOAT_SCALE
    return np.clip(steps, -32768, 32767)
