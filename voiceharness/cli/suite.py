"""A suite while it runs: each call is saved as soon as it ends, and all of them are told of at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voiceharness.cli.output import complain, takes_unicode, tell, tell_json
from voiceharness.errors import OptionError
from voiceharness.report.cells import told_apart
from voiceharness.report.console import suite_end_text
from voiceharness.report.document import call_document
from voiceharness.report.html.suite_page import SUITE_PAGE, write_suite_page
from voiceharness.report.junit import junit_bytes
from voiceharness.report.printable import printable
from voiceharness.report.repeats import repeats
from voiceharness.report.repeats_text import repeats_text
from voiceharness.report.replacing import place_beside
from voiceharness.report.runs import HISTORY_FILE, SUITE_FILE, remember_run, save_suite
from voiceharness.report.suite import SuiteCall, SuiteDocument, incomplete, suite_document
from voiceharness.report.writable import write_file
from voiceharness.suite.job import save_evidence, save_result
from voiceharness.suite.plan import folder_name
from voiceharness.suite.rerun import forget_evidence

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from voiceharness.report.repeats import Repeats
    from voiceharness.report.suite import MissingCall
    from voiceharness.scenario.result import CallResult
    from voiceharness.suite.plan import Plan, PlannedCall
    from voiceharness.suite.rerun import Rerun

__all__ = ["SuiteFileRun", "SuiteRun", "suite_files"]


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
        self._begun = False

    @property
    def begun(self) -> bool:
        """Whether what an earlier run left in the folder was given up for this one."""
        return self._begun

    def begin(self, planned: Sequence[PlannedCall]) -> None:
        """Give up what an earlier run left, now that calls are made for certain; ``planned`` are those of this run."""
        self._begun = True

    def add(self, result: CallResult) -> Path:
        """Save a call's evidence, remember what to tell of it, and return its folder."""
        folder = self._out / folder_name(len(self._calls) + 1, result.scenario)
        unsaved = save_evidence(result, folder, page=self._pages)
        call: SuiteCall = {"file": None, "folder": str(folder), "call": call_document(result)}
        self.keep({**call, **unsaved})
        return folder

    def keep(self, call: SuiteCall) -> None:
        """Remember what to tell of a call whose evidence is saved."""
        self._calls.append(call)
        self._tell(call)

    def finish(self, *, junit: Path | None, as_json: bool) -> SuiteDocument:
        """Save the suite as a whole, tell of what is left to tell, and return it as `save` does."""
        document = self.save(junit=junit)
        self._tell_rest()
        if as_json:
            tell_json(document)
        else:
            tell(f"{suite_end_text(document, ascii_only=not takes_unicode())}{repeats_text(self._repeats(document))}")
            complain(f"evidence of every call: {self._out}")
            if self._pages and (self._out / SUITE_PAGE).exists():
                complain(f"to look at and to hear: {self._out / SUITE_PAGE}")
        return document

    def save(self, *, junit: Path | None) -> SuiteDocument:
        """Save the suite as a whole, add it to the history of its folder, and return it.

        What cannot be written is complained of, and does not keep the rest from being written; the exit code of what is
        returned then tells.
        """
        document = self._document()
        for each in document["calls"]:
            if "unsaved" in each and each.get("made") != "earlier":
                complain(printable(f"not saved: {each['call']['scenario']}: {each['unsaved']}"))
        saved = _written(lambda: save_suite(self._out, document))
        if saved:  # they are made of it, or tell of it
            saved &= _written(lambda: remember_run(self._out, document))
            saved &= not self._pages or _written(lambda: write_suite_page(self._out))
        saved &= junit is None or _written(lambda: write_file(junit, junit_bytes(document)))
        return document if saved else incomplete(document)

    def rescue(self, *, junit: Path | None) -> None:
        """Save what there is of a run that broke, so that the calls that were made are not lost with it."""
        if self._begun and self._document()["calls"]:
            self.save(junit=junit)

    def _document(self) -> SuiteDocument:
        return suite_document(self._name, self._calls)

    def _tell(self, call: SuiteCall) -> None:
        """Tell of a call; where that fails once, calls are still kept, and not told any more."""
        try:
            self._on_call(call)
        except BaseException:
            self._on_call = lambda _call: None
            raise

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

    def begin(self, planned: Sequence[PlannedCall]) -> None:
        """Save what is known before the first call, so that nothing is lost if this process is killed.

        Calls that cannot be made have their result at once.
        """
        forget_evidence(planned)
        for call in planned:
            if call.lacks is not None:
                self.keep(save_result(call.job, call.job.broken(call.lacks)))
        save_suite(self._out, self._document())
        super().begin(planned)

    def keep(self, call: SuiteCall) -> None:
        """Remember what to tell of a call whose evidence is saved."""
        assert call["folder"] is not None  # calls of jobs have one
        self._made[call["folder"]] = call
        while self._turn < len(self._planned) and (known := self._known(self._turn)) is not None:
            self._turn += 1
            self._tell(known)

    def _tell_rest(self) -> None:
        for index in range(self._turn, len(self._planned)):
            if (known := self._known(index)) is not None:
                self._tell(known)

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


def suite_files(out: Path, *, pages: bool) -> tuple[Path, ...]:
    """Return the files that a run writes into its folder beside those of its calls, also those that do not stay."""
    files = tuple(out / name for name in (SUITE_FILE, HISTORY_FILE, *([SUITE_PAGE] if pages else [])))
    return (*files, place_beside(out / SUITE_FILE))


def _written(write: Callable[[], object]) -> bool:
    try:
        write()
    except OptionError as error:
        complain(f"OptionError: {error}")
        return False
    return True
