"""Pictures of up to 16 grey levels as PNG (PNG specification, third edition: 4 bits a pixel, not interlaced)."""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["LEVELS", "grey_png"]

LEVELS: Final = 16

_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_GREYSCALE: Final = 0


def grey_png(levels: NDArray[np.uint8]) -> bytes:
    """Encode rows of levels, 0 (black) to 15 (white)."""
    height, width = levels.shape
    even = np.pad(levels, ((0, 0), (0, width % 2)))
    packed = (even[:, 0::2] << 4) | even[:, 1::2]
    filtered = np.pad(packed, ((0, 0), (1, 0)))  # each row begins with its filter type: none
    header = struct.pack(">IIBBBBB", width, height, 4, _GREYSCALE, 0, 0, 0)
    data = zlib.compress(filtered.astype(np.uint8).tobytes(), 9)
    return _SIGNATURE + _chunk(b"IHDR", header) + _chunk(b"IDAT", data) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
