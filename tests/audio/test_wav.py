"""WAV files: every form that people have, and ours after a kill."""

from __future__ import annotations

import signal
import struct
import subprocess
import sys
import wave
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.audio.signals import placed, snr_db, white
from voiceharness.audio import g711
from voiceharness.audio.signals import tone
from voiceharness.audio.wav import WavWriter, read_tracks, read_wav, wav_bytes, write_wav
from voiceharness.errors import AudioError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

RATES = (8000, 11025, 16000, 22050, 44100, 48000)
FORMS = ("pcm8", "pcm16", "pcm24", "pcm32", "float32", "float64", "mulaw", "alaw")
TAGS = {"pcm": 1, "float": 3, "alaw": 6, "mulaw": 7}


def chunk(kind: bytes, body: bytes, size: int | None = None) -> bytes:
    stated = len(body) if size is None else size
    return kind + struct.pack("<I", stated) + body + b"\0" * (len(body) % 2)


def riff(*chunks: bytes) -> bytes:
    body = b"WAVE" + b"".join(chunks)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def format_chunk(tag: int, channels: int, rate: int, width: int, *, extensible: bool = False) -> bytes:
    fields = struct.pack("<HIIHH", channels, rate, rate * channels * width, channels * width, 8 * width)
    if not extensible:
        return chunk(b"fmt ", struct.pack("<H", tag) + fields)
    guid = struct.pack("<H", tag) + bytes.fromhex("000000001000800000aa00389b71")
    return chunk(b"fmt ", struct.pack("<H", 0xFFFE) + fields + struct.pack("<HHI", 22, 8 * width, 0) + guid)


def encoded(form: str, samples: NDArray[np.int16]) -> tuple[int, int, bytes]:
    """Tag, bytes per sample and data of int16 samples in a form."""
    kind = form.rstrip("0123456789")
    if form in ("mulaw", "alaw"):
        return TAGS[form], 1, g711.encode(samples.tobytes(), "mulaw" if form == "mulaw" else "alaw")
    width = int(form.removeprefix(kind)) // 8
    if kind == "float":
        return TAGS[kind], width, (samples / 32768).astype(f"<f{width}").tobytes()
    if width == 1:
        return TAGS[kind], width, ((samples.astype(np.int32) + 128 >> 8) + 128).astype(np.uint8).tobytes()
    wide = (samples.astype("<i4") << 16).view(np.uint8).reshape(-1, 4)
    return TAGS[kind], width, wide[:, 4 - width :].tobytes()


def wav_file(form: str, samples: NDArray[np.int16], rate: int, channels: int = 1, *, extensible: bool = False) -> bytes:
    tag, width, data = encoded(form, np.repeat(samples, channels))
    return riff(format_chunk(tag, channels, rate, width, extensible=extensible), chunk(b"data", data))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("extensible", [False, True], ids=["plain", "extensible"])
@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("rate", RATES)
def test_every_form_gives_the_same_tone(form: str, extensible: bool, channels: int, rate: int) -> None:
    """Case B19."""
    sound = tone(997, 1, rate)
    got = read_wav(wav_file(form, sound, rate, channels, extensible=extensible))
    assert got.rate == rate
    assert got.duration == pytest.approx(1, abs=0.001)
    assert snr_db(sound, got.samples) >= (30 if form in ("pcm8", "mulaw", "alaw") else 45)
    assert np.ptp(got.samples) == pytest.approx(np.ptp(sound), rel=0.03)


SOUND = tone(997, 1)
PCM = SOUND.tobytes()
FORMAT = format_chunk(1, 1, 8000, 2)
LIST = chunk(b"LIST", b"INFOISFT\5\0\0\0abcd\0\0")
ODD = chunk(b"junk", b"abc")


@pytest.mark.parametrize(
    "content",
    [
        riff(FORMAT, LIST, chunk(b"data", PCM)),
        riff(FORMAT, chunk(b"data", PCM), LIST),
        riff(ODD, FORMAT, ODD, chunk(b"data", PCM), ODD),
        riff(FORMAT, chunk(b"data", PCM, size=0)),
        riff(FORMAT, chunk(b"data", PCM, size=0xFFFFFFFF)),
        riff(FORMAT, chunk(b"data", PCM, size=0x7FFFFFFF - 36)),
        b"RIFF\xff\xff\xff\xff" + riff(FORMAT, chunk(b"data", PCM, size=0xFFFFFFFF))[8:],
    ],
    ids=["list-before", "list-after", "odd-chunks", "size-0", "size-ffffffff", "size-2gib", "riff-ffffffff"],
)
def test_chunks_and_streamed_sizes(content: bytes) -> None:
    """Case B19."""
    assert read_wav(content).pcm == PCM


@pytest.mark.parametrize("present", [8000, 8001])
def test_truncated_file_is_an_error_with_both_sizes(present: int) -> None:
    """Case B19."""
    cut = riff(FORMAT, chunk(b"data", PCM))[: 44 + present]
    with pytest.raises(AudioError, match=rf"promises 16000 bytes.*{present} are there"):
        read_wav(cut)


@pytest.mark.parametrize(
    "content",
    [
        riff(FORMAT, chunk(b"data", b"")),
        riff(FORMAT, chunk(b"data", b""), LIST),
        riff(FORMAT, chunk(b"data", b""), ODD),
        riff(FORMAT, chunk(b"data", b"\0")),
    ],
    ids=["nothing", "then-list", "then-odd", "half-a-sample"],
)
def test_empty_audio_is_an_error(content: bytes) -> None:
    """Case B19."""
    with pytest.raises(AudioError, match="empty audio"):
        read_wav(content)


def test_streamed_silence_is_not_empty() -> None:
    assert len(read_wav(riff(FORMAT, chunk(b"data", bytes(1600), size=0)))) == 800


@pytest.mark.parametrize(("tag", "name"), [(0x02, "ADPCM"), (0x11, "IMA ADPCM"), (0x55, "MP3"), (0x1234, "unknown")])
@pytest.mark.parametrize("extensible", [False, True], ids=["plain", "extensible"])
def test_unsupported_format_is_named_by_its_tag(tag: int, name: str, extensible: bool) -> None:
    """Case B19."""
    content = riff(format_chunk(tag, 1, 8000, 1, extensible=extensible), chunk(b"data", b"\0" * 8))
    with pytest.raises(AudioError, match=rf"0x{tag:04X} \({name}\)"):
        read_wav(content)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a WAV file"),
        (b"OggS" + bytes(40), "not a WAV file.*OggS"),
        (riff(FORMAT), "no data chunk"),
        (riff(), "no format chunk"),
        (riff(chunk(b"data", PCM)), "data come before"),
        (riff(chunk(b"fmt ", b"\1\0\1\0")), "cut off after 4 bytes"),
        (riff(format_chunk(1, 0, 8000, 2), chunk(b"data", PCM)), "impossible format: 0 channels"),
        (riff(format_chunk(1, 1, 0, 2), chunk(b"data", PCM)), "impossible format.*0 Hz"),
        (riff(format_chunk(3, 1, 8000, 2), chunk(b"data", PCM)), "impossible format"),
        (riff(format_chunk(1, 1, 8000, 2, extensible=True)[:-1] + b"x", chunk(b"data", PCM)), "unknown sub-format"),
        (riff(format_chunk(3, 1, 8000, 4), chunk(b"data", struct.pack("<f", float("nan")))), "no numbers"),
    ],
)
def test_what_is_no_usable_wav_says_so(content: bytes, message: str) -> None:
    with pytest.raises(AudioError, match=message):
        read_wav(content)


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(AudioError, match=r"nobody\.wav: No such file"):
        read_wav(tmp_path / "nobody.wav")


def test_channels_are_averaged_or_picked() -> None:
    stereo = np.stack((SOUND, np.zeros_like(SOUND)), axis=1)
    content = wav_bytes(stereo, 8000)
    assert np.array_equal(read_wav(content, channel=0).samples, SOUND)
    assert not read_wav(content, channel=1).samples.any()
    assert np.abs(read_wav(content).samples - SOUND / 2).max() <= 0.5
    with pytest.raises(AudioError, match="no channel 2; it has 2"):
        read_wav(content, channel=2)


def test_tracks_are_read_as_one_chunk_each(tmp_path: Path) -> None:
    user, agent = white(0.5, -20, seed=1), white(0.5, -20, seed=2)
    write_wav(tmp_path / "call.wav", np.stack((user, agent), axis=1), 8000)
    tracks = read_tracks(tmp_path / "call.wav")
    assert [(track.pcm, track.position) for track in tracks] == [(user.tobytes(), 0), (agent.tobytes(), 0)]


@pytest.mark.parametrize("channels", [1, 2, 3])
def test_standard_library_opens_what_is_written(tmp_path: Path, channels: int) -> None:
    samples = white(1.5, -20)[: 11999 // channels * channels].reshape(-1, channels)
    write_wav(tmp_path / "out.wav", samples if channels > 1 else samples.ravel(), 8000)
    with wave.open(str(tmp_path / "out.wav")) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (8000, channels, 2)
        assert file.readframes(file.getnframes()) == samples.tobytes()


def test_pieces_join_to_the_unsplit_recording(tmp_path: Path) -> None:
    """Case B15."""
    user = placed(480_000, (27 * 8000, tone(500, 10)))
    agent = placed(480_000, (38 * 8000, tone(800, 2)))
    both = np.stack((user, agent), axis=1)
    with WavWriter(tmp_path / "pieces.wav", 8000, channels=2) as writer:
        for start in range(0, len(both), 240_000):
            writer.write(both[start : start + 240_000])
    assert (tmp_path / "pieces.wav").read_bytes() == wav_bytes(both, 8000)
    assert read_tracks(tmp_path / "pieces.wav")[1].samples.nonzero()[0][0] == 38 * 8000 + 1


def test_silence_between_utterances_is_kept(tmp_path: Path) -> None:
    """Case B13, the recording."""
    burst = tone(440, 0.5)
    agent = placed(124_000, (0, burst), (60_000, burst), (120_000, burst))
    with WavWriter(tmp_path / "call.wav", 8000, channels=2) as writer:
        writer.write(np.stack((np.zeros_like(agent), agent), axis=1))
    user, heard = read_tracks(tmp_path / "call.wav")
    assert len(user) == len(heard) == 124_000
    assert not user.samples.any()
    assert np.array_equal(heard.samples, agent)


KILLED = """
import os, signal, sys
import numpy as np
from voiceharness.audio.wav import WavWriter

writer = WavWriter(sys.argv[1], 8000)
for start in range(0, int(sys.argv[2]), 160):
    writer.write(np.arange(start, start + 160).astype(np.int16))
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("frames", [0, 160, 8000, 15_840, 80_000, 84_000])
def test_recording_survives_a_kill(tmp_path: Path, frames: int) -> None:
    """Case B17."""
    path = tmp_path / "killed.wav"
    done = subprocess.run([sys.executable, "-c", KILLED, path, str(frames)], check=False)
    assert done.returncode == -signal.SIGKILL
    with wave.open(str(path)) as file:
        kept = file.getnframes()
        assert kept > frames - 8000
        assert file.readframes(kept) == np.arange(kept).astype("<i2").tobytes()
    riff_size, data_size = struct.unpack("<4xI32xI", path.read_bytes()[:44])
    assert riff_size == data_size + 36


def test_clean_stop_has_the_right_sizes(tmp_path: Path) -> None:
    """Case B17."""
    path = tmp_path / "clean.wav"
    with WavWriter(path, 8000) as writer:
        for _ in range(500):
            writer.write(np.zeros(160, np.int16))
    writer.close()
    assert struct.unpack("<4xI32xI", path.read_bytes()[:44]) == (160_036, 160_000)


def test_writer_refuses_what_does_not_fit(tmp_path: Path) -> None:
    with WavWriter(tmp_path / "out.wav", 8000, channels=2) as writer:
        with pytest.raises(AudioError, match=r"2 channels, not int16 of shape \(100,\)"):
            writer.write(np.zeros(100, np.int16))
        with pytest.raises(AudioError, match="float64"):
            writer.write(np.zeros((100, 2)))  # type: ignore[arg-type]  # the mistake under test
        writer.frames = 2**30
        with pytest.raises(AudioError, match="4 GiB"):
            writer.write(np.zeros((100, 2), np.int16))
        writer.frames = 0
    with pytest.raises(AudioError, match="closed already"):
        writer.write(np.zeros((1, 2), np.int16))


def test_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(AudioError, match=r"cannot write .*missing/out\.wav"):
        WavWriter(tmp_path / "missing" / "out.wav", 8000)
