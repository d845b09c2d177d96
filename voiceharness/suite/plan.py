"""The calls of a suite file, before any is made: scenarios by adapters, lines, seeds and repeats, in this order.

What an adapter cannot do is known here already. Such a call is planned with the reason why it is skipped, and never
handed to whoever makes calls.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeVar

from voiceharness.errors import ConfigurationError, OptionError, ScenarioError, UnsupportedCapabilityError
from voiceharness.registry.options import REQUIRED, AdapterOption, options_of
from voiceharness.registry.plugins import load_adapter
from voiceharness.registry.settings import parse_settings
from voiceharness.registry.target import DEFAULT_ADAPTER, hosting_adapters, no_host
from voiceharness.report.redaction import Redactor
from voiceharness.scenario.run import no_virtual_time
from voiceharness.suite.selection import EVERYTHING, Selection, select
from voiceharness.suite.suite_file import AdapterEntry
from voiceharness.suite.variables import check_variables, expand_options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from voiceharness.adapter import VoiceAgentAdapter
    from voiceharness.errors import VoiceHarnessError
    from voiceharness.report.cells import Cell
    from voiceharness.report.limits import SuiteLimits
    from voiceharness.scenario.checks import Expectation
    from voiceharness.scenario.scenario import Scenario
    from voiceharness.suite.finding import Case
    from voiceharness.suite.job import Job
    from voiceharness.suite.suite_file import Suite, SuiteLine

__all__ = ["Changes", "Plan", "PlannedCall", "folder_name", "plan_suite", "unless_too_many"]

MOST_CALLS: Final = 100_000
"""Calls that one run may have: planned in seconds, and more than a night makes."""

_LONGEST_NAME: Final = 40
_LONGEST_LABEL: Final = 24

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A call to make. ``cell`` is its place in a suite's grid; ``lacks`` is why it cannot be made."""

    job: Job
    cell: Cell | None = None
    lacks: VoiceHarnessError | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """All calls of a run; ``limits`` are those of a suite file, None without one."""

    name: str
    calls: Sequence[PlannedCall]
    limits: SuiteLimits | None = None


@dataclass(frozen=True, slots=True)
class Changes:
    """What a command line says beside the suite file, and goes before it. ``adapter``: of the entries only this.

    ``agent_later``: an agent is known from elsewhere, for calls whose entry names none.
    """

    adapter: str | None = None
    agent: str | None = None
    settings: Sequence[str] = ()
    virtual: bool | None = None
    seed: int | None = None
    repeat: int = 1
    selection: Selection = EVERYTHING
    agent_later: bool = False


@dataclass(frozen=True, slots=True)
class _Way:
    """An adapter entry with the changes of the command line. What is looked up of an adapter is looked up once."""

    entry: AdapterEntry
    changes: Changes
    environment: Mapping[str, str] | None
    hosts: frozenset[str]
    adapters: dict[str, tuple[type[VoiceAgentAdapter], Mapping[str, AdapterOption]]] = field(default_factory=dict)
    options: dict[str, dict[str, object]] = field(default_factory=dict)

    def label(self, job: Job) -> str:
        """Name the way of a job, for people and for folders."""
        return Redactor().text(self.entry.name or job.target.adapter_for(job.scenario))

    def job(self, job: Job) -> Job:
        """Return a job that goes this way."""
        entry, changes = self.entry, self.changes
        given = replace(job, adapter=entry.adapter, agent=changes.agent or entry.agent)
        resources = {what: float(amount) for what, amount in entry.resources.items() if isinstance(amount, int | float)}
        virtual = entry.virtual if changes.virtual is None else changes.virtual
        options = self._options(given.target.adapter_for(job.scenario))
        return replace(given, options=options, virtual=virtual, resources=resources)

    def lacks(self, job: Job) -> UnsupportedCapabilityError | None:
        """Return what keeps the adapter from making a call.

        Raises:
            ConfigurationError: if the adapter, its options, or the kind of time cannot be used.
        """
        name = job.target.adapter_for(job.scenario)
        adapter, known = self._adapter(name)
        options = job.target.options_for(job.scenario)
        for given in options:
            if given not in known:
                raise OptionError(f"adapter {name!r} has no option {given!r}; it has: {', '.join(known) or 'none'}")
        self._refuse_without_agent(job, name, [option for option in known.values() if option.name not in options])
        if job.agent is not None and name not in self.hosts:
            raise no_host(name)
        capabilities = adapter.capabilities_for(options)
        if job.virtual and not capabilities.virtual_time:
            raise no_virtual_time(name, adapter.capabilities)
        missing = capabilities.missing(job.scenario.requires)
        return UnsupportedCapabilityError(adapter=name, capability=str(missing[0])) if missing else None

    def _refuse_without_agent(self, job: Job, adapter: str, left_out: Iterable[AdapterOption]) -> None:
        """Refuse an adapter that has neither the options that it needs nor an agent, whose host would give them.

        Where the suite names no adapters, whom to call may still be said when it is run.
        """
        if job.agent is not None or self.changes.agent_later or (self.entry.place is None and self.environment is None):
            return
        for option in left_out:
            if option.default is REQUIRED and option.name != "rate":  # the rate is the scenario's
                ways = f"the option {option.name!r}" if option.name != "agent" else "an agent"
                served = ", or an agent to serve" if option.name != "agent" and adapter in self.hosts else ""
                raise OptionError(f"adapter {adapter!r} needs {ways}{served}: {option.help}")

    def _adapter(self, name: str) -> tuple[type[VoiceAgentAdapter], Mapping[str, AdapterOption]]:
        """Return an adapter's class, and its options by their names."""
        if name not in self.adapters:
            loaded = load_adapter(name)
            self.adapters[name] = loaded, {option.name: option for option in options_of(loaded)}
        return self.adapters[name]

    def _options(self, adapter: str) -> dict[str, object]:
        if adapter not in self.options:
            given: dict[str, object] = {}
            for name, value in self.entry.options.items():
                given |= self._expanded({name: value}, adapter)
            self.options[adapter] = {**given, **parse_settings(self.changes.settings, adapter)}
        return self.options[adapter]

    def _expanded(self, option: Mapping[str, object], adapter: str) -> Mapping[str, object]:
        """Return one option with the values of its variables, if they are to be set already."""
        try:
            if self.environment is not None:
                return expand_options(option, self.environment, adapter)
            check_variables(option)
        except OptionError as error:
            raise self.entry.error(str(error), *option) from error
        return option


def plan_suite(
    suite: Suite,
    template: Callable[[Scenario, Path], Job],
    out: Path,
    *,
    changes: Changes | None = None,
    environment: Mapping[str, str] | None = None,
) -> Plan:
    """Plan the calls of a suite, with their evidence below ``out``.

    ``template`` makes a job of a scenario and a folder; what the suite file says is filled in. Without ``environment``
    variables stay as they are written, so that a suite can be looked at where they are not set.

    Raises:
        ConfigurationError: if something in the file cannot be used, or if no scenario is selected.
    """
    changes = changes or Changes()
    cases = select(suite.cases, suite.settings.select, changes.selection)
    hosts = hosting_adapters()
    ways = [_Way(entry, changes, environment, hosts) for entry in _chosen(suite, changes.adapter)]
    points = (point for case in cases for way in ways for point in _points(suite, case, way))
    calls = tuple(
        _planned(suite, point, template, partial(_folder, out, number))
        for number, point in enumerate(unless_too_many(points), 1)
    )
    return Plan(suite.settings.suite, calls, suite.settings.limits.all_calls)


def unless_too_many(wanted: Iterable[T]) -> list[T]:
    """Return what is wanted of a run, one for each call.

    Raises:
        OptionError: if these are more calls than a run may have.
    """
    taken = list(islice(wanted, MOST_CALLS + 1))
    if len(taken) > MOST_CALLS:
        raise OptionError(
            f"more than {MOST_CALLS} calls are asked for; take fewer scenarios, lines, seeds or repeats into one run"
        )
    return taken


def folder_name(number: int, *parts: str) -> str:
    """Name the folder of a call: its number from 1, and what tells it from others, the scenario's name first.

    It is ASCII, because a file system may take nothing else where the locale is "C".
    """
    first, *others = parts
    words = [_slug(first, _LONGEST_NAME) or "call", *(_slug(other, _LONGEST_LABEL) for other in others)]
    return f"{number:03d}-{'-'.join(word for word in words if word)}"


@dataclass(frozen=True, slots=True)
class _Point:
    """One call of the product; ``line`` None: the suite names no lines."""

    case: Case
    way: _Way
    line: SuiteLine | None
    seed: int
    repeat: int


def _points(suite: Suite, case: Case, way: _Way) -> Iterator[_Point]:
    lines: Sequence[SuiteLine | None] = suite.settings.lines or [None]
    seeds = suite.settings.seeds or [case.scenario.seed]
    if way.changes.seed is not None:
        seeds = [way.changes.seed]
    for line in lines:
        for seed in seeds:
            yield from (_Point(case, way, line, seed, repeat) for repeat in range(1, way.changes.repeat + 1))


def _planned(
    suite: Suite,
    point: _Point,
    template: Callable[[Scenario, Path], Job],
    folder: Callable[[str, Cell], Path],
) -> PlannedCall:
    scenario, lacks = _scenario(point, suite.settings.limits.each_call)
    try:
        job = point.way.job(template(scenario, suite.file))
        lacks = lacks or point.way.lacks(job)
    except ScenarioError:
        raise  # it has its place
    except ConfigurationError as error:
        raise point.way.entry.error(str(error)) from error
    cell: Cell = {
        "file": suite.name_of(point.case),
        "adapter": point.way.label(job),
        "line": None if point.line is None else Redactor().text(point.line.label),
        "seed": point.seed,
        "repeat": point.repeat,
    }
    return PlannedCall(replace(job, file=point.case.file, folder=folder(scenario.name, cell)), cell, lacks)


def _scenario(point: _Point, limits: Iterable[Expectation]) -> tuple[Scenario, VoiceHarnessError | None]:
    """Return the scenario of a point, and why it cannot be called in the direction that is asked for."""
    own = point.case.scenario
    kinds = {limit.kind for limit in own.limits}
    line = own.line if point.line is None or point.line.profile is None else point.line.profile
    added = [limit for limit in limits if limit.kind not in kinds]
    scenario = replace(own, seed=point.seed, line=line, limits=[*own.limits, *added])
    direction = point.way.entry.direction
    if direction in (None, scenario.direction):
        return scenario, None
    try:
        return replace(scenario, direction=direction), None
    except ScenarioError as error:
        adapter = point.way.entry.adapter or own.adapter or DEFAULT_ADAPTER
        return scenario, UnsupportedCapabilityError(
            adapter=adapter, capability=f"this scenario with direction:{direction}", alternative=error.message
        )


def _folder(out: Path, number: int, scenario: str, cell: Cell) -> Path:
    repeat = [f"repeat-{cell['repeat']}"] if cell["repeat"] > 1 else []
    return out / folder_name(number, scenario, cell["adapter"], cell["line"] or "", f"seed-{cell['seed']}", *repeat)


def _slug(text: str, longest: int) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:longest].rstrip("-")


def _chosen(suite: Suite, name: str | None) -> Sequence[AdapterEntry]:
    entries = suite.settings.adapters or [AdapterEntry()]
    chosen = [entry for entry in entries if name is None or name in (entry.name, entry.adapter)]
    if not chosen and not suite.settings.adapters:
        return [AdapterEntry(adapter=name)]
    if not chosen:
        known = ", ".join(entry.name for entry in entries)
        raise ScenarioError(f"no adapter of the suite is called {name!r}; there are {known}", file=str(suite.file))
    return chosen
