"""The page "Write an adapter" shows the example package as it is, whole, and all rules it is checked by."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.pages import blocks
from voiceharness.testing import RULES

__all__: list[str] = []

pytestmark = pytest.mark.checkout

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "third_party_adapter"
PAGE = (ROOT / "docs" / "write-an-adapter.md").read_text(encoding="utf-8")


def test_its_files_are_those_of_the_package() -> None:
    shown = {str(block.file): block.text for block in blocks(PAGE) if block.file}
    kept = [path for path in EXAMPLE.rglob("*") if path.suffix in (".py", ".toml") and "build" not in path.parts]
    assert shown == {str(path.relative_to(EXAMPLE)): path.read_text(encoding="utf-8") for path in kept}


def test_its_rules_are_those_of_the_kit() -> None:
    assert [line[2:] for line in PAGE.splitlines() if line.startswith("- ") and line[2:] in RULES] == list(RULES)
