"""The evidence of a call on its way from the machine that made it: the files of a folder as one sequence of bytes."""

from __future__ import annotations

import io
import zipfile
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from voiceharness.errors import WorkerError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["LARGEST", "packed", "unpacked"]

LARGEST: Final = 2**30
"""Bytes of evidence that a call may have, before they are packed: three hours of both tracks at 16 kHz."""

_QUICK: Final = 1
"""A level of compression that takes the silence out of a recording, and hardly any time."""


def packed(folder: Path) -> bytes:
    """Pack the files of a folder.

    Raises:
        WorkerError: if they are larger than what may travel.
    """
    files = sorted(path for path in folder.iterdir() if path.is_file())
    _check_size(sum(path.stat().st_size for path in files))
    parcel = io.BytesIO()
    with zipfile.ZipFile(parcel, "w", zipfile.ZIP_DEFLATED, compresslevel=_QUICK) as archive:
        for path in files:
            archive.write(path, path.name)
    return parcel.getvalue()


def unpacked(parcel: bytes) -> Mapping[str, bytes]:
    """Return what was packed, by the names of the files.

    Raises:
        WorkerError: if it is no parcel, too large, or has files that do not belong into a folder of their own.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(parcel)) as archive:
            _check_size(sum(entry.file_size for entry in archive.infolist()))
            names = archive.namelist()
            foreign = [
                name for name in names if name in ("", ".", "..") or "\\" in name or PurePosixPath(name).name != name
            ]
            if foreign:
                raise WorkerError(f"evidence came back with files that lead elsewhere: {', '.join(map(repr, foreign))}")
            return {name: archive.read(name) for name in names}
    except (zipfile.BadZipFile, zipfile.LargeZipFile, EOFError, ValueError) as error:
        raise WorkerError(f"evidence came back damaged: {error}") from error


def _check_size(size: int) -> None:
    if size > LARGEST:
        raise WorkerError(f"the call left {size} bytes of evidence; {LARGEST} may be brought back from another machine")
