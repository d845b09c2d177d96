"""``voiceharness report``: pages of saved calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voiceharness.cli.output import complain, tell, tell_json
from voiceharness.errors import OptionError
from voiceharness.report.html.call_page import write_call_page
from voiceharness.report.html.suite_page import SUITE_PAGE, write_suite_page
from voiceharness.report.runs import SUITE_FILE, load_suite
from voiceharness.report.transcribing import transcribe_call
from voiceharness.speech.engines import make_transcriber

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from voiceharness.speech.transcription import Transcriber

__all__ = ["write_pages"]


def write_pages(*, folder: Path, transcriber: str | None, as_json: bool) -> int:
    """Write the page of a saved call, or those of a suite and all its calls, and tell where they are.

    The ``transcriber`` of that name is asked first what the agent said in calls of which there are no words.
    """
    engine = None if transcriber is None else make_transcriber(transcriber)
    pages = list(_suite_pages(folder, engine)) if (folder / SUITE_FILE).exists() else [_call_page(folder, engine)]
    if as_json:
        tell_json({"format": "voiceharness-pages/1", "pages": [str(page) for page in pages]})
    else:
        tell(str(pages[-1]))
    return 0


def _call_page(folder: Path, engine: Transcriber | None, *, suite_page: str | None = None) -> Path:
    if engine is not None:
        transcribe_call(folder, engine)
    return write_call_page(folder, suite_page=suite_page)


def _suite_pages(folder: Path, engine: Transcriber | None) -> Iterator[Path]:
    """Write the pages of a suite's calls, then its own; a call whose evidence is gone goes without."""
    for call in load_suite(folder)["calls"]:
        name = (call["folder"] or "").replace("\\", "/").rstrip("/").rpartition("/")[2]
        if not name:
            continue
        try:
            yield _call_page(folder / name, engine, suite_page=f"../{SUITE_PAGE}")
        except OptionError as error:
            complain(str(error))
    yield write_suite_page(folder)
