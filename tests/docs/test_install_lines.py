"""What cannot be run on a page about installing is at least right: extras, targets and files exist."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

__all__: list[str] = []

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]

pytestmark = pytest.mark.checkout


def extras() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return set(project["optional-dependencies"])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_extra_and_target_that_a_page_names_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    named = {extra for names in re.findall(r"voiceharness\[([\w,-]+)\]", text) for extra in names.split(",")}
    assert named - extras() == set()
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"^(?:\$ )?make (\w+)", text, re.MULTILINE)) - targets == set()


def test_the_readme_tells_of_every_extra_and_its_licence() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    told = set(re.findall(r"^\| `([\w-]+)` \|", text, re.MULTILINE))
    assert extras() - told == set()
