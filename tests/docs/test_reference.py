"""The pages of docs/reference are what the code says."""

from __future__ import annotations

import pytest

from tools.make_reference import FOLDER, PAGES

__all__: list[str] = []

pytestmark = pytest.mark.checkout


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_what_would_be_made_now(name: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == PAGES[name](), "run: python -m tools.make_reference"


def test_there_are_no_other_pages() -> None:
    assert {file.name for file in FOLDER.iterdir()} == {*PAGES}
