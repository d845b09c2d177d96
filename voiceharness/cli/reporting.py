"""``voiceharness report``: pages of saved calls."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from voiceharness.cli.output import complain, tell, tell_json
from voiceharness.errors import AudioError, OptionError
from voiceharness.report.artefacts import PAGE, load_document
from voiceharness.report.html.call_page import write_call_page
from voiceharness.report.html.suite_page import SUITE_PAGE, write_suite_page
from voiceharness.report.replacing import place_beside
from voiceharness.report.runs import SUITE_FILE, call_folder, load_suite, repeat_additions
from voiceharness.report.transcribing import transcribe_call
from voiceharness.report.writable import refuse_unwritable
from voiceharness.speech.engines import make_transcriber

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from voiceharness.report.document import CallDocument
    from voiceharness.speech.transcription import Transcriber

__all__ = ["write_pages"]


def write_pages(*, folder: Path, transcriber: str | None, as_json: bool) -> int:
    """Write the page of a saved call, or those of a suite and all its calls, and tell where they are.

    The ``transcriber`` of that name is asked first what the agent said in calls of which there are no words; what it
    understood is told in the suite, too.
    """
    is_suite = (folder / SUITE_FILE).exists()
    page = folder / (SUITE_PAGE if is_suite else PAGE)
    refuse_unwritable([page, place_beside(page)])
    engine = None if transcriber is None else make_transcriber(transcriber)
    pages = _suite_pages(folder, engine) if is_suite else _pages_of_one(folder, engine)
    if as_json:
        tell_json({"format": "voiceharness-pages/1", "pages": [str(page) for page in pages]})
    else:
        tell(str(pages[-1]))
    return 0


def _suite_pages(folder: Path, engine: Transcriber | None) -> list[Path]:
    """Write the pages of a suite's calls, then its own; a call whose evidence is gone goes without."""
    homes = [home for each in load_suite(folder)["calls"] if (home := call_folder(folder, each)) is not None]
    pages: list[Path] = []
    try:
        for home in homes:
            try:
                pages.append(_call_page(home, engine, in_suite=True))
            except (OptionError, AudioError) as error:
                complain(str(error))
    finally:  # also of what was done until it was interrupted
        if engine is not None:
            _tell_suite(folder, homes)
    return [*pages, write_suite_page(folder)]


def _pages_of_one(folder: Path, engine: Transcriber | None) -> list[Path]:
    """Write the page of a call; where it is one of a suite, the suite gets to know its words."""
    home = folder.resolve()
    in_suite = _is_of_suite(home)
    page = _call_page(folder, engine, in_suite=in_suite)
    if in_suite and engine is not None:
        _tell_suite(home.parent, [home])
        if (home.parent / SUITE_PAGE).exists():
            write_suite_page(home.parent)
    return [page]


def _call_page(folder: Path, engine: Transcriber | None, *, in_suite: bool) -> Path:
    if engine is not None:
        transcribe_call(folder, engine)
    return write_call_page(folder, suite_page=f"../{SUITE_PAGE}" if in_suite else None)


def _is_of_suite(home: Path) -> bool:
    """Tell whether the folder that a call's folder lies in is that of its suite; what cannot be used is none."""
    try:
        return home in {call_folder(home.parent, each) for each in load_suite(home.parent)["calls"]}
    except OptionError:
        return False


def _tell_suite(folder: Path, homes: Iterable[Path]) -> None:
    """Let the document of a suite tell of its calls what their own documents do."""
    results: dict[Path, CallDocument] = {}
    for home in homes:
        with suppress(OptionError):  # of a call whose evidence is gone, or damaged, the suite knows more
            results[home] = load_document(home)
    for home in repeat_additions(folder, results):
        complain(f"{folder / SUITE_FILE} tells of another call than {home}, and was left as it is")
