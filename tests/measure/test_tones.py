"""Sounds that are nothing but one tone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.measure.calls import noise, silence, speechlike, spoken, tone
from voiceharness.measure.tones import frequency, peak_place, pure_tone, rate_factor

if TYPE_CHECKING:
    from numpy.typing import NDArray


@pytest.mark.parametrize("hz", [146.7, 440.0, 997.0, 1320.0, 3300.0])
@pytest.mark.parametrize("seconds", [0.5, 1.0])
def test_the_frequency_of_a_tone_is_exact(hz: float, seconds: float) -> None:
    found, share = frequency(tone(hz, seconds), 8000)
    assert found == pytest.approx(hz, abs=0.1)
    assert share > 0.99


def test_a_peak_lies_between_the_bins_and_on_the_bin_where_nothing_bends() -> None:
    assert peak_place(np.exp(-np.square(np.arange(9) - 4.3)), 4) == pytest.approx(4.3)
    assert peak_place(np.zeros(9), 4) == 4
    assert peak_place(np.array([3.0, 2.0, 1.0]), 0) == 0
    assert peak_place(np.array([1.0, 2.0, 3.0]), 2) == 2


@pytest.mark.parametrize("sound", [speechlike(1), noise(1), spoken("agent_greeting"), silence(1), silence(0)])
def test_other_sounds_are_no_pure_tone(sound: NDArray[np.int16]) -> None:
    assert pure_tone(sound, 8000) is None


def test_a_tone_that_changes_is_no_pure_tone() -> None:
    assert pure_tone(np.concatenate((tone(500, 0.2), tone(900, 0.3))), 8000) is None


@pytest.mark.parametrize(("rate_made", "hz", "factor"), [("24 kHz as 8 kHz", 440 / 3, 1 / 3), ("decimated", 1320, 3)])
def test_a_known_tone_tells_by_which_factor_it_is_played_wrongly(rate_made: str, hz: float, factor: float) -> None:
    """Case A34 with a tone."""
    assert rate_factor(tone(hz, 0.333), 8000, 440) == pytest.approx(factor, rel=0.01), rate_made


def test_without_a_tone_there_is_no_factor() -> None:
    assert rate_factor(silence(1), 8000, 440) is None
