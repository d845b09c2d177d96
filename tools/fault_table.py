"""Plant every fault, look for it, and print what was found as Markdown; then the same for calls without any.

Run as ``python -m tools.fault_table [SEEDS] [CLEAN CALLS]`` from the checkout (default: 10, 100). All calls are in
virtual time, in this process. It returns 1 if a planted fault was missed, or anything was found that is not there.
"""

from __future__ import annotations

import statistics
import sys
from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING

from voiceharness.doubles.faulty import FAULTS, clean_scenario, healthy_agent
from voiceharness.impairment.path import PROFILES
from voiceharness.scenario.line_profile import CLEAN_LINE, LineProfile
from voiceharness.scenario.run import run_scenario
from voiceharness_adapters.in_process import InProcess

if TYPE_CHECKING:
    from collections.abc import Iterable

    from voiceharness.agent import PhoneAgent
    from voiceharness.measure.finding import Finding, FindingKind
    from voiceharness.scenario.scenario import Scenario

__all__ = ["main"]

WIDE_BAND_EVERY = 5


def findings(agent: PhoneAgent, scenario: Scenario) -> tuple[Finding, ...]:
    """Return what was found in one call.

    Raises:
        RuntimeError: if the call broke.
    """
    result = run_scenario(scenario, lambda: InProcess(agent, rate=scenario.rate))
    if result.error is not None:
        raise RuntimeError(f"{scenario.name}, seed {scenario.seed}: {result.explain()}")
    return result.findings


def row(kind: FindingKind, seeds: int) -> tuple[str, bool]:
    """Plant one fault with each seed; return its row of the table, and whether it is as it should be."""
    fault = FAULTS[kind]
    calls = [findings(fault.agent(seed), fault.scenario(seed)) for seed in range(seeds)]
    twins = [findings(fault.healthy_twin(seed), fault.scenario(seed)) for seed in range(seeds)]
    hits = [[found for found in call if found.kind == kind] for call in calls]
    others = named(found for found in chain(*calls) if found.kind != kind)
    false = named(chain(*twins))
    found = sum(map(bool, hits))
    figures = [hit.figure for hit in chain(*hits)]
    figure = f"{statistics.median(figures):.3g} {hits[0][0].unit}" if figures and hits[0] else "-"
    right = found == seeds and not others and not false
    return f"| {kind} | {seeds} | {found} | {others or 0} | {false or 0} | {figure} | {fault.summary} |", right


def named(found: Iterable[Finding]) -> str:
    """Count findings by kind."""
    return ", ".join(f"{count} {kind}" for kind, count in Counter(each.kind for each in found).items())


def clean_row(name: str, line: LineProfile, calls: int) -> tuple[str, bool]:
    """Make calls with a healthy agent on one line; return the row, and whether nothing was found."""
    found: list[Finding] = []
    for seed in range(calls):
        rate = 16000 if seed % WIDE_BAND_EVERY == WIDE_BAND_EVERY - 1 else 8000
        found += findings(healthy_agent(seed), clean_scenario(seed, rate, line=line))
    return f"| {name} | {calls} | {named(found) or 0} |", not found


def main(seeds: int, clean: int) -> int:
    """Print both tables; return 1 if something was missed or found wrongly."""
    print("| fault | planted | found | others | found in the twin | median figure | what the agent does |")
    print("|---|---|---|---|---|---|---|")
    good = True
    for kind in FAULTS:
        text, right = row(kind, seeds)
        good = good and right
        print(text, flush=True)
    print("\n| calls without a fault, line | calls | findings |\n|---|---|---|")
    lines = {"clean": CLEAN_LINE, **{name: LineProfile(profile=name) for name in PROFILES}}  # type: ignore[arg-type] # the names of the profiles
    for name, line in lines.items():
        text, right = clean_row(name, line, clean if name == "clean" else max(1, clean // len(PROFILES)))
        good = good and right
        print(text, flush=True)
    return not good


if __name__ == "__main__":
    sys.exit(main(*(int(given) for given in [*sys.argv[1:], *("10", "100")[len(sys.argv) - 1 :]])))
