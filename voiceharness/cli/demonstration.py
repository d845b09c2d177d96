"""``voiceharness demo``: the packaged suite of calls, saved and told of like any other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voiceharness.cli.codes import INTERRUPTED
from voiceharness.cli.output import Progress, tell
from voiceharness.cli.suite import SuiteRun

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from voiceharness.demo.suite import DemoVerdict

__all__ = ["run_demo_suite", "tell_verdicts"]


def run_demo_suite(*, out: Path, junit: Path | None, as_json: bool) -> int:
    """Run the demo and return 0 if every verdict was the true one: a fault that was planted is to be found."""
    from voiceharness.demo.suite import run_demo

    progress = Progress()
    verdicts = run_demo(on_step=lambda step: progress.step(step.label))
    return tell_verdicts(verdicts, progress, out=out, junit=junit, as_json=as_json)


def tell_verdicts(
    verdicts: Iterable[DemoVerdict], progress: Progress, *, out: Path, junit: Path | None, as_json: bool
) -> int:
    """Save and tell of each call as it ends, and return the exit code."""
    suite, wrong, interrupted = SuiteRun("voiceharness demo", out), list[str](), False
    try:
        for verdict in verdicts:
            progress.clear()
            suite.add(verdict.result)
            if not as_json:
                suite.tell_last()
                tell(f"    {verdict.explanation}\n")
            if not verdict.as_expected:
                wrong.append(verdict.result.scenario)
    except KeyboardInterrupt:
        interrupted = True
    count = len(suite.finish(junit=junit, as_json=as_json)["calls"])
    if interrupted:
        return INTERRUPTED
    if not as_json:
        tell(f"the demo failed on {', '.join(wrong)}" if wrong else f"the demo passed: {count} verdicts, all true")
    return 1 if wrong else 0
