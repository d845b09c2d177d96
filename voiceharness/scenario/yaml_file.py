"""Scenario files: one scenario, a list of them, or ``scenarios:`` with ``defaults:`` for what they share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from voiceharness.errors import ScenarioError
from voiceharness.scenario.scenario import Scenario
from voiceharness.scenario.yaml_nodes import MAX_BYTES, Entries, Entry, Items, Node, parse_yaml
from voiceharness.scenario.yaml_values import ValueReader

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["load_scenario", "load_scenarios", "parse_scenarios"]


def load_scenarios(path: str | Path) -> tuple[Scenario, ...]:
    """Read all scenarios of a file; file names in it are relative to its folder.

    Raises:
        ScenarioError: with file, line and column of what cannot be used.
    """
    file = Path(path)
    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise ScenarioError(f"cannot read the file: {error.strerror}", file=str(path)) from error
    return parse_scenarios(data, file=str(path), folder=str(file.parent))


def load_scenario(path: str | Path) -> Scenario:
    """Read a file of exactly one scenario.

    Raises:
        ScenarioError: with file, line and column of what cannot be used, or if there are several.
    """
    scenarios = load_scenarios(path)
    if len(scenarios) > 1:
        names = ", ".join(scenario.name for scenario in scenarios)
        raise ScenarioError(f"one scenario is expected, but there are {len(scenarios)}: {names}", file=str(path))
    return scenarios[0]


def parse_scenarios(text: str | bytes, *, file: str = "<text>", folder: str = ".") -> tuple[Scenario, ...]:
    """Read all scenarios of a text; ``file`` is what errors call it, ``folder`` where its file names start.

    Raises:
        ScenarioError: with line and column of what cannot be used.
    """
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    root = parse_yaml(data, file)
    defaults, nodes = _scenario_nodes(root)
    reader = ValueReader(folder)
    scenarios = tuple(_read_scenario(reader, node, defaults) for node in nodes)
    _refuse_same_names(scenarios)
    return scenarios


def _scenario_nodes(root: Node) -> tuple[Mapping[str, Entry], tuple[Node, ...]]:
    """Find what scenarios share, and the node of each."""
    if isinstance(root, Entries) and "scenarios" in root.entries:
        for name, entry in root.entries.items():
            if name not in ("scenarios", "defaults"):
                raise entry.place.error(f"{name!r} cannot stand beside scenarios; put it under defaults")
        return _shared(root.entries), _listed(root.entries["scenarios"].node)
    return {}, (root,) if isinstance(root, Entries) else _listed(root)


def _shared(entries: Mapping[str, Entry]) -> Mapping[str, Entry]:
    if "defaults" not in entries:
        return {}
    node = entries["defaults"].node
    if not isinstance(node, Entries):
        raise node.place.error(f"defaults takes a mapping, not {node.shown}")
    for name in ("name", "steps"):
        if name in node.entries:
            raise node.entries[name].place.error(f"{name} is each scenario's own, and cannot stand under defaults")
    return node.entries


def _listed(node: Node) -> tuple[Node, ...]:
    if not isinstance(node, Items) or not node.items:
        raise node.place.error("expected a scenario (name, steps, ...) or a list of them")
    return node.items


def _read_scenario(reader: ValueReader, node: Node, defaults: Mapping[str, Entry]) -> Scenario:
    if not isinstance(node, Entries):
        raise node.place.error(f"a scenario is a mapping (name, steps, ...), not {node.shown}")
    return reader.structure(Scenario, {**defaults, **node.entries}, node.place)


def _refuse_same_names(scenarios: tuple[Scenario, ...]) -> None:
    seen: set[str] = set()
    for scenario in scenarios:
        if scenario.name in seen and scenario.place is not None:
            raise scenario.place.error(f"a scenario named {scenario.name!r} comes earlier in this file")
        seen.add(scenario.name)
