"""Files that hold results: whether they can be written is asked before the work is done."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from voiceharness.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = ["refuse_unwritable", "write_file"]


def refuse_unwritable(files: Iterable[Path]) -> None:
    """Refuse files that could not be written; the only sure way to know is to try.

    What is in them stays as it is, and a file that was not there is not there afterwards. The folders that they need
    are made, and taken away again if one of the files is refused.

    Raises:
        OptionError: if one of them cannot be written.
    """
    made: list[Path] = []
    for file in files:
        try:
            _make_folders(file.parent, made)
            _try(file.resolve())  # where a link leads to what is not there yet, that is made and removed
        except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: links in a circle
            for folder in reversed(made):
                with suppress(OSError):  # somebody else may use it by now
                    folder.rmdir()
            why = error.strerror if isinstance(error, OSError) else error
            raise OptionError(f"cannot write {file}: {why}; name a place that can be written. Nothing was begun") from (
                error
            )


def write_file(file: Path, content: bytes) -> None:
    """Write a file, in a folder that is made for it.

    Raises:
        OptionError: if it cannot be written.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    except OSError as error:
        raise OptionError(f"cannot write {file}: {error.strerror}") from error


def _make_folders(folder: Path, made: list[Path]) -> None:
    missing = [each for each in (folder, *folder.parents) if not os.path.lexists(each)]
    for each in reversed(missing):
        with suppress(FileExistsError):  # another run is as far
            each.mkdir()
            made.append(each)


def _try(file: Path) -> None:
    try:
        new = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    except FileExistsError:
        _try_existing(file)
        return
    try:
        os.close(new)
    finally:
        file.unlink()


def _try_existing(file: Path) -> None:
    file.stat()  # from Python 3.13 on, the first to notice links in a circle
    if file.is_file() or file.is_dir():
        with file.open("ab"):
            return
    if not os.access(file, os.W_OK):  # to open a pipe would wait for whoever reads it
        raise PermissionError(13, "Permission denied", str(file))
