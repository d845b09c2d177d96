"""``voiceharness run``: scenarios of files, one call after the other or side by side."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from voiceharness.cli.codes import INTERRUPTED
from voiceharness.cli.collecting import collect
from voiceharness.cli.output import Progress
from voiceharness.cli.speech_cache import speech_folder
from voiceharness.cli.suite import SuiteRun
from voiceharness.registry.settings import parse_settings
from voiceharness.suite import Job, run_jobs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voiceharness.cli.collecting import Case
    from voiceharness.suite.job import Pages

__all__ = ["run_files"]


def run_files(
    *,
    paths: Sequence[Path],
    adapter: str | None,
    agent: str | None,
    settings: Sequence[str],
    virtual: bool | None,
    seed: int | None,
    repeat: int,
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
    suite = SuiteRun("voiceharness", out, pages=pages != "none")
    common = _Common(adapter, agent, settings, virtual, seed, pages, allow_untrusted)
    cases = [case for case in collect(paths) for _ in range(repeat)]
    planned = [common.job(case, suite.folder(number, case.scenario.name)) for number, case in enumerate(cases, start=1)]
    progress, interrupted = Progress(len(planned)), False
    try:
        run_jobs(
            planned,
            processes=jobs,
            fresh=fresh,
            engine=engine,
            on_start=lambda job: progress.call(job.scenario.name),
            on_step=lambda _job, label: progress.step(label) if jobs == 1 and engine is None else None,
            on_call=suite.keep,
        )
    except KeyboardInterrupt:
        interrupted = True
    progress.clear()
    code = suite.finish(junit=junit, as_json=as_json)["exit_code"]
    return INTERRUPTED if interrupted else code


@dataclass(frozen=True, slots=True)
class _Common:
    """What all calls of a command line have in common."""

    adapter: str | None
    agent: str | None
    settings: Sequence[str]
    virtual: bool | None
    seed: int | None
    pages: Pages
    allow_untrusted: bool

    def job(self, case: Case, folder: Path) -> Job:
        """Make the job of one call."""
        scenario = case.scenario if self.seed is None else replace(case.scenario, seed=self.seed)
        job = Job(
            scenario,
            folder,
            adapter=self.adapter,
            agent=self.agent,
            virtual=self.virtual,
            file=case.file,
            cache=speech_folder(),
            pages=self.pages,
            allow_untrusted=self.allow_untrusted,
        )
        return replace(job, options=parse_settings(self.settings, job.target.adapter_for(scenario)))
