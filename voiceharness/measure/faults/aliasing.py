"""Images: sound brought to a higher rate without a low-pass, heard as a beep on sharp consonants.

Interpolation by a straight line, by holding or by zeros treats every second, third or sixth sample in another way than
those between them. Sound that was filtered well does not: however one counts, all samples are equally rough. Only
lines above 8 kHz can show it. What an agent folds down into a line's band is not to be told from sound that was meant:
a tone of 5 kHz becomes one of 3 kHz, and nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from voiceharness.measure.finding import Finding, finding, moment
from voiceharness.measure.tones import pure_tone

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from voiceharness.line.record import CallRecord
    from voiceharness.measure.metrics import Metrics

__all__ = ["DETECTORS", "aliasing"]

UNEVEN_DB: Final = 12.0
"""How much rougher one phase of the samples is than another if they were interpolated; filtered sound: under 1 dB."""

_LOWEST_RATE: Final = 8000
_FACTORS: Final = (6, 3, 2)
_LEAST: Final = 0.3


def aliasing(record: CallRecord, metrics: Metrics) -> Iterator[Finding]:
    """The sound holds mirror images of itself: it was resampled without a low-pass."""
    factors = [factor for factor in _FACTORS if record.rate // factor >= _LOWEST_RATE]
    for turn in metrics.agent_turns if factors else ():
        sound = record.agent[turn.onset : turn.offset]
        if len(sound) < _LEAST * record.rate:
            continue
        factor, uneven = max(((each, _unevenness(sound, each)) for each in factors), key=lambda pair: pair[1])
        if uneven >= UNEVEN_DB and pure_tone(sound, record.rate) is None:
            yield finding(
                "aliasing",
                turn.span,
                uneven,
                "dB",
                f"from {moment(record, turn.onset)} to {moment(record, turn.offset)} every {factor}. sample is "
                f"{uneven:.0f} dB rougher than others: sound at {record.rate // factor} Hz was brought to "
                f"{record.rate} Hz without a low-pass, and its mirror image is heard",
            )


def _unevenness(sound: NDArray[np.int16], factor: int) -> float:
    """How differently the phases of sound behave, in dB: of the samples (zeros), their steps (holding) or bends."""
    samples = sound.astype(np.float64)
    ratios = []
    for order in range(3):
        steps = np.diff(samples, order)
        powers = np.square(steps[: len(steps) // factor * factor].reshape(-1, factor)).mean(axis=0) + 1.0
        ratios.append(float(powers.max() / powers.min()))
    return 10 * float(np.log10(max(ratios)))


DETECTORS: Final = (aliasing,)
