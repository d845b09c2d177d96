"""Read the WAV files that people have, and write ones that can be read whenever their writer dies.

Layout: Microsoft's RIFF/WAVE multimedia standard with WAVEFORMATEXTENSIBLE; every chunk is a name, a 32-bit size and an
even number of bytes.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Self

import numpy as np

from voiceharness.audio import g711
from voiceharness.audio.chunk import AudioChunk
from voiceharness.errors import AudioError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from numpy.typing import NDArray

    Source = str | Path | bytes

__all__ = ["WavWriter", "read_tracks", "read_wav", "wav_bytes", "write_wav"]

_PCM, _FLOAT, _ALAW, _MULAW, _EXTENSIBLE = 1, 3, 6, 7, 0xFFFE
_UNSUPPORTED = {0x02: "ADPCM", 0x11: "IMA ADPCM", 0x31: "GSM 6.10", 0x50: "MPEG", 0x55: "MP3", 0x64: "G.726 ADPCM"}
_GUID_TAIL = bytes.fromhex("000000001000800000aa00389b71")
_STREAMED = 0x7FFF0000
"""Sizes from here up stand for "unknown": writers to a pipe put 0xFFFFFFFF or a little under 2 GiB, or else 0."""

_HEADER = struct.Struct("<4sI4s4sIHHIIHH4sI")
_SIZE_LIMIT = 0xFFFFFFFF - 36


def read_wav(source: Source, *, channel: int | None = None, name: str | None = None) -> AudioChunk:
    """Read a WAV file (path or content) as mono at its own rate.

    Takes PCM of 8, 16, 24 and 32 bits, floats, mu-law and A-law, plain or extensible. Several channels are averaged,
    unless ``channel`` (from 0) picks one. ``name`` is what errors call it (default: its path).

    Raises:
        AudioError: if the file is missing, is no WAV, has an unsupported format, is empty, or ends too early.
    """
    name = name or _name(source)
    samples, rate = _decoded(source, name)
    if channel is None:
        mono = samples.mean(axis=1)
    elif 0 <= channel < samples.shape[1]:
        mono = samples[:, channel]
    else:
        raise AudioError(f"{name}: no channel {channel}; it has {samples.shape[1]}, counted from 0")
    return AudioChunk.from_samples(_int16(mono), rate)


def read_tracks(source: Source) -> list[AudioChunk]:
    """Read a WAV file as one chunk per channel, each at position 0; takes and raises what `read_wav` does."""
    samples, rate = _decoded(source, _name(source))
    return [AudioChunk.from_samples(track, rate, position=0) for track in _int16(samples).T]


def wav_bytes(samples: NDArray[np.int16], rate: int) -> bytes:
    """Make the content of a 16-bit WAV file; ``samples`` are one-dimensional, or frames by channels."""
    channels = 1 if samples.ndim == 1 else samples.shape[1]
    data = samples.astype("<i2", copy=False).tobytes()
    return _header(rate, channels, len(data)) + data


def write_wav(path: str | Path, samples: NDArray[np.int16], rate: int) -> None:
    """Write a whole 16-bit WAV file; ``samples`` are one-dimensional, or frames by channels."""
    with WavWriter(path, rate, 1 if samples.ndim == 1 else samples.shape[1]) as writer:
        writer.write(samples)


class WavWriter:
    """Write a 16-bit WAV file piece by piece.

    Once each second of audio the samples are handed to the operating system, and then the header is rewritten to match
    them. A process that is killed leaves a valid file that lacks less than its last second.
    """

    def __init__(self, path: str | Path, rate: int, channels: int = 1) -> None:
        """Create or replace the file.

        Raises:
            AudioError: if the file cannot be created.
        """
        self.path = Path(path)
        self.frames = 0
        """Frames (one sample per channel) written so far."""
        self._rate = rate
        self._channels = channels
        self._stated = 0
        try:
            self._file: BinaryIO = self.path.open("wb")
        except OSError as error:
            raise AudioError(f"cannot write {self.path}: {error.strerror}") from error
        self._update_header()

    def write(self, samples: NDArray[np.int16]) -> None:
        """Append samples: one-dimensional for one channel, frames by channels for more.

        Raises:
            AudioError: if they do not fit the file's channels, the file is closed, or it would exceed 4 GiB.
        """
        frames = samples.reshape(-1, 1) if samples.ndim == 1 else samples
        if frames.shape[1] != self._channels or frames.dtype != np.int16:
            given = f"{samples.dtype} of shape {samples.shape}"
            raise AudioError(f"{self.path} takes int16 frames of {self._channels} channels, not {given}")
        if self._file.closed:
            raise AudioError(f"{self.path} is closed already")
        if (self.frames + len(frames)) * 2 * self._channels > _SIZE_LIMIT:
            raise AudioError(f"{self.path} would exceed the 4 GiB of a WAV file")
        self._file.write(frames.astype("<i2", copy=False).tobytes())
        self.frames += len(frames)
        if self.frames - self._stated >= self._rate:
            self._update_header()

    def close(self) -> None:
        """Complete the file; closing again does nothing."""
        if not self._file.closed:
            self._update_header()
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _update_header(self) -> None:
        # The samples first: a header may promise less than there is, never more.
        self._file.flush()
        self._file.seek(0)
        self._file.write(_header(self._rate, self._channels, self.frames * 2 * self._channels))
        self._file.flush()
        self._file.seek(0, 2)
        self._stated = self.frames


def _header(rate: int, channels: int, size: int) -> bytes:
    block = 2 * channels
    form = (b"fmt ", 16, _PCM, channels, rate, rate * block, block, 16)
    return _HEADER.pack(b"RIFF", size + 36, b"WAVE", *form, b"data", size)


@dataclass(frozen=True, slots=True)
class _Format:
    """A fmt chunk: ``block`` is the bytes of one frame."""

    tag: int
    channels: int
    rate: int
    block: int
    bits: int

    @property
    def width(self) -> int:
        """Bytes of one sample."""
        return self.block // self.channels


def _decoded(source: Source, name: str) -> tuple[NDArray[np.float64], int]:
    """Samples in int16 steps, frames by channels, and the rate."""
    content = _content(source)
    if content[:4] != b"RIFF" or content[8:12] != b"WAVE":
        raise AudioError(f"{name}: not a WAV file (it starts with {content[:4]!r})")
    form: _Format | None = None
    for kind, size, body in _chunks(content, 12):
        if kind == b"fmt ":
            form = _parsed_format(body, name)
        elif kind == b"data":
            if form is None:
                raise AudioError(f"{name}: its data come before their format")
            return _samples(form, _data(size, body, name), name), form.rate
    raise AudioError(f"{name}: it has no {'data' if form else 'format'} chunk")


def _content(source: Source) -> bytes:
    if isinstance(source, bytes):
        return source
    try:
        return Path(source).read_bytes()
    except OSError as error:
        raise AudioError(f"cannot read {source}: {error.strerror}") from error


def _name(source: Source) -> str:
    return "WAV data" if isinstance(source, bytes) else str(source)


def _chunks(content: bytes, start: int) -> Iterator[tuple[bytes, int, memoryview]]:
    """Name, stated size and everything from the body on of each chunk."""
    view = memoryview(content)
    while start + 8 <= len(content):
        kind, size = struct.unpack_from("<4sI", content, start)
        yield kind, size, view[start + 8 :]
        start += 8 + size + size % 2


def _parsed_format(body: memoryview, name: str) -> _Format:
    if len(body) < 16:
        raise AudioError(f"{name}: its format chunk is cut off after {len(body)} bytes")
    tag, channels, rate, _, block, bits = struct.unpack_from("<HHIIHH", body)
    if tag == _EXTENSIBLE:
        guid = bytes(body[24:40])
        if guid[2:] != _GUID_TAIL:
            raise AudioError(f"{name}: unknown sub-format {guid.hex()} in an extensible format (tag 0xFFFE)")
        tag = int.from_bytes(guid[:2], "little")
    form = _Format(tag, channels, rate, block, bits)
    widths = {_PCM: (1, 2, 3, 4), _FLOAT: (4, 8), _ALAW: (1,), _MULAW: (1,)}.get(tag)
    if widths is None:
        known = _UNSUPPORTED.get(tag, "unknown")
        raise AudioError(f"{name}: format tag 0x{tag:04X} ({known}) is not supported; convert it to 16-bit PCM")
    if not channels or not rate or block % channels or form.width not in widths:
        raise AudioError(f"{name}: impossible format: {channels} channels, {rate} Hz, {bits} bits, {block} byte frames")
    return form


def _data(size: int, body: memoryview, name: str) -> bytes:
    """The bytes of the data chunk, once its stated size makes sense."""
    if size >= _STREAMED or (size == 0 and not _is_chunk_chain(bytes(body))):
        size = len(body)
    if size > len(body):
        raise AudioError(f"{name}: cut off: its header promises {size} bytes of audio, {len(body)} are there")
    return bytes(body[:size])


def _is_chunk_chain(rest: bytes) -> bool:
    """Whether what follows a data chunk of size 0 is more chunks or nothing, rather than audio of unknown size."""
    end = 0 if not rest else -2
    for kind, size, body in _chunks(rest, 0):
        if not kind.strip().isalnum():
            return False
        end = len(rest) - len(body) + size
    return end in (len(rest) - 1, len(rest))  # the last chunk may be padded


def _samples(form: _Format, data: bytes, name: str) -> NDArray[np.float64]:
    data = data[: len(data) - len(data) % form.block]
    if not data:
        raise AudioError(f"{name}: empty audio")
    steps = _steps(form, data)
    if not np.isfinite(steps).all():
        raise AudioError(f"{name}: it has samples that are no numbers")
    return steps.reshape(-1, form.channels)


def _steps(form: _Format, data: bytes) -> NDArray[np.float64]:
    """Samples in int16 steps; 24 and 32 bits keep their fractions."""
    if form.tag in (_MULAW, _ALAW):
        law: g711.Law = "mulaw" if form.tag == _MULAW else "alaw"
        return np.frombuffer(g711.decode(data, law), "<i2").astype(np.float64)
    if form.tag == _FLOAT:
        return np.frombuffer(data, f"<f{form.width}").astype(np.float64) * 32768
    if form.width == 1:
        return (np.frombuffer(data, np.uint8).astype(np.float64) - 128) * 256
    # Left-aligned in 32 bits, a sample of any width has the same scale.
    wide = np.zeros((len(data) // form.width, 4), np.uint8)
    wide[:, 4 - form.width :] = np.frombuffer(data, np.uint8).reshape(-1, form.width)
    return wide.view("<i4").ravel().astype(np.float64) / 65536


def _int16(steps: NDArray[np.float64]) -> NDArray[np.int16]:
    rounded: NDArray[np.int16] = np.clip(np.rint(steps), -32768, 32767).astype(np.int16)
    return rounded
