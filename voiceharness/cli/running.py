"""``voiceharness run``: scenarios of files, or a suite file; one call after the other or side by side."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from voiceharness.cli.codes import INTERRUPTED
from voiceharness.cli.output import Progress, takes_unicode, tell
from voiceharness.cli.planning import Request, list_calls, shared_names_in, suite_file_among, where_shown
from voiceharness.cli.stopping import stoppable
from voiceharness.cli.suite import SuiteFileRun, SuiteRun, suite_files
from voiceharness.errors import OptionError
from voiceharness.report.artefacts import MANIFEST
from voiceharness.report.console import suite_call_text
from voiceharness.report.replacing import place_beside
from voiceharness.report.writable import refuse_unwritable
from voiceharness.suite import run_jobs
from voiceharness.suite.plan import Changes
from voiceharness.suite.rerun import bring_evidence, rerun_of
from voiceharness.suite.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from voiceharness.report.suite import SuiteCall
    from voiceharness.suite.job import Pages
    from voiceharness.suite.plan import Plan, PlannedCall
    from voiceharness.suite.rerun import Rerun

__all__ = ["run_files"]


def run_files(
    *,
    paths: Sequence[Path],
    tags: Sequence[str],
    without_tags: Sequence[str],
    names: Sequence[str],
    adapter: str | None,
    agent: str | None,
    settings: Sequence[str],
    virtual: bool | None,
    seed: int | None,
    repeat: int,
    failed: str | None,
    list_only: bool,
    jobs: int,
    fresh: bool,
    engine: str | None,
    out: Path,
    pages: Pages,
    junit: Path | None,
    allow_untrusted: bool,
    as_json: bool,
) -> int:
    """Run everything, save and tell, and return the exit code. All files are read before the first call is made."""
    sys.path.insert(0, str(Path.cwd()))  # where the user's agent is, as with `python -m`
    selection = Selection(tags, without_tags, names)
    changes = Changes(adapter, agent, settings, virtual, seed, repeat, selection)
    plan = Request(paths, out, changes, pages, allow_untrusted).plan(dialling=not list_only)
    earlier = None if failed is None else _folder(failed, paths, out)
    rerun = None if earlier is None else rerun_of(plan.calls, earlier, out, suite=plan.name)
    if list_only:
        return list_calls(plan, rerun, as_json=as_json)
    planned = plan.calls if rerun is None else rerun.again
    refuse_unwritable(_files(planned, out, junit, with_pages=pages != "none"))
    if rerun is not None and earlier is not None:
        bring_evidence(rerun, earlier, out)
    shared = shared_names_in(plan.calls)
    names_shown = {call.job.folder: _shown(call, shared) for call in planned if call.lacks is None}
    progress, interrupted = Progress(len(names_shown)), False

    def tell_call(call: SuiteCall) -> None:
        if not as_json:
            progress.clear()
            tell(suite_call_text(call, shared=shared, ascii_only=not takes_unicode()))

    suite = _suite(plan, out, rerun, with_pages=pages != "none", tell_call=tell_call)
    try:
        with stoppable():
            run_jobs(
                [call.job for call in planned if call.lacks is None],
                processes=jobs,
                fresh=fresh,
                engine=engine,
                on_begin=lambda: suite.begin(planned),
                on_start=lambda job: progress.call(names_shown[job.folder]),
                on_step=lambda _job, label: progress.step(label) if jobs == 1 and engine is None else None,
                on_call=suite.keep,
            )
    except KeyboardInterrupt:
        if not suite.begun:  # what an earlier run left is still true
            raise
        interrupted = True
    except BaseException:
        suite.rescue(junit=junit)
        raise
    progress.clear()
    code = suite.finish(junit=junit, as_json=as_json)["exit_code"]
    return INTERRUPTED if interrupted else code


def _files(planned: Sequence[PlannedCall], out: Path, junit: Path | None, *, with_pages: bool) -> Iterator[Path]:
    """Tell which files will be written, of calls those that stand for the others in folders that are there."""
    yield from suite_files(out, pages=with_pages)
    if junit is not None:
        yield junit
    folders = (call.job.folder for call in planned)
    yield from (place_beside(folder / MANIFEST) for folder in folders if os.path.lexists(folder))


def _shown(call: PlannedCall, shared: frozenset[str]) -> str:
    name = call.job.scenario.name
    return name if call.cell is None and name not in shared else f"{name} ({where_shown(call, shared)})"


def _suite(
    plan: Plan,
    out: Path,
    rerun: Rerun | None,
    *,
    with_pages: bool,
    tell_call: Callable[[SuiteCall], None],
) -> SuiteRun:
    if plan.limits is None:
        return SuiteRun(plan.name, out, pages=with_pages, on_call=tell_call)
    return SuiteFileRun(plan, out, rerun=rerun, pages=with_pages, on_call=tell_call)


def _folder(failed: str, paths: Sequence[Path], out: Path) -> Path:
    """Return the folder of the run whose failed calls are made again; no name stands for the one of ``out``."""
    if suite_file_among(paths) is None:
        raise OptionError("--failed goes with a suite file, which tells which calls there should be")
    return Path(failed) if failed else out
