"""The pitch of a voice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.measure.calls import noise, silence, speechlike, spoken, tone
from voiceharness.measure.pitch import voice_pitch

if TYPE_CHECKING:
    from numpy.typing import NDArray


def glide(hz: float, seconds: float = 2.0, rate: int = 8000) -> NDArray[np.int16]:
    """A buzz whose pitch wanders by 5 % around a frequency, as a voice does."""
    times = np.arange(round(seconds * rate)) / rate
    phase = 2 * np.pi * hz * (times - 0.05 * np.cos(2 * np.pi * times) / (2 * np.pi))
    harmonics = np.arange(1, 6)[:, None]
    buzz = (np.sin(harmonics * phase) / harmonics).sum(axis=0)
    sound: NDArray[np.int16] = np.round(3000 * buzz).astype(np.int16)
    return sound


@pytest.mark.parametrize("hz", [40, 70, 110, 200, 350, 600])
def test_the_pitch_of_a_buzz_is_found(hz: float) -> None:
    assert voice_pitch(glide(hz), 8000) == pytest.approx(hz, rel=0.06)


def test_the_line_rate_does_not_matter() -> None:
    assert voice_pitch(glide(150, rate=48000), 48000) == pytest.approx(150, rel=0.05)


def test_recorded_voices_are_where_voices_are() -> None:
    for name in ("agent_greeting", "agent_menu", "agent_offer", "agent_confirm"):
        pitch = voice_pitch(spoken(name), 8000)
        assert pitch is not None
        assert 150 < pitch < 260


@pytest.mark.parametrize("sound", [tone(300, 2), noise(2), speechlike(2), silence(2), spoken("word_300ms"), silence(0)])
def test_what_is_no_voice_has_no_pitch(sound: NDArray[np.int16]) -> None:
    assert voice_pitch(sound, 8000) is None
