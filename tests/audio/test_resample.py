"""The resampler: chunk invariance, sample counts, alignment, aliases and images."""

from __future__ import annotations

from itertools import pairwise, permutations
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.audio.signals import white
from voiceharness.audio.resample import Resampler, resample
from voiceharness.audio.signals import tone
from voiceharness.errors import AudioError

if TYPE_CHECKING:
    from numpy.typing import NDArray

RATES = (8000, 11025, 16000, 22050, 24000, 44100, 48000)
PAIRS = list(permutations(RATES, 2))


def amplitude_db(samples: NDArray[np.int16], hz: float, rate: int) -> float:
    """Level of one frequency, re the peak of a -6 dBFS tone; the clip's ends are left out."""
    middle = samples[rate // 20 : -rate // 20].astype(np.float64)
    window = np.blackman(len(middle))
    turns = np.exp(-2j * np.pi * hz * np.arange(len(middle)) / rate)
    amplitude = 2 * abs(np.sum(middle * window * turns)) / window.sum()
    return float(20 * np.log10(amplitude / (32768 * 10 ** (-6 / 20)) + 1e-12))


def in_chunks(samples: NDArray[np.int16], sizes: list[int], rates: tuple[int, int]) -> NDArray[np.int16]:
    resampler = Resampler(*rates)
    cuts = [0, *np.minimum(np.cumsum(sizes, dtype=np.int64), len(samples)).tolist(), len(samples)]
    return np.concatenate([*(resampler.push(samples[a:b]) for a, b in pairwise(cuts)), resampler.flush()])


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(PAIRS), st.lists(st.integers(0, 700), max_size=25), st.integers(0, 4000))
def test_chunks_do_not_change_a_bit(rates: tuple[int, int], sizes: list[int], length: int) -> None:
    samples = white(0.5, -12)[:length]
    assert np.array_equal(in_chunks(samples, sizes, rates), resample(samples, *rates))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floats_are_as_invariant_as_integers(dtype: type[np.float32 | np.float64]) -> None:
    samples: NDArray[np.float64] = (white(0.5, -12) / 32768 + 1e-6).astype(dtype)
    resampler = Resampler(24000, 8000)
    pieces = [resampler.push(samples[start : start + 77]) for start in range(0, len(samples), 77)]
    assert np.array_equal(np.concatenate([*pieces, resampler.flush()]), resample(samples, 24000, 8000))


@pytest.mark.parametrize("rates", PAIRS)
def test_length_is_exact(rates: tuple[int, int]) -> None:
    for length in (0, 1, 2, 159, 160, 8191, 8193):
        assert len(resample(np.zeros(length, np.int16), *rates)) == -(-length * rates[1] // rates[0])


@pytest.mark.parametrize("rates", PAIRS)
def test_click_is_aligned_one_way_and_back(rates: tuple[int, int]) -> None:
    there, back = rates
    position = 3 * there // 10
    click = np.zeros(there, np.int16)
    click[position] = 30000
    other = resample(click, there, back)
    assert abs(int(np.argmax(np.abs(other))) - position * back / there) <= 1
    again = resample(other, back, there)
    # Below the click's own rate its peak is as wide as a sample of the lower rate: its centre is what has a place.
    weights = np.square(again.astype(np.float64))
    assert abs(weights @ np.arange(len(again)) / weights.sum() - position) <= 1


@pytest.mark.parametrize("rates", PAIRS)
def test_telephone_band_passes_unchanged(rates: tuple[int, int]) -> None:
    source, target = rates
    for hz in (300, 1000, 3400):
        assert amplitude_db(resample(tone(hz, 0.5, source), *rates), hz, target) == pytest.approx(0, abs=0.1)


@pytest.mark.parametrize(
    ("source", "target", "hz", "ghost_hz", "limit_db"),
    [(16000, 8000, 5000, 3000, -50), (24000, 48000, 5000, 19000, -60), (8000, 16000, 3000, 5000, -50)],
)
def test_no_ghost_of_a_tone(source: int, target: int, hz: int, ghost_hz: int, limit_db: int) -> None:
    """Case A40."""
    out = resample(tone(hz, 1, source), source, target)
    assert amplitude_db(out, ghost_hz, target) <= limit_db
    if hz < target / 2:
        assert amplitude_db(out, hz, target) == pytest.approx(0, abs=1)


@pytest.mark.parametrize("rates", PAIRS)
def test_aliases_and_images_are_below_50_db_everywhere(rates: tuple[int, int]) -> None:
    source, target = rates
    if target < source:
        for hz in np.linspace(0.555 * target, 0.49 * source, 5) if 0.49 * source > 0.555 * target else ():
            heard = resample(tone(float(hz), 0.25, source), *rates)[target // 50 : -target // 50]
            assert np.sqrt(np.mean(np.square(heard.astype(np.float64)))) < 32768 * 10 ** (-59 / 20)
    else:
        for hz in (0.1 * source, 0.3 * source, 0.44 * source):
            image = source - hz
            if image < target / 2:
                assert amplitude_db(resample(tone(hz, 0.25, source), *rates), image, target) < -50


def test_gaps_in_a_stream_do_not_add_up() -> None:
    """Case B49, at a tenth of its length: a 20 ms gap each 420 ms, filled with silence by its position."""
    resampler = Resampler(8000, 44100)
    speech, gap = white(0.4, -20), np.zeros(160, np.int16)
    periods, made = 642, 0
    for _ in range(periods):
        made += len(resampler.push(speech)) + len(resampler.push(gap))
    made += len(resampler.flush())
    assert made == -(-periods * 3360 * 441 // 80)


def test_flush_begins_a_new_stream() -> None:
    resampler, samples = Resampler(8000, 48000), white(0.1, -12)
    first = np.concatenate((resampler.push(samples), resampler.flush()))
    assert np.array_equal(first, np.concatenate((resampler.push(samples), resampler.flush())))


def test_output_waits_for_the_stated_lookahead_and_no_longer() -> None:
    resampler = Resampler(8000, 16000)
    assert resampler.lookahead == pytest.approx(0.0025)
    assert len(resampler.push(np.zeros(800, np.int16))) == 1600 - 2 * 20


def test_equal_rates_change_nothing() -> None:
    samples = white(0.1, -12)
    assert np.array_equal(resample(samples, 8000, 8000), samples)
    assert Resampler(8000, 8000).lookahead == 0


def test_too_loud_saturates() -> None:
    square = np.where(np.arange(800) % 80 < 40, 32767, -32768).astype(np.int16)
    out = resample(square, 8000, 16000)
    assert out.max() == 32767
    assert out.min() == -32768


def test_constant_stays_constant() -> None:
    out = resample(np.full(4000, 10000, np.int16), 8000, 44100)
    assert np.array_equal(np.unique(out[2000:-2000]), [10000])


@pytest.mark.parametrize("rates", [(0, 8000), (8000, -1)])
def test_rates_must_be_positive(rates: tuple[int, int]) -> None:
    with pytest.raises(AudioError, match="rates are positive"):
        Resampler(*rates)


def test_integers_other_than_int16_are_refused() -> None:
    with pytest.raises(AudioError, match="int32"):
        resample(np.zeros(10, np.int32), 8000, 16000)  # type: ignore[arg-type]  # the mistake under test
