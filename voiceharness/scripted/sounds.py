"""Audio as it travels over a realtime transport: made, cut in frames, measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from voiceharness.audio import dtmf, g711, mix, signals
from voiceharness.audio.framing import Framer, frame_samples
from voiceharness.audio.resample import resample

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ALAW_8K", "MULAW_8K", "PCM_8K", "PCM_16K", "PCM_24K", "Encoding", "WireFormat"]

Encoding: TypeAlias = Literal["pcm16", "mulaw", "alaw"]


@dataclass(frozen=True, slots=True)
class WireFormat:
    """Mono audio at a rate in Hz, as little-endian 16-bit samples or as G.711.

    The builders return bytes of this format. Levels are in dB re full scale; the same arguments make the same bytes on
    every machine. The measures take such bytes, and serve in matchers:
    ``expect_call("send_audio", lambda call: wire.digits(call.audio) == "42")``.
    """

    rate: int = 24000
    encoding: Encoding = "pcm16"

    # Making

    def silence(self, seconds: float) -> bytes:
        """Make silence."""
        return self.encode(np.zeros(round(seconds * self.rate), np.int16))

    def tone(self, hz: float, seconds: float, *, level_db: float = -6.0) -> bytes:
        """Make a sine with its peak at ``level_db``."""
        return self.encode(signals.tone(hz, seconds, self.rate, level_db=level_db))

    def noise(self, seconds: float, *, level_db: float = -40.0, seed: int = 0) -> bytes:
        """Make white noise with its RMS at ``level_db``."""
        return self.encode(signals.white_noise(seconds, self.rate, level_db=level_db, seed=seed))

    def speech(self, seconds: float, *, level_db: float = -20.0, seed: int = 0) -> bytes:
        """Make a burst with the band and rhythm of speech, which a voice activity detector accepts."""
        return self.encode(signals.speech_like(seconds, self.rate, level_db=level_db, seed=seed))

    def keys(self, digits: str, *, tone_ms: float = 100.0, gap_ms: float = 100.0) -> bytes:
        """Make the tones of keypad digits.

        Raises:
            AudioError: if one is none of 0-9, *, #, A-D.
        """
        return self.encode(dtmf.generate(digits, self.rate, tone_ms=tone_ms, gap_ms=gap_ms))

    # Converting

    def encode(self, samples: NDArray[np.int16]) -> bytes:
        """Encode samples that are at this rate."""
        pcm = samples.astype("<i2", copy=False).tobytes()
        return pcm if self.encoding == "pcm16" else g711.encode(pcm, self.encoding)

    def decode(self, data: bytes) -> NDArray[np.int16]:
        """Decode to samples at this rate."""
        pcm = data if self.encoding == "pcm16" else g711.decode(data, self.encoding)
        return np.frombuffer(pcm, dtype="<i2")

    def convert(self, data: bytes, to: WireFormat) -> bytes:
        """Convert audio to another format."""
        return data if to == self else to.encode(resample(self.decode(data), self.rate, to.rate))

    def frames(self, data: bytes, frame_ms: float = 20.0) -> list[bytes]:
        """Cut audio in frames, the last one filled up with silence.

        Raises:
            AudioError: if a frame would not be a whole number of samples.
        """
        framer = Framer(frame_samples(self.rate, frame_ms) * self.sample_bytes, self.encode(np.zeros(1, np.int16)))
        whole, rest = framer.push(data), framer.flush()
        return [*whole, rest] if rest else whole

    # Measuring

    @property
    def sample_bytes(self) -> int:
        """Bytes of one sample."""
        return 2 if self.encoding == "pcm16" else 1

    def duration(self, data: bytes) -> float:
        """Length in seconds."""
        return len(data) / self.sample_bytes / self.rate

    def level_db(self, data: bytes) -> float:
        """RMS over all of it; minus infinity for silence or nothing."""
        return mix.level_db(self.decode(data))

    def tone_level_db(self, data: bytes, hz: float) -> float:
        """RMS of the part that is a steady tone of this frequency; compare it with ``level_db``."""
        samples = self.decode(data)
        if not len(samples):
            return -np.inf
        turns = np.exp(-2j * np.pi * hz / self.rate * np.arange(len(samples)))
        amplitude = 2 * abs(np.dot(samples, turns)) / len(samples)
        return 20 * float(np.log10(amplitude / np.sqrt(2) / signals.FULL_SCALE)) if amplitude else -np.inf

    def digits(self, data: bytes) -> str:
        """The keypad digits that can be heard in it."""
        return "".join(digit.key for digit in dtmf.detect(self.decode(data), self.rate))


PCM_24K = WireFormat(24000)
PCM_16K = WireFormat(16000)
PCM_8K = WireFormat(8000)
MULAW_8K = WireFormat(8000, "mulaw")
ALAW_8K = WireFormat(8000, "alaw")
