"""The calls that a command line asks for: of scenario files and folders, or of one suite file."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from voiceharness.cli.output import tell, tell_json
from voiceharness.cli.speech_cache import speech_folder
from voiceharness.errors import OptionError
from voiceharness.registry.settings import parse_settings
from voiceharness.report.cells import cell_text, place_text, shared_names
from voiceharness.report.printable import printable
from voiceharness.suite import Job
from voiceharness.suite.finding import collect, is_suite_file
from voiceharness.suite.plan import Changes, Plan, PlannedCall, folder_name, plan_suite, unless_too_many
from voiceharness.suite.selection import select
from voiceharness.suite.suite_file import read_suite

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from voiceharness.scenario.scenario import Scenario
    from voiceharness.suite.finding import Case
    from voiceharness.suite.job import Pages
    from voiceharness.suite.rerun import Rerun

__all__ = ["Request", "list_calls", "shared_names_in", "suite_file_among", "where_shown"]


@dataclass(frozen=True, slots=True)
class Request:
    """What a command line asks for."""

    paths: Sequence[Path]
    out: Path
    changes: Changes = field(default_factory=Changes)
    pages: Pages = "none"
    allow_untrusted: bool = False

    def plan(self, *, dialling: bool = True) -> Plan:
        """Plan every call; unless ``dialling``, variables of the environment need not be set.

        Raises:
            ConfigurationError: if a file, an adapter or an option cannot be used.
        """
        file = suite_file_among(self.paths)
        if file is None:
            return self._plan_files()
        environment = os.environ if dialling else None
        return plan_suite(read_suite(file), self._job, self.out, changes=self.changes, environment=environment)

    def _plan_files(self) -> Plan:
        cases = select(collect(self.paths), self.changes.selection)
        repeated = unless_too_many(case for case in cases for _ in range(self.changes.repeat))
        calls = (PlannedCall(self._file_job(case, number)) for number, case in enumerate(repeated, start=1))
        return Plan("voiceharness", tuple(calls))

    def _file_job(self, case: Case, number: int) -> Job:
        changes = self.changes
        scenario = case.scenario if changes.seed is None else replace(case.scenario, seed=changes.seed)
        job = self._job(scenario, self.out / folder_name(number, scenario.name))
        job = replace(job, adapter=changes.adapter, agent=changes.agent, virtual=changes.virtual, file=case.file)
        return replace(job, options=parse_settings(changes.settings, job.target.adapter_for(scenario)))

    def _job(self, scenario: Scenario, folder: Path) -> Job:
        """Make a job with what is the same for all calls of the command line."""
        return Job(scenario, folder, cache=speech_folder(), pages=self.pages, allow_untrusted=self.allow_untrusted)


def suite_file_among(paths: Sequence[Path]) -> Path | None:
    """Return the suite file that is named, None if scenarios are.

    Raises:
        OptionError: if anything is named beside it.
    """
    suites = [path for path in paths if path.is_file() and is_suite_file(path)]
    if suites and len(paths) > 1:
        raise OptionError(f"{suites[0]} is a suite file, which is run alone; the paths beside it are not")
    return suites[0] if suites else None


def list_calls(plan: Plan, rerun: Rerun | None, *, as_json: bool) -> int:
    """Tell of every call that would be made, and of those that would not, with the reason."""
    kept = {} if rerun is None else rerun.kept
    planned = plan.calls if rerun is None else rerun.in_order(plan.calls)
    calls = [_entry(number, call, kept=number - 1 in kept) for number, call in enumerate(planned, start=1)]
    if as_json:
        tell_json({"format": "voiceharness-plan/1", "name": plan.name, "calls": calls})
        return 0
    widest = max((len(each["scenario"]) for each in calls), default=0)
    skipped = sum(each["skipped"] is not None for each in calls)
    shared = shared_names_in(planned)
    lines = [_line(each, widest, where_shown(call, shared)) for each, call in zip(calls, planned, strict=True)]
    totals = [f"{len(calls)} {'call' if len(calls) == 1 else 'calls'}"]
    totals += [f"{count} {what}" for count, what in ((skipped, "skipped"), (len(kept), "kept")) if count]
    tell(printable("\n".join([*lines, ", ".join(totals)])))
    return 0


def _entry(number: int, planned: PlannedCall, *, kept: bool) -> dict[str, Any]:  # Any: JSON
    job, cell = planned.job, planned.cell
    return {
        "number": number,
        "scenario": job.scenario.name,
        "file": None if job.file is None else str(job.file),
        "tags": list(job.scenario.tags),
        "adapter": job.target.adapter_for(job.scenario),
        "cell": cell,
        "seed": job.scenario.seed,
        "direction": job.scenario.direction,
        "resources": dict(job.resources),
        "folder": str(job.folder),
        "kept": kept,
        "skipped": None if planned.lacks is None else str(planned.lacks),
    }


def shared_names_in(planned: Iterable[PlannedCall]) -> frozenset[str]:
    """Return the names that scenarios of several files have."""
    return shared_names((call.job.scenario.name, _file(call)) for call in planned)


def where_shown(call: PlannedCall, shared: frozenset[str]) -> str:
    """Name where a scenario is called, with its file if its name is among the ``shared`` ones."""
    job = call.job
    plain = f"{job.target.adapter_for(job.scenario)}, seed {job.scenario.seed}"
    where = plain if call.cell is None else cell_text(call.cell)
    return place_text(job.scenario.name, _file(call), where, shared)


def _file(call: PlannedCall) -> str | None:
    file = call.job.file
    return call.cell["file"] if call.cell is not None else None if file is None else str(file)


def _line(entry: Mapping[str, Any], widest: int, where: str) -> str:  # Any: JSON
    told = " (kept: it passed)" if entry["kept"] else ""
    skipped = "" if entry["skipped"] is None else f"  skipped: {entry['skipped']}"
    return f"{entry['number']:03d}  {entry['scenario']:{widest}}  {where}{told}{skipped}"
