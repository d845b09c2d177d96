"""Searches that end, however much there is to look through."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from voiceharness.errors import ScenarioError
from voiceharness.suite.searching import Search

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Six files and folders, with a link back to the top and one to itself."""
    (tmp_path / "calls" / "deep").mkdir(parents=True)
    for name in ("calls/a.yaml", "calls/deep/b.yaml"):
        (tmp_path / name).touch()
    (tmp_path / "calls" / "top").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "itself").symlink_to(tmp_path / "itself")
    return tmp_path


def below(search: Search) -> list[str]:
    return sorted(path.relative_to(search.start).as_posix() for path in search.below())


def matching(tree: Path, pattern: str) -> list[str]:
    found = set(Search(tree).matching(pattern.split("/")))
    return sorted(path.relative_to(tree).as_posix() for path in found)


def test_all_files_below_a_folder_are_found_without_following_links(tree: Path) -> None:
    assert below(Search(tree)) == ["calls/a.yaml", "calls/deep/b.yaml", "itself"]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("calls/*.yaml", ["calls/a.yaml"]),
        ("*/?.yaml", ["calls/a.yaml"]),
        ("**/*.yaml", ["calls/a.yaml", "calls/deep/b.yaml"]),
        ("**/deep/*", ["calls/deep/b.yaml"]),
        ("**/**/b.*", ["calls/deep/b.yaml"]),
        ("calls/deep/**", ["calls/deep/b.yaml"]),
        ("calls/**.yaml", ["calls/a.yaml"]),
        ("calls/[ab].yaml", ["calls/a.yaml"]),
        ("calls/a.yaml/*", []),
        ("itself/*", []),
        ("*/top/calls/*.yaml", ["calls/top/calls/a.yaml"]),
    ],
)
def test_a_pattern_means_what_it_means_in_a_shell(tree: Path, pattern: str, found: list[str]) -> None:
    assert matching(tree, pattern) == found


def test_as_much_as_a_search_may_meet_is_not_too_much(tree: Path) -> None:
    assert len(below(Search(tree, most=6))) == 3
    with pytest.raises(ScenarioError, match="after 5 files and folders"):
        below(Search(tree, most=5))


def test_what_was_searched_and_what_to_do_is_told(tree: Path) -> None:
    with pytest.raises(ScenarioError) as raised:
        below(Search(tree, most=3))
    assert str(raised.value).startswith(f"gave up looking for scenario files in {tree} after 3 files and folders, ")
    assert f"the last of them in {tree / 'calls'}; name the folder that holds the scenarios alone" in str(raised.value)


@pytest.mark.parametrize("pattern", ["**/*.yaml", "*/*/*/*/*/*/*/*/*/*/*/*/*/*.yaml"])
def test_a_pattern_is_given_up_too_also_one_that_follows_links_in_a_circle(tree: Path, pattern: str) -> None:
    for number in range(4):
        (tree / f"again-{number}").symlink_to(tree, target_is_directory=True)
    with pytest.raises(ScenarioError, match="gave up looking for scenario files in"):
        list(Search(tree, most=5 if "**" in pattern else 1000).matching(pattern.split("/")))


def test_a_folder_that_cannot_be_looked_into_is_an_error(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    look = os.scandir

    def refusing(path: Path) -> object:
        if path.name == "deep":
            raise PermissionError(13, "Permission denied", str(path))
        return look(path)

    monkeypatch.setattr(os, "scandir", refusing)
    with pytest.raises(
        ScenarioError, match=r"cannot look into the folder .*deep for scenario files: Permission denied"
    ):
        below(Search(tree))
