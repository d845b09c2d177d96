"""Grey pictures as PNG, decoded again by the rules of the specification."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import pytest

from voiceharness.report.html.png import LEVELS, grey_png

__all__: list[str] = []


def chunks(data: bytes) -> dict[bytes, bytes]:
    found, at = {}, 8
    while at < len(data):
        (size,) = struct.unpack_from(">I", data, at)
        kind, content = data[at + 4 : at + 8], data[at + 8 : at + 8 + size]
        assert struct.unpack_from(">I", data, at + 8 + size) == (zlib.crc32(kind + content),)
        found[kind] = content
        at += size + 12
    return found


@pytest.mark.parametrize("width", [1, 2, 7, 64])
def test_every_level_comes_back(width: int) -> None:
    levels = np.random.default_rng(width).integers(0, LEVELS, (5, width)).astype(np.uint8)
    data = grey_png(levels)
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    found = chunks(data)
    assert list(found) == [b"IHDR", b"IDAT", b"IEND"]
    assert struct.unpack(">IIBBBBB", found[b"IHDR"]) == (width, 5, 4, 0, 0, 0, 0)
    rows = np.frombuffer(zlib.decompress(found[b"IDAT"]), np.uint8).reshape(5, -1)
    assert not rows[:, 0].any()
    pixels = np.stack((rows[:, 1:] >> 4, rows[:, 1:] & 15), axis=2).reshape(5, -1)[:, :width]
    assert np.array_equal(pixels, levels)
