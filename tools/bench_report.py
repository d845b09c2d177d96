"""Measure pages and suites: how large the page of a minute is and how long it takes, and what more processes bring.

Run as ``python -m tools.bench_report`` from the checkout. With Chromium installed, it also opens the pages.
"""

from __future__ import annotations

import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tests.browser import CHROMIUM, Browser
from tests.report.html.showcase import noisy, showcase_call
from voiceharness.report.artefacts import save_call
from voiceharness.report.html.call_page import write_call_page
from voiceharness.scenario.scenario import Scenario
from voiceharness.scenario.steps import Hear, Say
from voiceharness.suite import Job, run_jobs

if TYPE_CHECKING:
    from collections.abc import Callable

    from voiceharness.scenario.result import CallResult

__all__ = ["main"]

CALLS = 60
QUESTION = "fixtures_audio/user_question.wav"
STEPS = [step for _ in range(3) for step in (Say(file=QUESTION), Hear(within=5.0))]


def main() -> None:
    """Print all figures."""
    with tempfile.TemporaryDirectory() as folder:
        for name, result in (("speech", showcase_call()), ("noise", noisy(showcase_call()))):
            measure_page(name, result, Path(folder) / name)
        alone = seconds(partial(make_calls, Path(folder), 1))
        print(f"{CALLS} virtual calls, saved: {alone:.2f} s one after the other")
        for fresh in (False, True):
            together = seconds(partial(make_calls, Path(folder), 2, fresh=fresh))
            print(f"    {together:.2f} s in two processes{', a fresh one for each' if fresh else ''}: ", end="")
            print(f"{CALLS / together:.0f} calls a second, {alone / together:.2f} times as fast")


def measure_page(name: str, result: CallResult, folder: Path) -> None:
    """Write the page of a call, and open it."""
    save_call(result, folder)
    write_call_page(folder)  # loads what it needs
    took = seconds(partial(write_call_page, folder))
    page = folder / "call.html"
    print(f"page of 60 s of {name}: {page.stat().st_size / 1000:.0f} kB, written in {took * 1000:.0f} ms")
    if CHROMIUM is None:
        return
    with Browser(folder / "profile") as browser:
        browser.open(page)
        opened = seconds(lambda: browser.open(page).run("await callPage.ready"))
    print(f"    open and drawn in {opened * 1000:.0f} ms")


def make_calls(folder: Path, processes: int, *, fresh: bool = False) -> None:
    """Make short virtual calls."""
    scenario = Scenario(name="ask three times", steps=STEPS)
    jobs = [
        Job(scenario, folder / f"{processes}-{number}", agent="tests.suite.agents:answering", virtual=True)
        for number in range(CALLS)
    ]
    run_jobs(jobs, processes=processes, fresh=fresh)


def seconds(work: Callable[[], object]) -> float:
    """Return how long something takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
