"""``voiceharness demo``: the packaged suite of calls, saved and told of like any other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from voiceharness.cli.codes import INTERRUPTED
from voiceharness.cli.output import Progress, complain, takes_unicode, tell, tell_json
from voiceharness.cli.stopping import stoppable
from voiceharness.cli.suite import SuiteRun, suite_files
from voiceharness.report.printable import printable
from voiceharness.report.writable import refuse_unwritable
from voiceharness.scenario.result import EXIT_CODES

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from voiceharness.demo.suite import DemoVerdict

__all__ = ["run_demo_suite", "tell_verdicts"]

_REASONS_TOLD: Final = 2
_NAME: Final = "voiceharness demo (some calls have a fault planted in them, and ought to fail)"


def run_demo_suite(*, out: Path, junit: Path | None, as_json: bool, over: str = "in_process") -> int:
    """Run the demo and return 0 if every verdict was the true one: a fault that was planted is to be found.

    It is 4 if the transport can carry none of the calls.
    """
    from voiceharness.demo.suite import run_demo

    refuse_unwritable([*suite_files(out, pages=True), *([] if junit is None else [junit])])
    progress = Progress()
    verdicts = run_demo(on_step=lambda step: progress.step(step.label), over=over.replace("-", "_"))
    return tell_verdicts(verdicts, progress, out=out, junit=junit, as_json=as_json)


def tell_verdicts(
    verdicts: Iterable[DemoVerdict], progress: Progress, *, out: Path, junit: Path | None, as_json: bool
) -> int:
    """Save and tell of each call as it ends, and return the exit code."""
    suite, wrong, made, interrupted = SuiteRun(_NAME, out), list[str](), 0, False
    try:
        with stoppable():
            for verdict in verdicts:
                progress.clear()
                folder = suite.add(verdict.result)
                if not as_json:
                    tell(_told(verdict, folder))
                made += verdict.result.outcome != "unsupported"
                if not verdict.as_expected:
                    wrong.append(verdict.result.scenario)
    except KeyboardInterrupt:
        interrupted = True
    except BaseException:  # the calls that were made are not to be lost with it
        suite.save(junit=junit)
        raise
    document = suite.save(junit=junit)
    calls = document["calls"]
    if as_json:
        tell_json(document)
    if interrupted:
        (complain if as_json else tell)(f"interrupted after {len(calls)} call{'s' * (len(calls) != 1)}")
        return INTERRUPTED
    if not as_json:
        tell(f"the demo failed on {', '.join(wrong)}" if wrong else _closing(len(calls), made, out))
    if document["exit_code"] == EXIT_CODES["bad_scenario"]:  # no call of the demo comes to that: not all was written
        return EXIT_CODES["bad_scenario"]
    if wrong:
        return EXIT_CODES["failed"]
    return EXIT_CODES["passed" if made or not calls else "unsupported"]


def _told(verdict: DemoVerdict, folder: Path) -> str:
    """Say in a few lines what was called, what was found, and where to listen to it."""
    result = verdict.result
    sign = ("✓" if verdict.as_expected else "✗") if takes_unicode() else ("+" if verdict.as_expected else "x")
    length = 0.0 if result.metrics is None else result.metrics.duration
    lines = [f"{sign} {result.scenario} ({length:.1f} s): {verdict.explanation}"]
    if not result.passed:
        lines += [f"    {line}" for line in result.explain().splitlines()[:_REASONS_TOLD]]
    if not result.passed and result.record is not None:
        lines.append(f"    listen: {folder / 'recording.wav'}")
    return printable("\n".join(lines))


def _closing(count: int, made: int, out: Path) -> str:
    if not made:
        return "this transport can carry none of the demo's calls"
    look = f"to see and hear every call: open {out / 'index.html'} in a browser, or voiceharness show {out}/<call>"
    not_made = f"; {count - made} not called" if made < count else ""
    return f"{look}\nthe demo passed: {made} verdict{'s' * (made != 1)}, all true{not_made}"
