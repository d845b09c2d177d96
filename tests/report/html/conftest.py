"""One browser for all tests of pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser import CHROMIUM, Browser
from tests.report.html.showcase import showcase_call
from voiceharness.report.artefacts import save_call
from voiceharness.report.html.call_page import write_call_page

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.browser import Page

__all__: list[str] = []


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A running Chromium."""
    if CHROMIUM is None:
        pytest.skip("not installed: chromium")
    with Browser(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture(scope="session")
def call_page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a call of a minute, beside its evidence."""
    return write_call_page(save_call(showcase_call(), tmp_path_factory.mktemp("call")))


@pytest.fixture
def page(browser: Browser, call_page_file: Path) -> Iterator[Page]:
    """That page, opened and drawn; whatever a test does, it must not make the page complain or leave the file."""
    page = browser.open(call_page_file)
    page.run("await callPage.ready")
    yield page
    assert page.complaints == []
    assert page.external_requests == []
    page.close()
