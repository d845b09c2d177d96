"""Which files are run, and which are suite files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from voiceharness.errors import ScenarioError
from voiceharness.suite.finding import collect, files_matching, is_suite_file, scenario_files, yaml_files

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


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("suite: nightly\nscenarios: [calls]\n", True),
        ("# of every night\nscenarios: [calls]\n'suite' : nightly\n", True),
        ("\ufeffsuite: nightly\n", True),
        ("name: suite\nsteps: [hear]\n", False),
        ("name: a\noptions:\n  suite: no\n", False),
        ("suites: [a]\n", False),
    ],
)
def test_a_suite_file_is_known_by_its_key(text: str, is_one: bool, tmp_path: Path) -> None:
    file = tmp_path / "file.yaml"
    file.write_text(text, encoding="utf-8")
    assert is_suite_file(file) is is_one


def test_what_cannot_be_read_is_no_suite_file(tmp_path: Path) -> None:
    assert not is_suite_file(tmp_path)
    os.mkfifo(tmp_path / "pipe.yaml")  # to open it would wait for somebody who writes
    assert not is_suite_file(tmp_path / "pipe.yaml")


def test_what_is_called_like_a_file_and_is_none_is_passed_over_in_a_folder(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "folder.yaml").mkdir()
    (tmp_path / "a.yaml").touch()
    (tmp_path / "lost.yaml").symlink_to("nowhere.yaml")  # reading it will tell
    found = [tmp_path / "a.yaml", tmp_path / "lost.yaml"]
    assert yaml_files([tmp_path]) == files_matching("*.yaml", tmp_path) == found


@pytest.mark.parametrize("pattern", [".", "**", "**/*.yaml", "*/*"])
def test_a_search_that_would_not_end_is_refused(pattern: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("voiceharness.suite.finding.MOST", 3)
    (tmp_path / "calls").mkdir()
    for name in "abc":
        (tmp_path / "calls" / f"{name}.yaml").touch()
    with pytest.raises(ScenarioError, match="after 3 files and folders"):
        files_matching(pattern, tmp_path)


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        ("a" * 300, "File name too long|there is no scenario file"),
        ("pipe", "'pipe' is neither a file nor a folder"),
        ("itself", "there is no scenario file 'itself'"),
        ("itself/*.yaml", r"the pattern 'itself/\*.yaml' matches nothing"),
        ("a\0b", "there is no scenario file"),
        ("a\0b/*", "matches nothing"),
    ],
)
def test_a_name_that_cannot_be_one_is_an_error_of_the_file(pattern: str, told: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "itself").symlink_to(tmp_path / "itself")
    with pytest.raises(ScenarioError, match=told):
        files_matching(pattern, tmp_path)


def test_a_folder_is_searched_for_scenarios_without_the_suites_in_it(tmp_path: Path) -> None:
    (tmp_path / "nightly.yaml").write_text("suite: nightly\nscenarios: [.]\n")
    (tmp_path / "a.yaml").write_text(SCENARIO.format("a"))
    assert scenario_files([tmp_path]) == [tmp_path / "a.yaml"]
    assert yaml_files([tmp_path]) == [tmp_path / "a.yaml", tmp_path / "nightly.yaml"]


def test_a_pattern_is_a_file_a_folder_or_wild(tmp_path: Path) -> None:
    (tmp_path / "calls" / "deep").mkdir(parents=True)
    for name in ("calls/b.yaml", "calls/a.yml", "calls/deep/c.yaml", "calls/notes.txt", "top.yaml"):
        (tmp_path / name).write_text(SCENARIO.format("x"))
    (tmp_path / "nightly.yaml").write_text("suite: nightly\nscenarios: [.]\n")

    def found(pattern: str) -> list[str]:
        return [str(file.relative_to(tmp_path)) for file in files_matching(pattern, tmp_path)]

    assert found("top.yaml") == ["top.yaml"]
    assert found("calls") == ["calls/a.yml", "calls/b.yaml", "calls/deep/c.yaml"]
    assert found("*.yaml") == ["top.yaml"]
    assert found("calls/*") == ["calls/a.yml", "calls/b.yaml"]
    assert found("**/c.*") == ["calls/deep/c.yaml"]
    assert found(str(tmp_path / "calls" / "b*")) == ["calls/b.yaml"]


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        ("nowhere.yaml", "there is no scenario file 'nowhere.yaml'"),
        ("nowhere/*.yaml", r"the pattern 'nowhere/\*.yaml' matches nothing"),
        ("*.txt", r"the pattern '\*.txt' matches nothing"),
    ],
)
def test_a_pattern_that_finds_nothing_is_an_error(pattern: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=told):
        files_matching(pattern, tmp_path)


def test_a_folder_of_suite_files_alone_says_how_they_are_run(tmp_path: Path) -> None:
    (tmp_path / "nightly.yaml").write_text("suite: nightly\nscenarios: [calls]\n")
    with pytest.raises(
        ScenarioError, match=r"no \.yaml or \.yml file in this folder, but suite files, which are run by"
    ):
        scenario_files([tmp_path])


def test_a_suite_names_no_suites(tmp_path: Path) -> None:
    (tmp_path / "other.yaml").write_text("suite: other\nscenarios: [calls]\n")
    with pytest.raises(ScenarioError, match=r"'other\.yaml' is a suite file; a suite names scenarios"):
        files_matching("other.yaml", tmp_path)
