"""A suite while it runs: each call is saved as soon as it ends, and all of them are told of at the end."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from voiceharness.cli.output import complain, takes_unicode, tell, tell_json
from voiceharness.errors import OptionError
from voiceharness.report.artefacts import save_call
from voiceharness.report.console import suite_text
from voiceharness.report.document import call_document
from voiceharness.report.html.call_page import write_call_page
from voiceharness.report.html.suite_page import SUITE_PAGE, write_suite_page
from voiceharness.report.junit import junit_bytes
from voiceharness.report.repeats import repeats
from voiceharness.report.repeats_text import repeats_text
from voiceharness.report.runs import SUITE_FILE, remember_run
from voiceharness.report.serialization import json_bytes
from voiceharness.report.suite import SuiteCall, SuiteDocument, suite_document

if TYPE_CHECKING:
    from pathlib import Path

    from voiceharness.scenario.result import CallResult

__all__ = ["SuiteRun"]

_LONGEST_NAME: Final = 40


class SuiteRun:
    """The calls of one run of the command line; ``out`` is the folder for their evidence.

    With ``pages`` the suite gets a page, and so does each call that is added.
    """

    def __init__(self, name: str, out: Path, *, pages: bool = True) -> None:
        self._name = name
        self._out = out
        self._pages = pages
        self._calls: list[SuiteCall] = []

    def folder(self, number: int, scenario: str) -> Path:
        """Return the folder for the evidence of a call, by its number from 1 and its scenario's name."""
        # ASCII, because a file system may take nothing else where the locale is "C".
        words = re.sub(r"[^a-z0-9]+", "-", scenario.lower()).strip("-")[:_LONGEST_NAME].rstrip("-")
        return self._out / f"{number:03d}-{words or 'call'}"

    def add(self, result: CallResult) -> Path:
        """Save a call's evidence, remember what to tell of it, and return its folder."""
        folder = save_call(result, self.folder(len(self._calls) + 1, result.scenario))
        if self._pages:
            write_call_page(folder, suite_page=f"../{SUITE_PAGE}")
        self.keep({"file": None, "folder": str(folder), "call": call_document(result)})
        return folder

    def keep(self, call: SuiteCall) -> None:
        """Remember what to tell of a call whose evidence is saved."""
        self._calls.append(call)

    def finish(self, *, junit: Path | None, as_json: bool) -> SuiteDocument:
        """Save and tell of the suite as a whole, and return it."""
        document = self.save(junit=junit)
        if as_json:
            self.tell_as_json()
        else:
            summed_up = repeats_text(repeats(each["call"] for each in self._calls))
            tell(f"{suite_text(document, ascii_only=not takes_unicode())}{summed_up}")
            complain(f"evidence of every call: {self._out}")
            if self._pages:
                complain(f"to look at and to hear: {self._out / SUITE_PAGE}")
        return document

    def save(self, *, junit: Path | None) -> SuiteDocument:
        """Save the suite as a whole, add it to the history of its folder, and return it."""
        document = suite_document(self._name, self._calls)
        _write(self._out / SUITE_FILE, json_bytes(document, depth=4))
        remember_run(self._out, document)
        if self._pages:
            write_suite_page(self._out)
        if junit is not None:
            _write(junit, junit_bytes(document))
        return document

    def tell_as_json(self) -> None:
        """Tell of the suite as one document."""
        tell_json(suite_document(self._name, self._calls))


def _write(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise OptionError(f"cannot write {path}: {error.strerror}") from error
