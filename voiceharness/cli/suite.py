"""A suite while it runs: each call is saved as soon as it ends, and all of them are told of at the end."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from voiceharness.cli.output import complain, takes_unicode, tell, tell_json
from voiceharness.errors import OptionError
from voiceharness.report.artefacts import save_call
from voiceharness.report.console import call_text, suite_text
from voiceharness.report.document import call_document
from voiceharness.report.junit import junit_bytes
from voiceharness.report.serialization import json_bytes
from voiceharness.report.suite import SuiteCall, SuiteDocument, suite_document

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from voiceharness.scenario.result import CallResult

__all__ = ["SUITE_FILE", "SuiteRun"]

SUITE_FILE: Final = "suite.json"

_LONGEST_NAME: Final = 40


class SuiteRun:
    """The calls of one run of the command line; ``out`` is the folder for their evidence."""

    def __init__(self, name: str, out: Path) -> None:
        self._name = name
        self._out = out
        self._calls: list[SuiteCall] = []

    def add(self, result: CallResult, *, file: Path | None = None, secrets: Iterable[str] = ()) -> Path:
        """Save a call's evidence, remember what to tell of it, and return its folder."""
        secrets = tuple(secrets)
        folder = save_call(result, self._out / self._folder_name(result.scenario), secrets=secrets)
        document = call_document(result, secrets=secrets)
        self._calls.append({"file": None if file is None else str(file), "folder": str(folder), "call": document})
        return folder

    def tell_last(self) -> None:
        """Tell of the call that was added last."""
        tell(call_text(self._calls[-1]["call"], ascii_only=not takes_unicode()))

    def finish(self, *, junit: Path | None, as_json: bool) -> SuiteDocument:
        """Save and tell of the suite as a whole, and return it."""
        document = self.save(junit=junit)
        if as_json:
            self.tell_as_json()
        else:
            tell(suite_text(document, ascii_only=not takes_unicode()))
            complain(f"evidence of every call: {self._out}")
        return document

    def save(self, *, junit: Path | None) -> SuiteDocument:
        """Save the suite as a whole, and return it."""
        document = suite_document(self._name, self._calls)
        _write(self._out / SUITE_FILE, json_bytes(document, depth=4))
        if junit is not None:
            _write(junit, junit_bytes(document))
        return document

    def tell_as_json(self) -> None:
        """Tell of the suite as one document."""
        tell_json(suite_document(self._name, self._calls))

    def _folder_name(self, scenario: str) -> str:
        # ASCII, because a file system may take nothing else where the locale is "C".
        words = re.sub(r"[^a-z0-9]+", "-", scenario.lower()).strip("-")[:_LONGEST_NAME].rstrip("-")
        return f"{len(self._calls) + 1:03d}-{words or 'call'}"


def _write(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise OptionError(f"cannot write {path}: {error.strerror}") from error
