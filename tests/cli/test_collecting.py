"""Which files are run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from voiceharness.cli.collecting import collect, scenario_files
from voiceharness.errors import ScenarioError

if TYPE_CHECKING:
    from pathlib import Path

SCENARIO = "name: {}\nsteps:\n  - wait: 1s\n"


def test_folders_are_searched_and_each_file_counts_once(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    files = [tmp_path / name for name in ("b.yml", "deep/er/c.yaml", "a.yaml", "notes.txt")]
    for file in files:
        file.touch()
    assert scenario_files([files[0], tmp_path]) == [files[0], files[2], files[1]]


def test_a_file_that_is_named_is_taken_whatever_its_name(tmp_path: Path) -> None:
    assert scenario_files([tmp_path / "notes.txt"]) == [tmp_path / "notes.txt"]


def test_an_empty_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"no \.yaml or \.yml file"):
        scenario_files([tmp_path])


def test_every_scenario_is_found_with_its_file(tmp_path: Path) -> None:
    one, two = tmp_path / "one.yaml", tmp_path / "two.yaml"
    one.write_text("".join(f"- {SCENARIO.format(name)}".replace("\n", "\n  ").rstrip() + "\n" for name in ("a", "b")))
    two.write_text(SCENARIO.format("c"))
    cases = [(case.scenario.name, case.file) for case in collect([tmp_path])]
    assert cases == [("a", one), ("b", one), ("c", two)]
