"""Disks that take no more."""

from __future__ import annotations

from errno import ENOSPC
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

__all__ = ["fill_up"]


def fill_up(monkeypatch: pytest.MonkeyPatch, full: Callable[[Path], bool]) -> None:
    """Let the disk be full in the middle of every file that is ``full``, though it can be made."""
    write = Path.write_bytes

    def write_bytes(path: Path, content: bytes) -> int:
        if not full(path):
            return write(path, content)
        write(path, content[: len(content) // 2])
        raise OSError(ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(Path, "write_bytes", write_bytes)
