"""Frames of one size, and network byte order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voiceharness.audio.framing import Framer, decode_l16, encode_l16, frame_samples
from voiceharness.audio.mix import level_db
from voiceharness.audio.signals import tone
from voiceharness.errors import AudioError


def test_last_partial_frame_is_padded_and_the_next_answer_starts_clean() -> None:
    """Case A44, the cutting of frames."""
    framer = Framer(160, b"\xff")
    frames = framer.push(b"\x12" * 50_000)
    assert len(frames) == 312
    assert framer.pending == 80
    assert framer.flush() == b"\x12" * 80 + b"\xff" * 80
    assert framer.push(b"\x34" * 8000) == [b"\x34" * 160] * 50
    assert framer.flush() is None


@given(st.lists(st.binary(max_size=700)), st.sampled_from([2, 160, 320]))
def test_no_byte_is_lost_or_moved(pieces: list[bytes], size: int) -> None:
    framer = Framer(size)
    frames = [frame for piece in pieces for frame in framer.push(piece)]
    assert all(len(frame) == size for frame in frames)
    rest = framer.flush() or b""
    assert (b"".join(frames) + rest).startswith(b"".join(pieces))
    assert len(rest) in (0, size)


def test_half_a_sample_at_the_end_becomes_silence() -> None:
    framer = Framer(6, b"\0\0")
    framer.push(b"\1\2\3")
    assert framer.flush() == b"\1\2\0\0\0\0"


def test_cleared_framer_starts_clean() -> None:
    framer = Framer(4)
    framer.push(b"abc")
    framer.clear()
    assert framer.flush() is None
    assert framer.push(b"defg") == [b"defg"]


@pytest.mark.parametrize(("size", "padding"), [(0, b"\0"), (-2, b"\0"), (3, b"\0\0"), (4, b"")])
def test_impossible_frame_is_refused(size: int, padding: bytes) -> None:
    with pytest.raises(AudioError, match="cannot be padded"):
        Framer(size, padding)


def test_frame_lengths_at_line_rates() -> None:
    assert [frame_samples(rate) for rate in (8000, 16000, 44100, 48000)] == [160, 320, 882, 960]
    assert frame_samples(8000, 30) == 240


@pytest.mark.parametrize(("rate", "frame_ms"), [(11025, 20), (8000, 0), (8000, 0.01)])
def test_fractional_frame_is_refused(rate: int, frame_ms: float) -> None:
    with pytest.raises(AudioError, match=f"{frame_ms:g} ms.*{rate} Hz"):
        frame_samples(rate, frame_ms)


@pytest.mark.parametrize("rate", [8000, 16000])
def test_network_order_read_as_little_endian_is_noise(rate: int) -> None:
    """Case A42."""
    pcm = tone(997, 1, rate)
    wrong = np.frombuffer(encode_l16(pcm.tobytes()), "<i2")
    assert abs(np.corrcoef(pcm, wrong)[0, 1]) < 0.1
    assert 10 ** ((level_db(wrong) - level_db(pcm)) / 20) == pytest.approx(1.6, abs=0.1)
    assert decode_l16(encode_l16(pcm.tobytes())) == pcm.tobytes()


def test_network_order_puts_the_high_byte_first() -> None:
    assert encode_l16(np.array([0x1234, -2], "<i2").tobytes()) == b"\x12\x34\xff\xfe"


def test_half_a_sample_has_no_byte_order() -> None:
    with pytest.raises(AudioError, match="3 bytes"):
        encode_l16(b"abc")
