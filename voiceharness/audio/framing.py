"""Cut a stream in frames of one size, and put 16-bit samples in network order."""

from __future__ import annotations

import numpy as np

from voiceharness.errors import AudioError

__all__ = ["Framer", "decode_l16", "encode_l16", "frame_samples"]


def frame_samples(rate: int, frame_ms: float = 20.0) -> int:
    """Samples in a frame of a length in ms at a rate in Hz.

    Raises:
        AudioError: if a frame would not be a whole number of samples.
    """
    samples = rate * frame_ms / 1000
    if samples < 1 or samples != int(samples):
        raise AudioError(f"a frame of {frame_ms:g} ms is not a whole number of samples at {rate} Hz")
    return int(samples)


class Framer:
    """Collect bytes of any length and give them back in frames of ``size`` bytes.

    What does not fill a frame waits for more, until `flush` pads it: the end of an answer is not held back until the
    next one begins, and is not lost.
    """

    def __init__(self, size: int, padding: bytes = b"\0") -> None:
        """Cut in frames of ``size`` bytes; ``padding`` is one sample of silence (0xFF in mu-law, 0xD5 in A-law).

        Raises:
            AudioError: if the size is not a positive multiple of the padding's.
        """
        if not padding or size <= 0 or size % len(padding):
            raise AudioError(f"a frame of {size} bytes cannot be padded with {len(padding)} bytes of silence")
        self._size = size
        self._padding = padding
        self._rest = b""

    @property
    def pending(self) -> int:
        """Bytes that wait for the rest of their frame."""
        return len(self._rest)

    def push(self, data: bytes) -> list[bytes]:
        """Add bytes and return the frames that are complete, in order."""
        data = self._rest + data
        end = len(data) - len(data) % self._size
        self._rest = data[end:]
        return [data[start : start + self._size] for start in range(0, end, self._size)]

    def flush(self) -> bytes | None:
        """Return the incomplete frame padded with silence, or None if nothing waits."""
        if not self._rest:
            return None
        # Half a sample at the end cannot be played: silence replaces it.
        whole = self._rest[: len(self._rest) - len(self._rest) % len(self._padding)]
        self._rest = b""
        return whole + self._padding * ((self._size - len(whole)) // len(self._padding))

    def clear(self) -> None:
        """Drop what waits."""
        self._rest = b""


def encode_l16(pcm: bytes) -> bytes:
    """Put little-endian 16-bit samples in network byte order (audio/L16, RFC 2586 and RFC 3551 section 4.5.11).

    Raises:
        AudioError: if there is half a sample.
    """
    try:
        return np.frombuffer(pcm, "<i2").byteswap().tobytes()
    except ValueError as error:
        raise AudioError(f"{len(pcm)} bytes are not whole 16-bit samples") from error


def decode_l16(data: bytes) -> bytes:
    """Take 16-bit samples out of network byte order; the inverse of `encode_l16`, with the same errors."""
    return encode_l16(data)
