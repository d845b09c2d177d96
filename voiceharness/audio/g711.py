"""G.711 companding by table: mu-law and A-law, equal to the ITU-T G.191 reference on every input.

The field's mu-law encoders descend from the Sun routine that ``audioop`` carried. They round negative samples away
from zero and so differ from the reference on 508 of the 65,536 inputs; ``mulaw_audioop`` is that variant, for comparing
with recordings of such tools. Decoding has no variants, and A-law has none either.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Literal

import numpy as np

from voiceharness.errors import AudioError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["LAWS", "Law", "decode", "encode", "silence"]

Law = Literal["mulaw", "alaw", "mulaw_audioop"]

LAWS: tuple[Law, ...] = ("mulaw", "alaw", "mulaw_audioop")

_MULAW_BIAS = 33
_MULAW_CEILING = 0x1FFF
_AUDIOOP_CLIP = 8159
_ALAW_EVEN_BITS = 0x55


def encode(pcm: bytes, law: Law = "mulaw") -> bytes:
    """Compress little-endian 16-bit samples to one byte each (G.711).

    Raises:
        AudioError: if ``pcm`` has half a sample, or the law is unknown.
    """
    try:
        samples = np.frombuffer(pcm, dtype="<u2")
    except ValueError as error:
        raise AudioError(f"cannot encode {len(pcm)} bytes as {law}: 16-bit samples need an even number") from error
    return _encoder(law).take(samples).tobytes()


def decode(data: bytes, law: Law = "mulaw") -> bytes:
    """Expand G.711 bytes to little-endian 16-bit samples.

    Raises:
        AudioError: if the law is unknown.
    """
    return _decoder(law).take(np.frombuffer(data, dtype=np.uint8)).tobytes()


def silence(law: Law, samples: int) -> bytes:
    """Make encoded silence: 0xFF in mu-law, 0xD5 (which decodes to +8) in A-law."""
    return encode(bytes(2), law) * samples


@cache
def _encoder(law: Law) -> NDArray[np.uint8]:
    """Table of the code of each sample, indexed by the sample's 16 bits taken as unsigned."""
    samples = np.arange(1 << 16, dtype=np.uint16).view(np.int16).astype(np.int32)
    if law == "mulaw":
        return _mulaw_codes(samples, _ones_complement(samples) >> 2)
    if law == "alaw":
        return _alaw_codes(samples, _ones_complement(samples) >> 4)
    if law == "mulaw_audioop":
        return _mulaw_codes(samples, np.minimum(np.abs(samples >> 2), _AUDIOOP_CLIP))
    raise _unknown(law)


@cache
def _decoder(law: Law) -> NDArray[np.int16]:
    """Table of the sample of each code, stored little-endian."""
    codes = np.arange(1 << 8, dtype=np.int32)
    if law in ("mulaw", "mulaw_audioop"):
        values = _mulaw_values(codes)
    elif law == "alaw":
        values = _alaw_values(codes)
    else:
        raise _unknown(law)
    return values.astype("<i2")


def _unknown(law: str) -> AudioError:
    return AudioError(f"unknown G.711 law {law!r}; use one of {', '.join(LAWS)}")


def _ones_complement(samples: NDArray[np.int32]) -> NDArray[np.int32]:
    """Magnitudes as G.191 takes them: -1 has the magnitude of 0, so both halves are the same size."""
    return np.where(samples < 0, ~samples, samples)


def _bit_length(values: NDArray[np.int32]) -> NDArray[np.int32]:
    return np.frexp(values.astype(np.float64))[1]


def _mulaw_codes(samples: NDArray[np.int32], magnitudes: NDArray[np.int32]) -> NDArray[np.uint8]:
    biased = np.minimum(magnitudes + _MULAW_BIAS, _MULAW_CEILING)
    segment = _bit_length(biased) - 6
    code: NDArray[np.int32] = segment << 4 | (biased >> segment + 1) & 0x0F
    return np.where(samples < 0, ~code & 0x7F, ~code & 0x7F | 0x80).astype(np.uint8)


def _mulaw_values(codes: NDArray[np.int32]) -> NDArray[np.int32]:
    segment = ~codes >> 4 & 0x07
    biased = (2 * (~codes & 0x0F) + _MULAW_BIAS) << segment
    magnitude: NDArray[np.int32] = (biased - _MULAW_BIAS) << 2
    return np.where(codes & 0x80, magnitude, -magnitude)


def _alaw_codes(samples: NDArray[np.int32], magnitudes: NDArray[np.int32]) -> NDArray[np.uint8]:
    segment = np.maximum(_bit_length(magnitudes) - 4, 0)
    code: NDArray[np.int32] = segment << 4 | (magnitudes >> np.maximum(segment - 1, 0)) & 0x0F
    return (np.where(samples < 0, code, code | 0x80) ^ _ALAW_EVEN_BITS).astype(np.uint8)


def _alaw_values(codes: NDArray[np.int32]) -> NDArray[np.int32]:
    plain = codes ^ _ALAW_EVEN_BITS
    segment = plain >> 4 & 0x07
    # Half a step is added; every segment but the lowest has a leading one.
    doubled = 2 * (plain & 0x0F) + 1 + np.where(segment > 0, 32, 0)
    magnitude: NDArray[np.int32] = doubled << np.maximum(segment - 1, 0) << 3
    return np.where(codes & 0x80, magnitude, -magnitude)
