"""Impairments of the sound itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from voiceharness.audio import g711
from voiceharness.audio.signals import FULL_SCALE, gaussian, random_words, speech_like
from voiceharness.errors import OptionError
from voiceharness.impairment.source import rounded

if TYPE_CHECKING:
    from voiceharness.audio.g711 import Law
    from voiceharness.impairment.source import Context, Samples, Source

__all__ = ["SPEECH_DB", "Clipping", "ClockDrift", "Codec", "Echo", "Gain", "Narrowband", "Noise", "NoiseKind"]

NoiseKind = Literal["white", "babble", "hum", "clicks"]

SPEECH_DB: Final = -20.0
"""The RMS of speech, in dB re full scale, that a signal-to-noise ratio is stated against."""

_BABBLE_VOICES: Final = 6
_BABBLE_SECONDS: Final = 10.0
_HUM_HZ: Final = (50.0, 100.0, 150.0, 250.0)
_CLICKS_PER_SECOND: Final = 2
_CLICK_DB: Final = 20.0
_TAPS: Final = 65
_SINC_REACH: Final = 16
_LONGEST_CALL: Final = 600.0


@dataclass(frozen=True, slots=True)
class Noise:
    """Noise at a signal-to-noise ratio in dB, against speech at ``SPEECH_DB``.

    ``white``; ``babble``: six voices' worth of speech-like noise; ``hum``: mains hum and its harmonics; ``clicks``: two
    short clicks a second, 20 dB above the level that the ratio gives.
    """

    snr_db: float
    kind: NoiseKind = "white"

    def over(self, source: Source, context: Context) -> Source:
        """Add the noise."""
        amplitude = FULL_SCALE * 10 ** ((SPEECH_DB - self.snr_db) / 20)
        noise = _NOISES[self.kind](context)
        return lambda start, end: source(start, end) + amplitude * noise(start, end)


def _white(context: Context) -> Source:
    def read(start: int, end: int) -> Samples:
        lead = max(0, -start)
        return np.concatenate([np.zeros(lead), gaussian(end - start - lead, context.seed, start + lead)])

    return read


def _babble(context: Context) -> Source:
    voices = [
        np.roll(
            speech_like(_BABBLE_SECONDS, context.rate, seed=context.seed * _BABBLE_VOICES + voice).astype(np.float64),
            int(random_words(1, context.seed + voice)[0] % np.uint64(context.rate)),
        )
        for voice in range(_BABBLE_VOICES)
    ]
    loop = np.sum(voices, axis=0)
    loop /= np.sqrt(np.mean(loop**2))
    return lambda start, end: loop[np.arange(start, end) % len(loop)]


def _hum(context: Context) -> Source:
    def read(start: int, end: int) -> Samples:
        times = np.arange(start, end) / context.rate
        waves = [np.sin(2 * np.pi * hz * times) / (index + 1) for index, hz in enumerate(_HUM_HZ)]
        power = sum(0.5 / (index + 1) ** 2 for index in range(len(_HUM_HZ)))
        hum: Samples = np.sum(waves, axis=0) / np.sqrt(power)
        return hum

    return read


def _clicks(context: Context) -> Source:
    length = context.rate // 1000

    def read(start: int, end: int) -> Samples:
        samples = np.zeros(end - start)
        for second in range(start // context.rate - 1, -(-end // context.rate) + 1):
            if second < 0:
                continue
            places = random_words(_CLICKS_PER_SECOND, context.seed, second * _CLICKS_PER_SECOND)
            for place in (second * context.rate + int(word % np.uint64(context.rate)) for word in places):
                first, last = max(place, start) - start, min(place + length, end) - start
                samples[first : max(first, last)] = 10 ** (_CLICK_DB / 20)
        return samples

    return read


_NOISES: Final = {"white": _white, "babble": _babble, "hum": _hum, "clicks": _clicks}


@dataclass(frozen=True, slots=True)
class Echo:
    """The other party's sound comes back after ``delay`` seconds, at ``gain_db`` (negative: weaker)."""

    delay: float
    gain_db: float

    def __post_init__(self) -> None:
        if self.delay < 0.02:
            raise OptionError(f"an echo takes at least 0.02 s, not {self.delay:g} s: it cannot precede its sound")

    def over(self, source: Source, context: Context) -> Source:
        """Add the echo."""
        lag, gain = round(self.delay * context.rate), 10 ** (self.gain_db / 20)
        return lambda start, end: source(start, end) + gain * context.other(start - lag, end - lag)


@dataclass(frozen=True, slots=True)
class Gain:
    """A change of level by ``db``."""

    db: float

    def over(self, source: Source, context: Context) -> Source:
        """Amplify."""
        gain = 10 ** (self.db / 20)
        return lambda start, end: gain * source(start, end)


@dataclass(frozen=True, slots=True)
class Clipping:
    """Overdrive: samples beyond ``level_db`` re full scale are cut off there."""

    level_db: float = -12.0

    def over(self, source: Source, context: Context) -> Source:
        """Clip."""
        limit = FULL_SCALE * 10 ** (self.level_db / 20)
        return lambda start, end: np.clip(source(start, end), -limit, limit)


@dataclass(frozen=True, slots=True)
class Narrowband:
    """A telephone's band: from ``low_hz`` to ``high_hz``. It delays by 32 samples, as such a filter does."""

    low_hz: float = 300.0
    high_hz: float = 3400.0

    def over(self, source: Source, context: Context) -> Source:
        """Filter."""
        taps = _band_pass(self.low_hz / context.rate, self.high_hz / context.rate)
        return lambda start, end: np.convolve(source(start - _TAPS + 1, end), taps, mode="valid")


def _band_pass(low: float, high: float) -> Samples:
    if not 0 < low < high < 0.5:
        raise OptionError("a band lies between 0 Hz and half the line rate, its low edge below its high one")
    steps = np.arange(_TAPS) - _TAPS // 2
    ideal = 2 * high * np.sinc(2 * high * steps) - 2 * low * np.sinc(2 * low * steps)
    taps: Samples = ideal * np.blackman(_TAPS)
    return taps


@dataclass(frozen=True, slots=True)
class Codec:
    """A tandem of codecs: the sound is coded and decoded ``times`` times."""

    law: Law = "mulaw"
    times: int = 1

    def over(self, source: Source, context: Context) -> Source:
        """Code and decode."""

        def read(start: int, end: int) -> Samples:
            pcm = rounded(source(start, end)).tobytes()
            for _ in range(self.times):
                pcm = g711.decode(g711.encode(pcm, self.law), self.law)
            return np.frombuffer(pcm, np.int16).astype(np.float64)

        return read


@dataclass(frozen=True, slots=True)
class ClockDrift:
    """The other end's sample clock is fast (positive ``ppm``) or slow; calls up to ten minutes.

    A fast clock has to be given room: it starts as much behind as it will gain in ten minutes.
    """

    ppm: float

    def over(self, source: Source, context: Context) -> Source:
        """Read at another speed, by a windowed sinc."""
        speed = 1 + self.ppm * 1e-6
        room = max(0.0, self.ppm * 1e-6 * _LONGEST_CALL * context.rate) + _SINC_REACH

        def read(start: int, end: int) -> Samples:
            places = np.arange(start, end) * speed - room
            first = int(np.floor(places[0])) - _SINC_REACH if len(places) else start
            last = int(np.ceil(places[-1])) + _SINC_REACH + 1 if len(places) else start
            known = source(first, last)
            nearest = np.floor(places).astype(np.int64)
            sound = np.zeros(end - start)
            for offset in range(1 - _SINC_REACH, _SINC_REACH + 1):
                distance = places - (nearest + offset)
                window = 0.5 + 0.5 * np.cos(np.pi * distance / _SINC_REACH)
                sound += known[nearest + offset - first] * np.sinc(distance) * window
            return sound

        return read
