"""Find scenario files, and the scenarios in them; tell suite files from them.

A suite file has the key ``suite`` at the beginning of a line. Where a folder is searched, suite files are passed over:
they name scenarios, and are none.
"""

from __future__ import annotations

import re
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from voiceharness.errors import ScenarioError
from voiceharness.scenario.yaml_file import load_scenarios
from voiceharness.scenario.yaml_nodes import MAX_BYTES
from voiceharness.suite.searching import MOST, WILD, Search

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from voiceharness.scenario.scenario import Scenario

__all__ = ["Case", "collect", "files_matching", "is_suite_file", "scenario_files", "yaml_files"]

_SUFFIXES: Final = frozenset({".yaml", ".yml"})
_SUITE_KEY: Final = re.compile(rb"""^(?:\xef\xbb\xbf)?["']?suite["']?[ \t]*:""", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Case:
    """A scenario and the file it stands in."""

    scenario: Scenario
    file: Path


def is_suite_file(file: Path) -> bool:
    """Tell a suite file from a scenario file; what cannot be read, or only once (a pipe), is none."""
    try:
        if not file.is_file():
            return False
        with file.open("rb") as stream:
            return _SUITE_KEY.search(stream.read(MAX_BYTES)) is not None
    except OSError:
        return False


def yaml_files(paths: Iterable[Path]) -> list[Path]:
    """Return the files among some paths and all YAML files below the folders among them, each once, folders sorted.

    Raises:
        ScenarioError: if a folder has none, has too much in it to look through, or cannot be looked into.
    """
    return _found(paths, suites=True)


def scenario_files(paths: Iterable[Path]) -> list[Path]:
    """Return the same files without the suite files in the folders.

    Raises:
        ScenarioError: as of :func:`yaml_files`.
    """
    return _found(paths, suites=False)


def files_matching(pattern: str, folder: Path) -> list[Path]:
    """Return the scenario files that a pattern names: a file, all below a folder, or what matches ``*``, ``?``, ``**``.

    It is relative to ``folder``; what it finds is sorted.

    Raises:
        ScenarioError: if there is none, or what is named cannot be looked through.
    """
    try:
        return _named(pattern, folder)
    except OSError as error:
        raise ScenarioError(f"cannot look for {pattern!r} in {folder}: {error.strerror}") from error


def _named(pattern: str, folder: Path) -> list[Path]:
    named = folder / pattern
    if named.is_file() and is_suite_file(named):
        raise ScenarioError(f"{pattern!r} is a suite file; a suite names scenarios")
    if named.is_file() or named.is_dir():
        return scenario_files([named])
    if named.exists():
        raise ScenarioError(f"{pattern!r} is neither a file nor a folder")
    first = next((index for index, part in enumerate(named.parts) if WILD.search(part)), len(named.parts))
    wild = named.parts[first:]
    matches = sorted(set(Search(type(named)(*named.parts[:first]), MOST).matching(wild))) if wild else []
    files = [file for file in matches if _is_yaml(file) and not is_suite_file(file)]
    if not files:
        if wild:
            raise ScenarioError(f"the pattern {pattern!r} matches nothing: no scenario file in {folder}")
        raise ScenarioError(f"there is no scenario file {pattern!r} in {folder}")
    return files


def collect(paths: Iterable[Path]) -> list[Case]:
    """Read all scenarios.

    Raises:
        ScenarioError: if a file cannot be used.
    """
    return [Case(scenario, file) for file in scenario_files(paths) for scenario in load_scenarios(file)]


def _found(paths: Iterable[Path], *, suites: bool) -> list[Path]:
    found: dict[Path, None] = {}
    for path in paths:
        found.update(dict.fromkeys(_in_folder(path, suites=suites) if path.is_dir() else [path]))
    return list(found)


def _in_folder(folder: Path, *, suites: bool) -> list[Path]:
    all_files = sorted(file for file in Search(folder, MOST).below() if _is_yaml(file))
    files = all_files if suites else [file for file in all_files if not is_suite_file(file)]
    if not files:
        beside = "but suite files, which are run by their names" if all_files else ""
        told = ", ".join(part for part in ("there is no .yaml or .yml file in this folder", beside) if part)
        raise ScenarioError(told, file=str(folder))
    return files


def _is_yaml(file: Path) -> bool:
    """Tell whether this is a file of such a name; also a link that leads nowhere, of which reading will tell."""
    if file.suffix not in _SUFFIXES:
        return False
    try:
        return stat.S_ISREG(file.stat().st_mode)
    except OSError:
        return file.is_symlink()
