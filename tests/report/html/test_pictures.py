"""Envelopes and spectrograms."""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.report.html.test_png import chunks
from voiceharness.audio.signals import tone, white_noise
from voiceharness.report.html.pictures import envelope, loudest, spectrogram_png

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__: list[str] = []

RATE = 8000


def pixels(data: bytes) -> NDArray[np.uint8]:
    found = chunks(data)
    width, height = struct.unpack_from(">II", found[b"IHDR"])
    rows = np.frombuffer(zlib.decompress(found[b"IDAT"]), np.uint8).reshape(height, -1)[:, 1:]
    return np.stack((rows >> 4, rows & 15), axis=2).reshape(height, -1)[:, :width]


def test_the_peak_is_that_of_all_tracks() -> None:
    assert loudest(np.array([5, -32768], np.int16), np.array([7], np.int16)) == 32768
    assert loudest(np.zeros(0, np.int16), np.zeros(3, np.int16)) == 1


def test_an_envelope_has_a_pair_for_every_five_milliseconds() -> None:
    track = np.zeros(RATE, np.int16)
    track[40:80] = 1000  # the second column
    track[85] = -2000  # the third
    pairs = np.frombuffer(envelope(track, RATE, 2000), np.int8).reshape(-1, 2)
    assert len(pairs) == 200
    assert pairs[:4].tolist() == [[0, 0], [64, 64], [-127, 0], [0, 0]]


@pytest.mark.parametrize("samples", [0, 1, 39])
def test_the_shortest_calls_have_an_envelope_and_a_spectrogram(samples: int) -> None:
    track = np.ones(samples, np.int16)
    assert len(envelope(track, RATE, 1)) == 2
    assert pixels(spectrogram_png(track, RATE)).shape[1] == 1


@pytest.mark.parametrize(("rate", "top"), [(8000, 4000), (16000, 8000), (48000, 8000)])
def test_a_tone_is_a_line_at_its_height(rate: int, top: int) -> None:
    picture = pixels(spectrogram_png(tone(1000, 2.0, rate, level_db=-20), rate))
    assert picture.shape == (64, 100)
    rows = picture[:, 10:90].argmax(axis=0)
    assert np.abs((63.5 - rows) / 64 * top - 1000).max() < 1.5 * top / 64


def test_a_click_stands_where_it_happened() -> None:
    track = np.zeros(2 * RATE, np.int16)
    track[round(1.23 * RATE)] = 30000
    assert int(pixels(spectrogram_png(track, RATE)).sum(axis=0).argmax()) == 61  # 1.22 to 1.24 s


def test_a_long_call_takes_no_more_room_than_a_long_picture() -> None:
    track = white_noise(600, RATE, level_db=-30, seed=1)
    assert len(envelope(track, RATE, 32767)) == 2 * 24_000
    assert pixels(spectrogram_png(track, RATE)).shape[1] <= 6_000
