"""Keypad tones, made and found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.audio.signals import white
from voiceharness.audio import g711
from voiceharness.audio.dtmf import KEYS, Digit, DtmfDetector, detect, generate
from voiceharness.audio.mix import add_noise, level_db
from voiceharness.audio.signals import speech_like, tone
from voiceharness.errors import AudioError

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEADS = range(0, 160, 16)


def coded(samples: NDArray[np.int16]) -> NDArray[np.int16]:
    return np.frombuffer(g711.decode(g711.encode(samples.tobytes())), "<i2")


def after(lead: int, samples: NDArray[np.int16]) -> NDArray[np.int16]:
    return np.concatenate((np.zeros(lead, np.int16), samples, np.zeros(800, np.int16)))


def off_frequency(key: str, factor: float, ms: int = 50) -> NDArray[np.int16]:
    row, column = divmod(KEYS.index(key), 4)
    low, high = (697, 770, 852, 941)[row], (1209, 1336, 1477, 1633)[column]
    seconds = ms / 1000
    return tone(low * factor, seconds, level_db=-10) + tone(high * factor, seconds, level_db=-10)


def keys(digits: list[Digit]) -> str:
    return "".join(digit.key for digit in digits)


@pytest.mark.parametrize("sequence", ["1234567890*#", "1111"])
@pytest.mark.parametrize("snr_db", [None, 20])
@pytest.mark.parametrize("lead_ms", range(20))
def test_fast_digits_are_found_one_by_one(sequence: str, snr_db: float | None, lead_ms: int) -> None:
    """Case A73."""
    sound = after(8 * lead_ms, generate(sequence, tone_ms=40, gap_ms=40, level_db=-10))
    if snr_db is not None:
        sound = add_noise(sound, 8000, snr_db=snr_db, seed=lead_ms)
    found = detect(coded(sound))
    assert keys(found) == sequence
    for place, digit in enumerate(found):
        assert digit.onset == pytest.approx(8 * (lead_ms + 80 * place), abs=8)
        assert digit.duration_samples == pytest.approx(320, abs=16)


@pytest.mark.parametrize("lead", LEADS)
def test_tones_of_10_ms_are_no_digits(lead: int) -> None:
    """Case A73."""
    assert detect(coded(after(lead, generate("1234567890*#", tone_ms=10, gap_ms=40)))) == []


@pytest.mark.parametrize("rate", [8000, 16000, 48000])
def test_every_key_is_found_at_every_rate(rate: int) -> None:
    found = detect(generate(KEYS, rate, tone_ms=60, gap_ms=60), rate)
    assert keys(found) == KEYS
    assert [digit.onset for digit in found] == pytest.approx([12 * place * rate // 100 for place in range(16)], abs=40)


@pytest.mark.parametrize(
    ("duration_ms", "accepted"), [(15, False), (20, False), (22, False), (30, True), (40, True), (200, True)]
)
@pytest.mark.parametrize("lead", LEADS)
def test_duration_limits(duration_ms: int, accepted: bool, lead: int) -> None:
    found = detect(coded(after(lead, generate("5", tone_ms=duration_ms))))
    assert keys(found) == ("5" if accepted else "")


@pytest.mark.parametrize("percent", [-1.5, 0, 1.5])
@pytest.mark.parametrize("key", KEYS)
def test_frequencies_within_1_5_percent_are_accepted(key: str, percent: float) -> None:
    assert keys(detect(coded(after(400, off_frequency(key, 1 + percent / 100))))) == key


@pytest.mark.parametrize("percent", [-3.5, 3.5])
@pytest.mark.parametrize("key", KEYS)
def test_frequencies_off_by_3_5_percent_are_rejected(key: str, percent: float) -> None:
    assert detect(coded(after(400, off_frequency(key, 1 + percent / 100)))) == []


@pytest.mark.parametrize(("twist_db", "accepted"), [(-10, False), (-8, True), (0, True), (4, True), (6, False)])
def test_twist_limits(twist_db: float, accepted: bool) -> None:
    found = detect(coded(after(400, generate(KEYS, tone_ms=50, gap_ms=50, twist_db=twist_db))))
    assert keys(found) == (KEYS if accepted else "")


@pytest.mark.parametrize(("gap_ms", "digits"), [(5, "5"), (10, "5"), (40, "55"), (60, "55")])
@pytest.mark.parametrize("lead", LEADS)
def test_interruption_is_bridged_and_pause_is_not(gap_ms: int, digits: str, lead: int) -> None:
    assert keys(detect(coded(after(lead, generate("55", tone_ms=50, gap_ms=gap_ms))))) == digits


@pytest.mark.parametrize(("level", "accepted"), [(-7, True), (-20, True), (-35, True), (-40, False)])
def test_level_limits(level: float, accepted: bool) -> None:
    found = detect(coded(after(400, generate(KEYS, tone_ms=50, gap_ms=50, level_db=level))))
    assert keys(found) == (KEYS if accepted else "")


@pytest.mark.parametrize("snr_db", [6, 10, 15])
def test_digits_are_found_in_noise(snr_db: float) -> None:
    sound = after(400, generate(KEYS, tone_ms=50, gap_ms=50))
    assert keys(detect(coded(add_noise(sound, 8000, snr_db=snr_db, seed=9)))) == KEYS


def test_other_sounds_are_no_digits() -> None:
    assert detect(white(10, -10)) == []
    assert detect(speech_like(10, seed=4)) == []
    assert detect(np.concatenate([tone(hz, 0.2) for hz in (440, 697, 941, 1209, 1633, 2000)])) == []
    assert detect(np.zeros(80_000, np.int16)) == []
    assert detect(np.zeros(0, np.int16)) == []


SOUND = np.concatenate(
    (generate("1A5", tone_ms=40, gap_ms=40), white(0.3, -30), generate("55#", tone_ms=45, gap_ms=15), tone(697, 0.1))
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 900), max_size=20))
def test_chunks_do_not_change_the_digits(sizes: list[int]) -> None:
    detector, found, start = DtmfDetector(), list[Digit](), 0
    for size in [*sizes, len(SOUND)]:
        found += detector.push(SOUND[start : start + size])
        start += size
    assert found + detector.flush() == detect(SOUND)


def test_digit_is_reported_soon_after_it_ends() -> None:
    detector = DtmfDetector()
    assert detector.push(generate("7", tone_ms=60)) == []
    assert keys(detector.push(np.zeros(480, np.int16))) == "7"
    assert detector.flush() == []


def test_flush_begins_a_new_track() -> None:
    detector = DtmfDetector()
    for _ in range(2):
        (digit,) = detector.push(generate("9", tone_ms=60)) + detector.flush()
        assert digit.onset < 8


def test_generated_tones_have_the_stated_shape() -> None:
    sound = generate("12", tone_ms=50, gap_ms=30, level_db=-12)
    assert len(sound) == 400 + 240 + 400
    assert level_db(sound[:400]) == pytest.approx(-12, abs=0.1)
    assert not sound[400:640].any()
    assert len(generate("")) == 0


def test_twist_is_high_over_low() -> None:
    spectrum = np.abs(np.fft.rfft(generate("5", tone_ms=1000, twist_db=-6)))
    assert 20 * np.log10(spectrum[1336] / spectrum[770]) == pytest.approx(-6, abs=0.05)


def test_what_is_no_key_is_named() -> None:
    with pytest.raises(AudioError, match="'x' in '12x'"):
        generate("12x")


def test_tones_beyond_full_scale_are_refused() -> None:
    with pytest.raises(AudioError, match="exceed full scale"):
        generate("5", level_db=-3)


@pytest.mark.parametrize("rate", [3000, 11025])
def test_unsuitable_rate_is_refused(rate: int) -> None:
    with pytest.raises(AudioError, match=f"{rate} Hz"):
        DtmfDetector(rate)
