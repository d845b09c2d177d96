"""Call again only what did not pass in an earlier run of a suite file, and keep the rest of it.

Calls of the two runs are matched by their cell (scenario, adapter, line, seed, repeat), whatever was added to the suite
in between. An earlier call is kept if it passed and its scenario still says the same; everything else is made again,
also what the earlier run never came to. What had not passed stays beside its new call, as evidence.

A run that was killed has told of no call in its document; those whose evidence is whole count all the same.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from voiceharness.errors import OptionError
from voiceharness.report.artefacts import MANIFEST, altered_files, load_document
from voiceharness.report.interruption import was_interrupted
from voiceharness.report.runs import load_suite
from voiceharness.scenario.identity import scenario_fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from voiceharness.report.cells import Cell
    from voiceharness.report.suite import Attempt, MissingCall, SuiteCall
    from voiceharness.suite.plan import PlannedCall

__all__ = ["Rerun", "bring_evidence", "forget_evidence", "rerun_of"]

_Key: TypeAlias = tuple[str, str, str, str | None, int, int]


@dataclass(frozen=True, slots=True)
class Rerun:
    """What is to be made now, and what is kept; ``kept`` and ``before`` go by the place of a call in the plan, from 0.

    ``before`` has the earlier calls of those that are made again, oldest first. ``folders`` are the names of those
    folders of the earlier run that stay of use.
    """

    again: Sequence[PlannedCall]
    kept: Mapping[int, SuiteCall] = field(default_factory=dict)
    before: Mapping[int, Sequence[Attempt]] = field(default_factory=dict)
    folders: Sequence[str] = ()

    def in_order(self, planned: Sequence[PlannedCall]) -> list[PlannedCall]:
        """Return all calls of the plan, those that are made again with their new folders."""
        again = iter(self.again)
        return [call if index in self.kept else next(again) for index, call in enumerate(planned)]


@dataclass(frozen=True, slots=True)
class _Earlier:
    """What a cell came to; ``call`` None: to nothing but what was ``before``."""

    call: SuiteCall | None
    before: Sequence[Attempt]

    def attempts(self) -> Sequence[Attempt]:
        """Return all calls that were made, oldest first; what was skipped as unsupported, or interrupted, is none."""
        if self.call is None or self.call["call"]["outcome"] == "unsupported" or was_interrupted(self.call["call"]):
            return self.before
        return [*self.before, {"outcome": self.call["call"]["outcome"], "folder": self.call["folder"]}]


def rerun_of(planned: Sequence[PlannedCall], earlier: Path, out: Path, *, suite: str | None = None) -> Rerun:
    """Share out the calls of a plan; what is kept is told of as if its evidence were in ``out`` already.

    Raises:
        OptionError: if there was no run of a suite file in the folder, or one of another ``suite``.
    """
    known = _earlier_calls(earlier, out, suite)
    if planned and known and not any(_place(call) in known for call in planned):
        raise OptionError(
            f"none of the calls that are asked for is among the {len(known)} of the run in {earlier}; "
            "name the folder of a run of the same suite"
        )
    taken = {name for each in known.values() for name in map(_name, each.attempts()) if name is not None}
    folders = sorted(taken)
    again: list[PlannedCall] = []
    kept: dict[int, SuiteCall] = {}
    before: dict[int, Sequence[Attempt]] = {}
    for index, call in enumerate(planned):
        found = known.get(_place(call))
        if found is not None and found.call is not None and _still_holds(found.call, call):
            kept[index] = {**found.call, "made": "earlier", "before": found.before}
            continue
        if found is not None and (attempts := found.attempts()):
            before[index] = attempts
        again.append(_in_new_folder(call, taken))
    return Rerun(again, kept, before, folders)


def bring_evidence(rerun: Rerun, earlier: Path, out: Path) -> None:
    """Copy what stays of use to where the new run's evidence goes, if that is another folder.

    Raises:
        OptionError: if it cannot be copied.
    """
    if earlier.resolve() == out.resolve():
        return
    for name in rerun.folders:
        if (earlier / name).is_dir():
            try:
                shutil.copytree(earlier / name, out / name, dirs_exist_ok=True)
            except (OSError, shutil.Error) as error:
                raise OptionError(f"cannot copy {earlier / name} to {out}: {error}") from error


def forget_evidence(planned: Iterable[PlannedCall]) -> None:
    """Mark what an earlier run left in the folders of calls as not whole, so that nobody takes it for theirs.

    Raises:
        OptionError: if that cannot be done.
    """
    for call in planned:
        manifest = call.job.folder / MANIFEST
        try:
            if manifest.exists():
                manifest.unlink()
        except OSError as error:
            raise OptionError(f"cannot remove {manifest}: {error.strerror}") from error


def _place(call: PlannedCall) -> _Key:
    assert call.cell is not None  # the plan is of a suite file, and so was the earlier run
    return _key(call.job.scenario.name, call.cell)


def _key(scenario: str, cell: Cell) -> _Key:
    return cell["file"], scenario, cell["adapter"], cell["line"], cell["seed"], cell["repeat"]


def _earlier_calls(folder: Path, out: Path, name: str | None) -> dict[_Key, _Earlier]:
    suite = load_suite(folder)
    if "limits" not in suite:
        raise OptionError(f"{folder} holds no run of a suite file; only of such can the failed be called again")
    if name not in (None, suite["name"]):
        raise OptionError(f"{folder} holds a run of the suite {suite['name']!r}, not of {name!r}")
    known: dict[_Key, _Earlier] = {}
    for each in suite["calls"]:
        if "cell" in each:
            call: SuiteCall = {**each, "folder": _in(out, each["folder"])}
            known[_key(each["call"]["scenario"], each["cell"])] = _Earlier(call, _attempts(each, out))
    for missing in suite.get("missing", ()):
        key = _key(missing["scenario"], missing["cell"])
        known[key] = _Earlier(_unreported(missing, folder, out), _attempts(missing, out))
    return known


def _unreported(missing: MissingCall, folder: Path, out: Path) -> SuiteCall | None:
    """Return a call of a run that was killed before it could tell of it, if its evidence is whole."""
    home = folder / Path(missing["folder"]).name
    if not (home / MANIFEST).exists() or altered_files(home):
        return None
    call = load_document(home)
    return {"file": missing["file"], "folder": _in(out, missing["folder"]), "call": call, "cell": missing["cell"]}


def _attempts(each: SuiteCall | MissingCall, out: Path) -> Sequence[Attempt]:
    return [{**attempt, "folder": _in(out, attempt["folder"])} for attempt in each.get("before", ())]


def _in(out: Path, folder: str | None) -> str | None:
    return None if folder is None else str(out / Path(folder).name)


def _name(attempt: Attempt) -> str | None:
    return None if attempt["folder"] is None else Path(attempt["folder"]).name


def _still_holds(earlier: SuiteCall, planned: PlannedCall) -> bool:
    call = earlier["call"]
    same = call["facts"].get("scenario") == scenario_fingerprint(planned.job.scenario)
    return call["outcome"] == "passed" and same and "unsaved" not in earlier


def _in_new_folder(call: PlannedCall, taken: set[str]) -> PlannedCall:
    """Give a call a folder that no earlier call has, so that both can be heard."""
    home, number = call.job.folder, 0
    while home.name in taken:
        number += 1
        home = call.job.folder.with_name(f"{call.job.folder.name}-again" + (f"-{number}" if number > 1 else ""))
    taken.add(home.name)
    return replace(call, job=replace(call.job, folder=home))
