"""Writing a file again, so that it always has its old content or its new one.

A full disk or a process that is killed must not cost what was known before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["place_beside", "replace_file"]


def place_beside(path: Path) -> Path:
    """Return where the new content of a file is written; its folder has to take it."""
    return path.with_name(f".{path.name}.part")


def replace_file(path: Path, content: bytes) -> None:
    """Write a file, in place of what is there; two processes must not do so with one file at a time.

    Raises:
        OSError: if it cannot be written. Then it is as it was.
    """
    beside = place_beside(path)
    try:
        beside.write_bytes(content)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
