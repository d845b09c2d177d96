"""``voiceharness validate``: what can be known of scenario files and suite files without calling."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voiceharness.cli.output import tell, tell_json
from voiceharness.cli.planning import Request
from voiceharness.errors import ConfigurationError, OptionError, ScenarioError
from voiceharness.registry import load_adapter
from voiceharness.registry.options import load_agent, refuse_unknown_options
from voiceharness.registry.settings import parse_settings
from voiceharness.registry.target import Target, hosting_adapters, no_host
from voiceharness.report.cells import cell_text
from voiceharness.report.printable import printable
from voiceharness.report.suite import suite_exit_code
from voiceharness.scenario.yaml_file import load_scenarios
from voiceharness.speech.engines import refuse_unknown_engine
from voiceharness.suite.finding import is_suite_file, yaml_files
from voiceharness.suite.plan import Changes
from voiceharness.suite.suite_file import read_suite

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
    sys.path.insert(0, str(Path.cwd()))  # where `run` looks for agents
    if agent is not None:
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
        scenarios = load_scenarios(file)
    except ScenarioError as error:
        return [{"file": str(file), "outcome": "bad_scenario", "error": str(error)}]
    return [_entry(file, scenario, changes) for scenario in scenarios]


def _suite_entries(file: Path, changes: Changes) -> list[dict[str, Any]]:  # Any: JSON
    """Tell of the suite as a whole, then of each call of it that cannot be made."""
    try:
        plan = Request([file], Path(), changes).plan(dialling=False)
        _load_agents(file, changes)
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


def _load_agents(file: Path, changes: Changes) -> None:
    """Load the agents that a suite file names, unless another is called in their place."""
    entries = () if changes.agent is not None else read_suite(file).settings.adapters
    for entry in entries:
        if entry.agent is not None:
            try:
                load_agent(entry.agent)
            except OptionError as error:
                raise entry.error(str(error)) from error


def _entry(file: Path, scenario: Scenario, changes: Changes) -> dict[str, Any]:  # Any: JSON
    name = Target(changes.adapter).adapter_for(scenario)
    if changes.agent is not None and name not in hosting_adapters():
        raise no_host(name)
    told = {"file": str(file), "scenario": scenario.name}
    try:
        return {**told, "adapter": name, **_needs(scenario, name, changes)}
    except ConfigurationError as error:
        placed = scenario.place.error(str(error)) if scenario.place else error
        return {**told, "outcome": "bad_scenario", "error": str(placed)}


def _needs(scenario: Scenario, adapter: str, changes: Changes) -> dict[str, Any]:  # Any: JSON
    """Return what a scenario needs, and what of that its adapter lacks.

    Raises:
        ConfigurationError: if it names an adapter, an option or an engine that there is none of.
    """
    options = {**Target(changes.adapter).options_for(scenario), **parse_settings(changes.settings, adapter)}
    refuse_unknown_options(adapter, options)
    refuse_unknown_engine("synthesizer", scenario.synthesizer)
    refuse_unknown_engine("transcriber", scenario.transcriber)
    missing = load_adapter(adapter).capabilities_for(options).missing(scenario.requires)
    return {
        "outcome": "unsupported" if missing else "passed",
        "requires": [str(requirement) for requirement in scenario.requires],
        "missing": [str(requirement) for requirement in missing],
    }


def _line(entry: dict[str, Any]) -> str:  # Any: JSON
    if entry["outcome"] == "bad_scenario":
        return f"error: {entry['error']}"
    if "suite" in entry:
        skipped = f", {entry['skipped']} of them skipped" if entry["skipped"] else ""
        calls = f"{entry['calls']} {'call' if entry['calls'] == 1 else 'calls'}"
        return f"ok: suite {entry['suite']}: {calls}{skipped}"
    if "reason" in entry:
        return f"unsupported: {entry['scenario']}: {entry['reason']}"
    needs = ", ".join(entry["requires"])
    if entry["missing"]:
        return f"unsupported: {entry['scenario']}: {entry['adapter']} lacks {', '.join(entry['missing'])}"
    return f"ok: {entry['scenario']} ({entry['adapter']}; needs {needs})"
