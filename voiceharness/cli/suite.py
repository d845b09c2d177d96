"""A suite while it runs: each call is saved as soon as it ends, and all of them are told of at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voiceharness.cli.output import complain, takes_unicode, tell, tell_json
from voiceharness.errors import OptionError
from voiceharness.report.artefacts import save_call
from voiceharness.report.cells import told_apart
from voiceharness.report.console import suite_end_text
from voiceharness.report.document import call_document
from voiceharness.report.html.call_page import write_call_page
from voiceharness.report.html.suite_page import SUITE_PAGE, write_suite_page
from voiceharness.report.junit import junit_bytes
from voiceharness.report.repeats import repeats
from voiceharness.report.repeats_text import repeats_text
from voiceharness.report.runs import remember_run, save_suite
from voiceharness.report.suite import SuiteCall, SuiteDocument, suite_document
from voiceharness.suite.plan import folder_name

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from voiceharness.report.repeats import Repeats
    from voiceharness.report.suite import MissingCall
    from voiceharness.scenario.result import CallResult
    from voiceharness.suite.plan import Plan, PlannedCall
    from voiceharness.suite.rerun import Rerun

__all__ = ["SuiteFileRun", "SuiteRun"]


class SuiteRun:
    """The calls of one run of the command line; ``out`` is the folder for their evidence.

    With ``pages`` the suite gets a page, and so does each call that is added. ``on_call`` gets each call when it is
    its turn to be told of, in the order in which they stand in the document.
    """

    def __init__(
        self, name: str, out: Path, *, pages: bool = True, on_call: Callable[[SuiteCall], None] = lambda _call: None
    ) -> None:
        self._name = name
        self._out = out
        self._pages = pages
        self._on_call = on_call
        self._calls: list[SuiteCall] = []

    def add(self, result: CallResult) -> Path:
        """Save a call's evidence, remember what to tell of it, and return its folder."""
        folder = save_call(result, self._out / folder_name(len(self._calls) + 1, result.scenario))
        if self._pages:
            write_call_page(folder, suite_page=f"../{SUITE_PAGE}")
        self.keep({"file": None, "folder": str(folder), "call": call_document(result)})
        return folder

    def keep(self, call: SuiteCall) -> None:
        """Remember what to tell of a call whose evidence is saved."""
        self._calls.append(call)
        self._on_call(call)

    def finish(self, *, junit: Path | None, as_json: bool) -> SuiteDocument:
        """Save the suite as a whole, tell of what is left to tell, and return it."""
        document = self.save(junit=junit)
        self._tell_rest()
        if as_json:
            tell_json(document)
        else:
            tell(f"{suite_end_text(document, ascii_only=not takes_unicode())}{repeats_text(self._repeats(document))}")
            complain(f"evidence of every call: {self._out}")
            if self._pages:
                complain(f"to look at and to hear: {self._out / SUITE_PAGE}")
        return document

    def save(self, *, junit: Path | None) -> SuiteDocument:
        """Save the suite as a whole, add it to the history of its folder, and return it."""
        document = self._document()
        save_suite(self._out, document)
        remember_run(self._out, document)
        if self._pages:
            write_suite_page(self._out)
        if junit is not None:
            _write(junit, junit_bytes(document))
        return document

    def tell_as_json(self) -> None:
        """Tell of the suite as one document."""
        tell_json(self._document())

    def _document(self) -> SuiteDocument:
        return suite_document(self._name, self._calls)

    def _tell_rest(self) -> None:
        """Tell of calls whose turn never came."""

    def _repeats(self, document: SuiteDocument) -> tuple[Repeats, ...]:
        return repeats(told_apart(document["calls"]))


class SuiteFileRun(SuiteRun):
    """A run of a suite file: every call has its place in the grid, also those that are kept or were never made."""

    def __init__(
        self, plan: Plan, out: Path, *, rerun: Rerun | None, pages: bool, on_call: Callable[[SuiteCall], None]
    ) -> None:
        super().__init__(plan.name, out, pages=pages, on_call=on_call)
        self._turn = 0
        self._plan = plan
        self._rerun = rerun
        self._made: dict[str, SuiteCall] = {}
        self._planned = plan.calls if rerun is None else rerun.in_order(plan.calls)

    def begin(self) -> None:
        """Save what is known before the first call, so that nothing is lost if this process is killed."""
        save_suite(self._out, self._document())

    def keep(self, call: SuiteCall) -> None:
        """Remember what to tell of a call whose evidence is saved."""
        assert call["folder"] is not None  # calls of jobs have one
        self._made[call["folder"]] = call
        while self._turn < len(self._planned) and (known := self._known(self._turn)) is not None:
            self._turn += 1
            self._on_call(known)

    def _tell_rest(self) -> None:
        for index in range(self._turn, len(self._planned)):
            if (known := self._known(index)) is not None:
                self._on_call(known)

    def _known(self, index: int) -> SuiteCall | None:
        """Return a call of the plan that was made or kept."""
        if self._rerun is not None and index in self._rerun.kept:
            return self._rerun.kept[index]
        planned = self._planned[index]
        made = self._made.get(str(planned.job.folder))
        return None if made is None else self._placed(index, planned, made)

    def _document(self) -> SuiteDocument:
        calls: list[SuiteCall] = []
        missing: list[MissingCall] = []
        for index, planned in enumerate(self._planned):
            if (known := self._known(index)) is not None:
                calls.append(known)
            else:
                missing.append(self._missing(index, planned))
        return suite_document(self._name, calls, limits=self._plan.limits, missing=missing)

    def _repeats(self, document: SuiteDocument) -> tuple[Repeats, ...]:
        """Return only what did not pass each time: a grid has many cells."""
        made = [each for each in document["calls"] if each["call"]["outcome"] != "unsupported"]
        return tuple(each for each in repeats(told_apart(made)) if each.rate < 1)

    def _placed(self, index: int, planned: PlannedCall, made: SuiteCall) -> SuiteCall:
        assert planned.cell is not None  # as all calls of a suite file
        call: SuiteCall = {**made, "cell": planned.cell}
        if self._rerun is not None and planned.lacks is None:
            call["made"] = "now"
            call["before"] = self._rerun.before.get(index, ())
        return call

    def _missing(self, index: int, planned: PlannedCall) -> MissingCall:
        assert planned.cell is not None  # as all calls of a suite file
        job = planned.job
        missing: MissingCall = {
            "scenario": job.scenario.name,
            "file": None if job.file is None else str(job.file),
            "folder": str(job.folder),
            "cell": planned.cell,
        }
        if self._rerun is not None and index in self._rerun.before:
            missing["before"] = self._rerun.before[index]
        return missing


def _write(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise OptionError(f"cannot write {path}: {error.strerror}") from error
