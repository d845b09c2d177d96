"""``voiceharness report``: pages of saved calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voiceharness.cli.output import complain, tell, tell_json
from voiceharness.errors import OptionError
from voiceharness.report.html.call_page import write_call_page
from voiceharness.report.html.suite_page import SUITE_PAGE, write_suite_page
from voiceharness.report.runs import SUITE_FILE, load_suite

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["write_pages"]


def write_pages(*, folder: Path, as_json: bool) -> int:
    """Write the page of a saved call, or those of a suite and all its calls, and tell where they are."""
    pages = list(_suite_pages(folder)) if (folder / SUITE_FILE).exists() else [write_call_page(folder)]
    if as_json:
        tell_json({"format": "voiceharness-pages/1", "pages": [str(page) for page in pages]})
    else:
        tell(str(pages[-1]))
    return 0


def _suite_pages(folder: Path) -> Iterator[Path]:
    """Write the pages of a suite's calls, then its own; a call whose evidence is gone goes without."""
    for call in load_suite(folder)["calls"]:
        name = (call["folder"] or "").replace("\\", "/").rstrip("/").rpartition("/")[2]
        if not name:
            continue
        try:
            yield write_call_page(folder / name, suite_page=f"../{SUITE_PAGE}")
        except OptionError as error:
            complain(str(error))
    yield write_suite_page(folder)
