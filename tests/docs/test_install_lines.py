"""What cannot be run on a page about installing is at least right: extras, targets and files exist."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

__all__: list[str] = []

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]

pytestmark = pytest.mark.checkout


def settings() -> dict[str, Any]:  # Any: TOML
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def extras() -> set[str]:
    return set(settings()["project"]["optional-dependencies"])


def packages(*lists: list[Any]) -> set[str]:
    """The packages that requirements name, ours left out."""
    named = {re.split(r"[^\w-]", each)[0] for requirements in lists for each in requirements if isinstance(each, str)}
    return {name.lower() for name in named} - {"voiceharness"}


def first_column(text: str) -> set[str]:
    """The packages named on the left of a page's tables."""
    cells = re.findall(r"^\| ([^|]+) \|", text, re.MULTILINE)
    return {name.lower() for cell in cells for name in re.findall(r"[\w-]+", re.sub(r"`[^`]*`", "", cell))}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_extra_and_target_that_a_page_names_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    named = {extra for names in re.findall(r"voiceharness\[([\w,-]+)\]", text) for extra in names.split(",")}
    assert named - extras() == set()
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"^(?:\$ )?make (\w+)", text, re.MULTILINE)) - targets == set()


def test_the_readme_tells_of_every_extra_and_of_the_licence_of_every_package() -> None:
    text, project = (ROOT / "README.md").read_text(encoding="utf-8"), settings()["project"]
    told = set(re.findall(r"^\| `([\w-]+)` \|", text, re.MULTILINE))
    assert extras() - told == set()
    needed = packages(project["dependencies"], *project["optional-dependencies"].values())
    assert needed - first_column(text.partition("## Licences")[2]) == set()


def test_every_dependency_has_its_reason() -> None:
    text, made = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), settings()
    lists = [made["project"]["dependencies"], *made["project"]["optional-dependencies"].values()]
    needed = packages(*lists, *made["dependency-groups"].values())
    assert needed - first_column(text) == set()
