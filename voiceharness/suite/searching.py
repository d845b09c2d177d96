"""Look through folders for files, as far as that can be done in a moment.

A folder may be a whole disk, and a pattern may follow links in a circle. So whatever is met is counted, and a search
that meets too much is given up with an error that says where it was. Links to folders are followed where a part of a
pattern names them, not below a folder or in place of ``**``.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from errno import ELOOP
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Final

from voiceharness.errors import ScenarioError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["MOST", "WILD", "Search"]

MOST: Final = 100_000
"""Files and folders that a search may meet: a second or two of looking."""

WILD: Final = re.compile(r"[*?\[]")
"""What makes a part of a path a pattern."""

_ANY_DEPTH: Final = "**"


@dataclass(slots=True)
class Search:
    """One search below ``start``; it may meet ``most`` files and folders."""

    start: Path
    most: int = MOST
    met: int = field(default=0, init=False)

    def below(self) -> Iterator[Path]:
        """Find everything below the folder that is no folder itself, in no order.

        Raises:
            ScenarioError: if there is too much, or a folder cannot be looked into.
        """
        waiting = [self.start]
        while waiting:
            for entry in self._entries(waiting.pop()):
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(Path(entry.path))
                elif not _leads_to_folder(entry):
                    yield Path(entry.path)

    def matching(self, parts: Sequence[str]) -> Iterator[Path]:
        """Find what the parts of a pattern name, in no order, some of it more than once.

        ``*``, ``?`` and ``[...]`` stand for what they do in a shell, ``**`` for any folders, also none, and at the end
        for everything below. What has no such sign is taken at its word, whether it is there or not.

        Raises:
            ScenarioError: if there is too much, or a folder cannot be looked into.
        """
        open_ended = parts[-1:] == [_ANY_DEPTH]
        waiting: list[tuple[Path, tuple[str, ...]]] = [(self.start, (*parts, "*") if open_ended else tuple(parts))]
        while waiting:
            path, rest = waiting.pop()
            if rest:
                waiting.extend(self._one_part_on(path, rest[0], rest[1:]))
            else:
                yield path

    def _one_part_on(self, path: Path, part: str, rest: tuple[str, ...]) -> Iterator[tuple[Path, tuple[str, ...]]]:
        if part == _ANY_DEPTH:
            yield path, rest
            for entry in self._entries(path):
                if entry.is_dir(follow_symlinks=False):
                    yield Path(entry.path), (part, *rest)
        elif WILD.search(part):
            yield from ((Path(entry.path), rest) for entry in self._entries(path) if fnmatch(entry.name, part))
        else:
            yield path / part, rest

    def _entries(self, folder: Path) -> Iterator[os.DirEntry[str]]:
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    self._count(folder)
                    yield entry
        except (FileNotFoundError, NotADirectoryError, ValueError):
            return  # a pattern looks below files, too, and below names that no folder can have
        except OSError as error:
            if error.errno == ELOOP:
                return  # a link to itself leads to nothing
            told = f"cannot look into the folder {folder} for scenario files: {error.strerror}"
            raise ScenarioError(f"{told}; name folders or files that can be read") from error

    def _count(self, folder: Path) -> None:
        self.met += 1
        if self.met > self.most:
            raise ScenarioError(
                f"gave up looking for scenario files in {self.start.absolute()} after {self.most} files and folders, "
                f"the last of them in {folder}; name the folder that holds the scenarios alone, or the files"
            )


def _leads_to_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False
