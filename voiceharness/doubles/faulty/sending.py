"""Talks that send wrongly: the wrong samples, or the right ones at the wrong time."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

import numpy as np

from voiceharness.audio import g711, signals
from voiceharness.clock import NS
from voiceharness.doubles.faulty.attendant import FRAME, Item, Talk
from voiceharness.doubles.faulty.sounds import Sentence, sentence

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "ClicksAtSeams",
    "DriftsBehind",
    "FillsWithZeros",
    "LeavesGaps",
    "NeverCatchesUp",
    "OtherEncoding",
    "OtherLaw",
    "OtherRate",
    "SendsNoise",
    "StretchesWithoutFilter",
    "SwapsBytes",
]

_NOISE_DB: Final = -12.0
_FACTOR: Final = 3
_FILLER: Final = 0.6
_GAP: Final = (12, 0.06)
_SLOW: Final = 1.05
_AHEAD: Final = 1.0
_LONG: Final = 24


class OtherLaw(Talk):
    """Codes with A-law what is decoded as mu-law."""

    def coded(self, samples: NDArray[np.int16]) -> NDArray[np.int16]:
        """Take one law for the other."""
        return _decoded(g711.encode(samples.astype("<i2").tobytes(), "alaw"))


class OtherEncoding(Talk):
    """Sends 16-bit samples where mu-law codes are expected."""

    def coded(self, samples: NDArray[np.int16]) -> NDArray[np.int16]:
        """Take each byte for a code."""
        return _decoded(samples.astype("<i2").tobytes())


class SwapsBytes(Talk):
    """Sends 16-bit samples in the other byte order."""

    def coded(self, samples: NDArray[np.int16]) -> NDArray[np.int16]:
        """Swap the bytes."""
        return samples.byteswap()


class SendsNoise(Talk):
    """Sends noise for speech."""

    def coded(self, samples: NDArray[np.int16]) -> NDArray[np.int16]:
        """Replace the sound."""
        return signals.white_noise(len(samples) / self.rate, self.rate, level_db=_NOISE_DB, seed=self.said)


class OtherRate(Talk):
    """Sends sound made at three times the rate as if it had the line's."""

    def coded(self, samples: NDArray[np.int16]) -> NDArray[np.int16]:
        """Take three times as many samples for each second."""
        places = np.arange(_FACTOR * len(samples)) / _FACTOR
        return np.rint(np.interp(places, np.arange(len(samples)), samples)).astype(np.int16)


class FillsWithZeros(Talk):
    """Fills the silence after its words with zero bytes, which mu-law takes for full scale."""

    def coded(self, samples: NDArray[np.int16]) -> NDArray[np.int16]:
        """Add the filler."""
        return np.concatenate((samples, _decoded(bytes(round(_FILLER * self.rate)))))


class StretchesWithoutFilter(Talk):
    """Brings its sound to twice the rate by straight lines between the samples."""

    def coded(self, samples: NDArray[np.int16]) -> NDArray[np.int16]:
        """Replace every other sample by the mean of its neighbours."""
        places = np.arange(len(samples))
        return np.rint(np.interp(places, places[::2], samples[::2])).astype(np.int16)


class ClicksAtSeams(Talk):
    """Sends the header of a file with each piece of sound."""

    def coded(self, samples: NDArray[np.int16]) -> NDArray[np.int16]:
        """Put a header of 44 bytes at the beginning of each frame of its own."""
        damaged = samples.copy()
        header = np.frombuffer(_header(self.rate, round(FRAME * self.rate)), "<i2")
        for start in range(0, len(samples) - len(header), round(FRAME * self.rate)):
            damaged[start : start + len(header)] = header
        return damaged


class LeavesGaps(Talk):
    """Has a frame come late, now and then; those after it as well."""

    def due_ns(self, index: int) -> int:
        """Return when a frame is sent."""
        every, seconds = _GAP
        return super().due_ns(index) + round(index // every * seconds * NS)


class DriftsBehind(Talk):
    """Sends each frame a millisecond later than it should."""

    def due_ns(self, index: int) -> int:
        """Return when a frame is sent."""
        return round(super().due_ns(index) * _SLOW)


class NeverCatchesUp(Talk):
    """Sends a second of sound at once and the rest in real time, so that all of it is heard a second late."""

    def next_sentence(self) -> Sentence:
        """Return a long one."""
        return sentence(_LONG, self.rate, self.draw.randrange(2**32))

    def send(self, item: Item) -> None:
        """Send what is due in the first second at once."""
        ahead = round(_AHEAD / FRAME)
        for index, frame in enumerate(self.frames(item.sentence.samples)):
            at_ns = item.start_ns + self.due_ns(max(0, index - ahead))
            item.timers.append(self.clock.call_at_ns(at_ns, lambda frame=frame: self.send_samples(frame, item)))  # type: ignore[misc] # the default binds the loop's variable


def _header(rate: int, samples: int) -> bytes:
    """Return the 44 bytes that stand before the samples of a WAV file."""
    layout = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, rate, 2 * rate, 2, 16)
    return (
        struct.pack("<4sI4s", b"RIFF", 36 + 2 * samples, b"WAVE") + layout + struct.pack("<4sI", b"data", 2 * samples)
    )


def _decoded(codes: bytes) -> NDArray[np.int16]:
    return np.frombuffer(g711.decode(codes, "mulaw"), "<i2").astype(np.int16)
