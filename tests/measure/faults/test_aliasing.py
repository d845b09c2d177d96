"""Resampling without a low-pass, and with one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.measure.calls import Call, speechlike, spoken, tone
from tests.measure.verdicts import kinds, only
from voiceharness.audio.resample import resample

if TYPE_CHECKING:
    from numpy.typing import NDArray


def stretched(sound: NDArray[np.int16], factor: int, how: str) -> NDArray[np.int16]:
    """Bring sound to a higher rate as one should not."""
    if how == "zeros":
        raised = np.zeros(factor * len(sound), np.int16)
        raised[::factor] = sound
        return raised
    if how == "holding":
        return np.repeat(sound, factor)
    lines = np.interp(np.arange(factor * len(sound)) / factor, np.arange(len(sound)), sound)
    return np.rint(lines).astype(np.int16)


def heard(sound: NDArray[np.int16], rate: int) -> Call:
    return Call(len(sound) / rate + 1, rate=rate, mulaw=False).agent(0.5, sound)


@pytest.mark.parametrize(
    ("rate", "factor", "how"),
    [(16000, 2, "lines"), (16000, 2, "holding"), (16000, 2, "zeros"), (48000, 6, "lines"), (48000, 6, "holding")],
)
def test_sound_that_was_stretched_without_a_filter_is_found(rate: int, factor: int, how: str) -> None:
    """Case A40, with the fault."""
    first = spoken("agent_offer")[:33600]
    finding = only(heard(stretched(first, factor, how), rate), "aliasing")
    assert finding.figure > 12
    assert f"sound at 8000 Hz was brought to {rate} Hz" in finding.explanation


@pytest.mark.parametrize("rate", [16000, 48000])
def test_sound_that_was_filtered_has_no_images(rate: int) -> None:
    """Case A40, without the fault."""
    assert kinds(heard(resample(spoken("agent_offer"), 8000, rate), rate)) == []


def test_sound_of_the_lines_own_rate_has_no_images() -> None:
    assert kinds(heard(speechlike(2, rate=16000), 16000)) == []
    assert kinds(heard(tone(4000, 2, rate=16000), 16000)) == []
