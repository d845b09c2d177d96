"""Tones on a track, alone and among other sounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.measure.calls import noise, silence, speechlike, spoken, tone
from voiceharness.audio import dtmf, g711
from voiceharness.measure.heard_tones import HeardTone, find_tones

if TYPE_CHECKING:
    from typing import Any

Sound = NDArray[np.int16]


def mixed(*sounds: Sound) -> Sound:
    """Sounds of one length at the same time."""
    total: NDArray[np.int32] = np.sum([sound.astype(np.int32) for sound in sounds], axis=0)
    return total.astype(np.int16)


def after_each_other(*sounds: Sound) -> Sound:
    return np.concatenate(sounds)


def coded(sound: Sound) -> Sound:
    """Sound as mu-law carries it."""
    return np.frombuffer(g711.decode(g711.encode(sound.tobytes())), "<i2")


def ms(milliseconds: float, either_way: float = 5.0) -> Any:  # Any: what pytest.approx returns
    return pytest.approx(milliseconds / 1000, abs=either_way / 1000)


def only(sound: Sound, rate: int = 8000) -> HeardTone:
    (found,) = find_tones(sound, rate)
    return found


@pytest.mark.parametrize("hz", [60.0, 146.7, 440.0, 997.0, 1320.0, 3900.0])
@pytest.mark.parametrize("seconds", [0.1, 0.333, 1.0, 3.0])
def test_frequency_and_edges_of_a_tone_are_exact(hz: float, seconds: float) -> None:
    found = only(after_each_other(silence(0.7), coded(tone(hz, seconds)), silence(0.5)))
    assert found.hz == pytest.approx(hz, abs=0.1 if seconds > 0.3 else 0.5)
    assert found.onset / 8000 == ms(700)
    assert found.duration == ms(seconds * 1000)


@pytest.mark.parametrize("rate", [8000, 16000, 48000])
def test_a_tone_is_the_same_at_every_rate_of_a_line(rate: int) -> None:
    found = only(after_each_other(silence(0.5, rate), tone(440, 1.0, rate=rate), silence(0.5, rate)), rate)
    assert found.hz == pytest.approx(440, abs=0.05)
    assert found.duration == ms(1000)


def test_a_tone_that_fills_the_track_has_the_edges_of_the_track() -> None:
    found = only(tone(440, 1.0))
    assert found.onset == pytest.approx(0, abs=8)
    assert found.offset == pytest.approx(8000, abs=8)


def test_a_quiet_tone_is_found() -> None:
    assert only(after_each_other(silence(0.5), coded(tone(440, 1.0, -45)), silence(0.5))).duration == ms(1000)


@pytest.mark.parametrize("sound", [silence(0), silence(0.01), silence(2), noise(5), noise(5, -50), speechlike(5)])
def test_silence_and_noise_have_no_tone(sound: Sound) -> None:
    assert find_tones(sound, 8000) == ()


@pytest.mark.parametrize(
    "name",
    [
        *("agent_confirm", "agent_goodbye", "agent_greeting", "agent_menu", "agent_offer", "user_book", "user_hello"),
        *("user_mm_hmm", "user_question", "user_stop", "user_thanks", "user_tuesday", "user_wait"),
    ],
)
def test_speech_has_no_tone(name: str) -> None:
    assert find_tones(spoken(name), 8000) == ()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("hz", [146.7, 440.0, 1320.0])
@pytest.mark.parametrize("above_db", [3.0, 10.0])
def test_noise_below_a_tone_leaves_it_as_it_is(hz: float, above_db: float, seed: int) -> None:
    level = -12.0
    quiet_db = level - 3.0 - above_db  # the power of a sine is 3 dB below its peak
    sound = mixed(after_each_other(silence(1), tone(hz, 1.0, level), silence(1)), noise(3, quiet_db, seed))
    found = only(sound)
    assert found.hz == pytest.approx(hz, abs=0.2)
    assert found.onset / 8000 == ms(1000, 10)
    assert found.duration == ms(1000, 15)


def test_a_tone_that_drowns_in_noise_is_none() -> None:
    assert find_tones(mixed(tone(440, 2.0, -15), noise(2, -12)), 8000) == ()


def test_a_tone_after_speech_is_found() -> None:
    sound = after_each_other(spoken("agent_greeting"), silence(0.5), tone(440, 1.0), silence(0.5))
    assert only(sound).hz == pytest.approx(440, abs=0.1)
    assert only(sound).duration == ms(1000)


@pytest.mark.parametrize("gap", [0.0, 0.3])
def test_two_tones_after_each_other_are_two(gap: float) -> None:
    low, high = find_tones(after_each_other(tone(500, 0.5), silence(gap), tone(900, 0.4)), 8000)
    assert [low.hz, high.hz] == pytest.approx([500, 900], abs=0.2)
    assert [low.duration, high.duration] == [ms(500, 10), ms(400, 10)]
    assert high.onset / 8000 == ms(500 + gap * 1000, 10)


@pytest.mark.parametrize(("low", "high"), [(440.0, 480.0), (440.0, 880.0), (697.0, 1209.0)])
def test_two_tones_at_once_are_two(low: float, high: float) -> None:
    sound = after_each_other(silence(0.5), mixed(tone(low, 1.0, -12), tone(high, 1.0, -14)), silence(0.5))
    found = find_tones(sound, 8000)
    assert sorted(each.hz for each in found) == pytest.approx([low, high], abs=0.2)
    assert [each.duration for each in found] == [ms(1000, 15)] * 2


@pytest.mark.parametrize("next_hz", [660.0, 670.0, 900.0])
def test_a_tone_that_follows_at_once_does_not_move_an_edge(next_hz: float) -> None:
    first, second = find_tones(after_each_other(tone(700, 0.5), tone(next_hz, 0.5)), 8000)
    assert [first.duration, second.duration] == [ms(500, 20)] * 2


def test_the_harmonics_of_a_distorted_tone_are_no_tones() -> None:
    clipped = np.clip(4.0 * tone(440, 1.0, 0), -20000, 20000).astype(np.int16)
    assert only(clipped).hz == pytest.approx(440, abs=0.1)


def test_beeps_are_counted() -> None:
    beep = after_each_other(tone(1000, 0.1), silence(0.1))
    found = find_tones(after_each_other(beep, beep, beep, beep), 8000)
    assert [each.onset / 8000 for each in found] == [ms(0), ms(200), ms(400), ms(600)]
    assert [each.duration for each in found] == [ms(100)] * 4


def test_a_hole_ends_a_tone_and_an_interruption_does_not() -> None:
    half = tone(500, 0.5)
    assert only(after_each_other(half, silence(0.02), half)).duration == ms(1020)
    assert [each.duration for each in find_tones(after_each_other(half, silence(0.2), half), 8000)] == [ms(500)] * 2


def test_a_tone_that_glides_is_none() -> None:
    glide = 10000 * np.sin(2 * np.pi * np.cumsum(np.linspace(300, 600, 16000)) / 8000)
    assert find_tones(glide.astype(np.int16), 8000) == ()


def test_keys_are_two_tones_each() -> None:
    found = find_tones(dtmf.generate("19"), 8000)
    assert sorted(round(each.hz) for each in found) == [697, 852, 1209, 1477]
