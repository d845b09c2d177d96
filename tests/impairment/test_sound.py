"""Impairments of the sound: by position, seeded, and as strong as they say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from voiceharness.audio import g711
from voiceharness.audio.mix import level_db
from voiceharness.audio.quality import tone_hz
from voiceharness.audio.signals import tone
from voiceharness.errors import OptionError
from voiceharness.impairment.path import PROFILES, Direction, OneWay
from voiceharness.impairment.sound import Clipping, ClockDrift, Codec, Echo, Gain, Narrowband, Noise, NoiseKind
from voiceharness.impairment.source import SoundImpairment, Source, from_track, rounded

if TYPE_CHECKING:
    from numpy.typing import NDArray

RATE = 8000


def track(samples: NDArray[np.int16], seconds: float = 10.0) -> Source:
    whole = np.zeros(round(seconds * RATE), np.int16)
    whole[: len(samples)] = samples
    return from_track(lambda start, end: whole[start:end])


SILENCE = track(np.zeros(0, np.int16), 60.0)


def direction(
    *impairments: SoundImpairment, source: Source = SILENCE, other: Source = SILENCE, seed: int = 1
) -> Direction:
    return Direction(OneWay(impairments), source, other, rate=RATE, frame=160, seed=seed)


ALL = [
    Noise(20.0),
    Noise(20.0, "babble"),
    Noise(20.0, "hum"),
    Noise(20.0, "clicks"),
    Echo(0.15, -25.0),
    Gain(-6.0),
    Clipping(-12.0),
    Narrowband(),
    Codec("alaw", 2),
    ClockDrift(150.0),
    ClockDrift(-150.0),
]


@pytest.mark.parametrize("impairment", ALL, ids=repr)
def test_the_sound_does_not_depend_on_the_pieces_it_is_read_in(impairment: SoundImpairment) -> None:
    way = direction(impairment, source=track(tone(440, 3.0)), other=track(tone(900, 3.0)))
    whole = way.read(0, 16000)
    pieces = np.concatenate([way.read(start, min(start + 357, 16000)) for start in range(0, 16000, 357)])
    np.testing.assert_array_equal(whole, pieces)


@pytest.mark.parametrize("impairment", ALL, ids=repr)
def test_the_same_seed_gives_the_same_samples(impairment: SoundImpairment) -> None:
    first, second = (direction(impairment, source=track(tone(440, 2.0))).read(0, 16000) for _ in range(2))
    assert first.tobytes() == second.tobytes()


@pytest.mark.parametrize("kind", ["white", "babble", "hum"])
def test_noise_has_the_level_that_the_ratio_says(kind: NoiseKind) -> None:
    for snr_db in (10.0, 20.0):
        noise = direction(Noise(snr_db, kind)).read(0, 20 * RATE)
        assert level_db(noise) == pytest.approx(-20.0 - snr_db, abs=0.3)


def test_noise_goes_on_over_the_call_and_another_seed_is_another_noise() -> None:
    noise, other = (direction(Noise(10.0), seed=seed).read(0, RATE) for seed in (42, 43))
    assert np.mean(noise == other) < 0.1
    late = direction(Noise(10.0), seed=42).read(30 * RATE, 31 * RATE)
    assert np.mean(noise == late) < 0.1


def test_clicks_come_twice_a_second() -> None:
    clicks = direction(Noise(20.0, "clicks")).read(0, 20 * RATE)
    assert np.count_nonzero(np.diff((np.abs(clicks) > 100).astype(int)) == 1) == pytest.approx(40, abs=3)


def test_an_echo_has_its_delay_and_its_gain() -> None:
    """Case A25: gain within 0.5 dB, delay within a frame."""
    spoken = tone(440, 1.0)
    echo = direction(Echo(0.15, -25.0), other=track(spoken)).read(0, 2 * RATE)
    onset = int(np.flatnonzero(np.abs(echo) > 20)[0])
    assert onset == pytest.approx(0.15 * RATE, abs=5)
    assert level_db(echo[2000:8000]) == pytest.approx(level_db(spoken) - 25.0, abs=0.1)


def test_an_echo_cannot_come_before_its_sound() -> None:
    with pytest.raises(OptionError, match=r"at least 0\.02 s"):
        Echo(0.0, -10.0)


def test_clipping_limits_and_gain_changes_the_level() -> None:
    loud = track(tone(440, 1.0, level_db=-3.0))
    assert np.abs(direction(Clipping(-12.0), source=loud).read(0, RATE)).max() == round(32768 * 10 ** (-12 / 20))
    assert level_db(direction(Gain(-6.0), source=loud).read(0, RATE)) == pytest.approx(-12.0, abs=0.05)


def test_a_narrow_band_lets_speech_pass_and_stops_the_rest() -> None:
    for hz, passes in ((1000, True), (2500, True), (60, False), (3900, False)):
        sound = direction(Narrowband(), source=track(tone(hz, 1.0))).read(2000, 8000)
        loss = level_db(tone(hz, 1.0)) - level_db(sound)
        assert (loss < 0.5) is passes, hz
        assert passes or loss > 12, hz


def test_a_tandem_of_codecs_is_that_codec_twice() -> None:
    spoken = tone(997, 0.5, level_db=-20.0)
    once = g711.decode(g711.encode(spoken.tobytes(), "alaw"), "alaw")
    assert direction(Codec("alaw", 1), source=track(spoken)).read(0, 4000).tobytes() == once


def test_a_drifting_clock_changes_the_pitch_by_as_much() -> None:
    """Five thousand parts in a million make 1000 Hz sound as 1005 Hz."""
    for ppm, hz in ((5000.0, 1005.0), (-5000.0, 995.0)):
        sound = direction(ClockDrift(ppm), source=track(tone(1000, 9.0, level_db=-12.0))).read(0, 9 * RATE)
        steady = sound[-RATE * 4 : -RATE] if ppm < 0 else sound[4 * RATE : 7 * RATE]
        if not steady.any():
            continue
        assert tone_hz(steady, RATE) == pytest.approx(hz, abs=0.2)


def test_full_scale_is_never_wrapped_around() -> None:
    assert rounded(np.array([1e6, -1e6])).tolist() == [32767, -32768]


def test_what_lies_before_the_call_is_silence() -> None:
    assert from_track(lambda start, end: np.ones(end - start, np.int16))(-3, 2).tolist() == [0, 0, 0, 1, 1]


@pytest.mark.parametrize("name", sorted(PROFILES))
def test_named_lines_let_speech_through(name: str) -> None:
    line = PROFILES[name]
    source = track(tone(1000, 5.0, level_db=-20.0))
    for way in (line.to_agent, line.to_user):
        sound = Direction(way, source, SILENCE, rate=RATE, frame=160, seed=3).read_with_losses(0, 5 * RATE)
        assert level_db(sound) > -35
