"""``voiceharness run``: scenarios of files, one call after the other."""

from __future__ import annotations

import sys
import traceback
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from voiceharness.cli.codes import INTERRUPTED
from voiceharness.cli.collecting import Case, collect
from voiceharness.cli.output import Progress, complain
from voiceharness.cli.speech_cache import cached_speech
from voiceharness.cli.suite import SuiteRun
from voiceharness.errors import VoiceHarnessError
from voiceharness.registry.settings import parse_settings
from voiceharness.registry.target import Target
from voiceharness.report.redaction import secrets_in
from voiceharness.scenario.result import CallResult, outcome_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voiceharness.scenario.run import SpeechEngines

__all__ = ["run_files"]


@dataclass(frozen=True, slots=True)
class _Plan:
    """One call to make."""

    case: Case
    target: Target

    @property
    def adapter(self) -> str:
        return self.target.adapter_for(self.case.scenario)

    @property
    def secrets(self) -> tuple[str, ...]:
        return secrets_in(self.target.options_for(self.case.scenario))

    def broken(self, error: Exception) -> CallResult:
        """Make the result of a call that was never begun."""
        scenario = self.case.scenario
        return CallResult(scenario.name, self.adapter, outcome_of(error), scenario.seed, error=error)


def run_files(
    *,
    paths: Sequence[Path],
    adapter: str | None,
    agent: str | None,
    settings: Sequence[str],
    virtual: bool | None,
    seed: int | None,
    out: Path,
    junit: Path | None,
    allow_untrusted: bool,
    as_json: bool,
) -> int:
    """Run everything, save and tell, and return the exit code. All files are read before the first call is made."""
    sys.path.insert(0, str(Path.cwd()))  # where the user's agent is, as with `python -m`
    plans = [_plan(case, adapter, agent, settings, seed) for case in collect(paths)]
    suite, progress = SuiteRun("voiceharness", out), Progress(len(plans))
    runner = _Runner(virtual, cached_speech(), allow_untrusted, suite, progress)
    interrupted = False
    try:
        for plan in plans:
            runner.run(plan)
    except KeyboardInterrupt:
        interrupted = True
    progress.clear()
    code = suite.finish(junit=junit, as_json=as_json)["exit_code"]
    return INTERRUPTED if interrupted else code


def _plan(case: Case, adapter: str | None, agent: str | None, settings: Sequence[str], seed: int | None) -> _Plan:
    scenario = case.scenario if seed is None else replace(case.scenario, seed=seed)
    target = Target(adapter, agent=agent)
    options = parse_settings(settings, target.adapter_for(scenario))
    return _Plan(replace(case, scenario=scenario), replace(target, options=options))


@dataclass(frozen=True, slots=True)
class _Runner:
    """Makes one call after the other."""

    virtual: bool | None
    speech: SpeechEngines
    allow_untrusted: bool
    suite: SuiteRun
    progress: Progress

    def run(self, plan: _Plan) -> None:
        """Make a call; whatever becomes of it, its evidence is saved, and only an interruption gets through."""
        scenario, kept = plan.case.scenario, list[CallResult]()
        self.progress.call(scenario.name)
        try:
            plan.target.call(
                scenario,
                virtual=self.virtual,
                speech=self.speech,
                on_step=lambda step: self.progress.step(step.label),
                keep=kept.append,
            )
        except VoiceHarnessError as error:
            kept = kept or [plan.broken(error)]
        except Exception as error:  # supervision point: one broken call must not take the others with it
            self.progress.clear()
            complain(traceback.format_exc())
            kept = kept or [plan.broken(error)]
        finally:
            for result in kept:
                judged = _trusted(result) if self.allow_untrusted else result
                self.suite.add(judged, file=plan.case.file, secrets=plan.secrets)


def _trusted(result: CallResult) -> CallResult:
    """Judge a call by its expectations although the harness was late."""
    if result.error is not None or result.trust.trustworthy or result.outcome != "harness_fault":
        return result
    return replace(result, outcome="failed" if result.failures else "passed")
