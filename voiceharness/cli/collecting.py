"""Scenario files named on the command line, and the scenarios in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from voiceharness.errors import ScenarioError
from voiceharness.scenario.yaml_file import load_scenarios

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from voiceharness.scenario.scenario import Scenario

__all__ = ["Case", "collect", "scenario_files"]

_SUFFIXES: Final = frozenset({".yaml", ".yml"})


@dataclass(frozen=True, slots=True)
class Case:
    """A scenario and the file it stands in."""

    scenario: Scenario
    file: Path


def scenario_files(paths: Iterable[Path]) -> list[Path]:
    """Return the files among some paths and all YAML files below the folders among them, each once, folders sorted.

    Raises:
        ScenarioError: if a folder has none.
    """
    found: dict[Path, None] = {}
    for path in paths:
        below = sorted(file for file in path.rglob("*") if file.suffix in _SUFFIXES) if path.is_dir() else [path]
        if not below:
            raise ScenarioError("there is no .yaml or .yml file in this folder", file=str(path))
        found.update(dict.fromkeys(below))
    return list(found)


def collect(paths: Iterable[Path]) -> list[Case]:
    """Read all scenarios.

    Raises:
        ScenarioError: if a file cannot be used.
    """
    return [Case(scenario, file) for file in scenario_files(paths) for scenario in load_scenarios(file)]
