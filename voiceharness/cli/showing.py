"""``voiceharness show``: saved calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voiceharness.cli.output import complain, takes_unicode, tell, tell_json, terminal_width
from voiceharness.measure.metrics import measure
from voiceharness.report.artefacts import RECORDING, altered_files, load_call, load_document
from voiceharness.report.console import call_text, suite_text
from voiceharness.report.runs import SUITE_FILE, load_suite
from voiceharness.report.show import timeline_text

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["show_folder"]


def show_folder(*, folder: Path, width: int | None, ascii_only: bool, events: bool, as_json: bool) -> int:
    """Show a saved call, or the suite that a folder holds."""
    ascii_only = ascii_only or not takes_unicode()
    if (folder / SUITE_FILE).exists():
        return _show_suite(folder, ascii_only, as_json)
    document, altered = load_document(folder), altered_files(folder)
    if as_json:
        tell_json({**document, "altered_files": list(altered)})
        return 0
    if altered:
        complain(f"not as it was saved: {', '.join(altered)}")
    tell(call_text(document, ascii_only=ascii_only))
    if (folder / RECORDING).exists():
        record = load_call(folder)
        picture = timeline_text(
            record,
            measure(record),
            words=document.get("agent_words", ()),
            width=width or terminal_width(),
            ascii_only=ascii_only,
            events=events,
        )
        tell(f"\n{picture}")
    return 0


def _show_suite(folder: Path, ascii_only: bool, as_json: bool) -> int:
    document = load_suite(folder)
    if as_json:
        tell_json(document)
    else:
        tell(suite_text(document, ascii_only=ascii_only))
    return 0
