"""``voiceharness validate``: what can be known of scenario files and suite files without calling."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voiceharness.cli.output import tell, tell_json
from voiceharness.cli.planning import Request
from voiceharness.errors import ConfigurationError, ScenarioError
from voiceharness.registry import load_adapter
from voiceharness.registry.options import load_agent
from voiceharness.registry.settings import parse_settings
from voiceharness.registry.target import Target, hosting_adapters, no_host
from voiceharness.report.cells import cell_text
from voiceharness.report.printable import printable
from voiceharness.report.suite import suite_exit_code
from voiceharness.scenario.yaml_file import load_scenarios
from voiceharness.suite.finding import is_suite_file, yaml_files
from voiceharness.suite.plan import Changes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voiceharness.scenario.result import Outcome
    from voiceharness.scenario.scenario import Scenario
    from voiceharness.suite.plan import PlannedCall

__all__ = ["validate_files"]


def validate_files(
    *, paths: Sequence[Path], adapter: str | None, agent: str | None, settings: Sequence[str], as_json: bool
) -> int:
    """Read all files, and tell what each scenario needs, what of that its adapter lacks, and every error.

    Raises:
        OptionError: if the agent cannot be loaded.
    """
    if agent is not None:
        sys.path.insert(0, str(Path.cwd()))  # where `run` looks for it
        load_agent(agent)
    changes = Changes(adapter=adapter, agent=agent, settings=settings)
    entries = [entry for file in yaml_files(paths) for entry in _entries(file, changes)]
    outcomes: list[Outcome] = [entry["outcome"] for entry in entries]
    code = suite_exit_code(outcomes)
    if as_json:
        tell_json({"format": "voiceharness-validation/1", "exit_code": code, "scenarios": entries})
    else:
        tell(printable("\n".join(_line(entry) for entry in entries)))
    return code


def _entries(file: Path, changes: Changes) -> list[dict[str, Any]]:  # Any: JSON
    if is_suite_file(file):
        return _suite_entries(file, changes)
    try:
        return [_entry(file, scenario, changes) for scenario in load_scenarios(file)]
    except ScenarioError as error:
        return [{"file": str(file), "outcome": "bad_scenario", "error": str(error)}]


def _suite_entries(file: Path, changes: Changes) -> list[dict[str, Any]]:  # Any: JSON
    """Tell of the suite as a whole, then of each call of it that cannot be made."""
    try:
        plan = Request([file], Path(), changes).plan(dialling=False)
    except ConfigurationError as error:
        return [{"file": str(file), "outcome": "bad_scenario", "error": str(error)}]
    lacking = [call for call in plan.calls if call.lacks is not None]
    outcome: Outcome = "passed" if len(lacking) < len(plan.calls) else "unsupported"
    whole = {"file": str(file), "suite": plan.name, "outcome": outcome, "calls": len(plan.calls)}
    return [{**whole, "skipped": len(lacking)}, *(_skipped(file, call) for call in lacking)]


def _skipped(file: Path, call: PlannedCall) -> dict[str, Any]:  # Any: JSON
    assert call.cell is not None  # as all calls of a suite file
    name = f"{call.job.scenario.name} ({cell_text(call.cell)})"
    return {"file": str(file), "outcome": "unsupported", "scenario": name, "reason": str(call.lacks)}


def _entry(file: Path, scenario: Scenario, changes: Changes) -> dict[str, Any]:  # Any: JSON
    target = Target(changes.adapter)
    name = target.adapter_for(scenario)
    if changes.agent is not None and name not in hosting_adapters():
        raise no_host(name)
    options = {**target.options_for(scenario), **parse_settings(changes.settings, name)}
    missing = load_adapter(name).capabilities_for(options).missing(scenario.requires)
    return {
        "file": str(file),
        "scenario": scenario.name,
        "outcome": "unsupported" if missing else "passed",
        "adapter": name,
        "requires": [str(requirement) for requirement in scenario.requires],
        "missing": [str(requirement) for requirement in missing],
    }


def _line(entry: dict[str, Any]) -> str:  # Any: JSON
    if entry["outcome"] == "bad_scenario":
        return f"error: {entry['error']}"
    if "suite" in entry:
        skipped = f", {entry['skipped']} of them skipped" if entry["skipped"] else ""
        return f"ok: suite {entry['suite']}: {entry['calls']} calls{skipped}"
    if "reason" in entry:
        return f"unsupported: {entry['scenario']}: {entry['reason']}"
    needs = ", ".join(entry["requires"])
    if entry["missing"]:
        return f"unsupported: {entry['scenario']}: {entry['adapter']} lacks {', '.join(entry['missing'])}"
    return f"ok: {entry['scenario']} ({entry['adapter']}; needs {needs})"
