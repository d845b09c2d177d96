"""Suite files: which scenarios to call over which adapters and lines, with which seeds, and within which limits.

.. code-block:: yaml

    suite: nightly                       # its name; this key makes a file a suite file
    scenarios: [calls, more/*.yaml]      # files, folders and patterns, relative to this file
    adapters:
      - {adapter: in_process, agent: my_agent:Line}
      - {adapter: sip, label: trunk, options: {target: "sip:${SIP_USER}@127.0.0.1"}, resources: {trunk: 1}}
    lines: [own, mobile, {label: lossy, loss: 0.05}]
    seeds: [1, 2, 3]
    select: {tags: [smoke], without_tags: [slow]}
    limits:
      each_call: {response_latency: 2s}
      all_calls: {failed: 5%, response_latency: {p95: 1.5s}}

Every scenario is called over every adapter, line and seed. ``${NAME}`` in an option is a variable of the environment;
its value is taken for a secret. A plain ``${`` is written ``$${``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence  # noqa: TC003 (read at run time to describe the fields)
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from voiceharness.capabilities import Direction  # noqa: TC001 (read at run time to describe the fields)
from voiceharness.errors import ScenarioError
from voiceharness.report.limits import SuiteLimits
from voiceharness.scenario.checks import Expectation  # noqa: TC001 (read at run time to describe the fields)
from voiceharness.scenario.fields import CHECKED, Count, Text, check_fields, fields_of, keep_tuples
from voiceharness.scenario.line_profile import LineProfile
from voiceharness.scenario.place import Place  # noqa: TC001 (read at run time to describe the fields)
from voiceharness.scenario.yaml_file import load_scenarios
from voiceharness.scenario.yaml_nodes import MAX_BYTES, Entries, Entry, Items, Node, Scalar, parse_yaml
from voiceharness.scenario.yaml_values import ValueReader
from voiceharness.suite.finding import Case, files_matching
from voiceharness.suite.selection import EVERYTHING, Selection

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["AdapterEntry", "Limits", "Suite", "SuiteFile", "SuiteLine", "parse_suite_file", "read_suite"]

_OWN: Final = "own"
_CLEAN: Final = "clean"


@dataclass(frozen=True, slots=True)
class AdapterEntry:
    """One way to reach the agent. What is not given is the scenario's own.

    ``label`` names it in folders and reports (default: the adapter's name, and the direction where one is given).
    ``agent`` is ``package.module:name``; it is served on the adapter's transport. ``direction`` replaces that of every
    scenario. ``resources`` are the scarce things that a call takes, by name and how much of each.
    """

    adapter: Text | None = None
    label: Text | None = None
    agent: Text | None = None
    options: Mapping[str, object] = field(default_factory=dict, hash=False)
    direction: Direction | None = None
    virtual: bool | None = None
    resources: Mapping[str, object] = field(default_factory=dict, hash=False)
    place: Place | None = field(default=None, compare=False, repr=False, metadata={CHECKED: False})
    option_places: Mapping[str, Place] = field(
        default_factory=dict, compare=False, repr=False, metadata={CHECKED: False}
    )

    kind: ClassVar[str] = "adapter"

    def __post_init__(self) -> None:
        check_fields(self, self.kind)
        if self.agent is not None and "${" in self.agent:
            raise ScenarioError("agent: only options take variables of the environment; give another with --agent")
        for name, amount in self.resources.items():
            if isinstance(amount, bool) or not isinstance(amount, int | float) or not 0 < amount < float("inf"):
                raise ScenarioError(f"resources: of {name} a call takes a number above zero, not {amount!r}")

    @property
    def name(self) -> str:
        """What reports call it; empty if the scenario's own adapter is taken."""
        return self.label or " ".join(part for part in (self.adapter, self.direction) if part)

    def error(self, message: str, option: str | None = None) -> ScenarioError:
        """Make an error that points to it, or to the value of one of its options."""
        place = self.place if option is None else self.option_places.get(option, self.place)
        return place.error(message) if place else ScenarioError(message)


@dataclass(frozen=True, slots=True)
class SuiteLine:
    """A line that scenarios are called over; ``profile`` None: each over its own."""

    label: Text
    profile: LineProfile | None = None

    kind: ClassVar[str] = "line"


@dataclass(frozen=True, slots=True)
class Limits:
    """``each_call``: of every call; what the scenario limits itself goes before. ``all_calls``: of all together."""

    each_call: Sequence[Expectation] = ()
    all_calls: SuiteLimits = field(default_factory=SuiteLimits)

    kind: ClassVar[str] = "limits"

    def __post_init__(self) -> None:
        keep_tuples(self, self.kind)


@dataclass(frozen=True, slots=True)
class SuiteFile:
    """What a suite file says. Without ``adapters``, ``lines`` or ``seeds``, scenarios take their own."""

    suite: Text
    scenarios: Sequence[Text]
    description: Text | None = None
    adapters: Sequence[AdapterEntry] = ()
    lines: Sequence[SuiteLine] = ()
    seeds: Sequence[Count] = ()
    select: Selection = EVERYTHING
    limits: Limits = field(default_factory=Limits)

    kind: ClassVar[str] = "suite"

    def __post_init__(self) -> None:
        keep_tuples(self, self.kind)
        check_fields(self, self.kind)
        if not self.scenarios:
            raise ScenarioError("suite: scenarios names none")
        for what, labels in (
            ("adapters", [each.name for each in self.adapters]),
            ("lines", [each.label for each in self.lines]),
            ("seeds", [str(each) for each in self.seeds]),
        ):
            _refuse_twice(what, labels)


@dataclass(frozen=True, slots=True)
class Suite:
    """A suite file that was read, with its scenarios. ``name_of`` tells what it calls the file of a case."""

    settings: SuiteFile
    file: Path
    cases: Sequence[Case]

    def name_of(self, case: Case) -> str:
        """Return the path of a case's file as seen from the suite file, the same wherever that lies."""
        folder = self.file.parent
        return (case.file.relative_to(folder) if case.file.is_relative_to(folder) else case.file).as_posix()


def read_suite(path: Path) -> Suite:
    """Read a suite file, and all scenarios that it names.

    Raises:
        ScenarioError: with file, line and column of what cannot be used, in it or in a scenario.
    """
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise ScenarioError(f"cannot read the file: {error.strerror}", file=str(path)) from error
    root = _mapping(parse_yaml(data, str(path)))
    settings = _settings(root, path.parent)
    return Suite(settings, path, tuple(_cases(root.entries["scenarios"].node, path.parent)))


def parse_suite_file(text: str, file: str) -> SuiteFile:
    """Read the text of a suite file, and none of the scenarios that it names.

    Raises:
        ScenarioError: with file, line and column of what cannot be used.
    """
    return _settings(_mapping(parse_yaml(text.encode(), file)), Path(file).parent)


def _mapping(root: Node) -> Entries:
    if not isinstance(root, Entries):
        raise root.place.error(f"a suite file is a mapping (suite, scenarios, ...), not {root.shown}")
    return root


def _settings(root: Entries, folder: Path) -> SuiteFile:
    entries = dict(_entries(root))
    for name in ("adapters", "lines", "seeds"):
        _refuse_items(name, entries[name].node if name in entries else None)
    settings = ValueReader(str(folder)).structure(SuiteFile, entries, root.place)
    listed = root.entries["adapters"].node if "adapters" in root.entries else None
    if not isinstance(listed, Items):
        return settings
    placed = zip(settings.adapters, listed, strict=True)
    return replace(settings, adapters=[replace(entry, option_places=_option_places(node)) for entry, node in placed])


def _refuse_items(what: str, listed: Node | None) -> None:
    """Refuse, at its own place, an item that is there already, and a seed below 0."""
    labels: set[str] = set()
    for item in listed if isinstance(listed, Items) else ():
        label = _label(item)
        if what == "seeds" and label.startswith("-"):
            raise item.place.error(f"seeds: {label} cannot be a seed; a seed is at least 0")
        if label in labels:
            raise item.place.error(_is_twice(what, label))
        labels.add(label)


def _label(item: Node) -> str:
    """Tell what an item of a list is called; empty if it has no name."""
    if isinstance(item, Scalar):
        return item.text
    named = item.entries if isinstance(item, Entries) else {}
    written = {name: entry.node.text for name, entry in named.items() if isinstance(entry.node, Scalar)}
    adapter = " ".join(written[name] for name in ("adapter", "direction") if name in written)
    return written.get("label") or adapter


def _option_places(adapter: Node) -> dict[str, Place]:
    """Tell where the value of each option of an adapter stands."""
    options = adapter.entries.get("options") if isinstance(adapter, Entries) else None
    if options is None or not isinstance(options.node, Entries):
        return {}
    return {name: entry.node.place for name, entry in options.node.entries.items()}


def _entries(root: Entries) -> Iterable[tuple[str, Entry]]:
    """Bring what may be written shortly into its long form."""
    for name, entry in root.entries.items():
        match name, entry.node:
            case "lines", Items() as listed:
                lines = Items(tuple(_line(item) for item in listed), listed.place)
                yield name, Entry(entry.place, lines)
            case "limits", Entries() as limits:
                yield name, Entry(entry.place, _limits(limits))
            case _:
                yield name, entry


def _line(node: Node) -> Node:
    """Write a line as its label and profile: ``mobile`` is the profile of that name, ``own`` is none."""
    if isinstance(node, Scalar) and not node.is_null:
        label = Entry(node.place, node)
        if node.text == _OWN:
            return Entries({"label": label}, node.place)
        named = {} if node.text == _CLEAN else {"profile": label}
        return Entries({"label": label, "profile": Entry(node.place, Entries(named, node.place))}, node.place)
    if not isinstance(node, Entries):
        raise node.place.error(f"a line is a name, or a mapping of its faults, not {node.shown}")
    faults = {name: entry for name, entry in node.entries.items() if name != "label"}
    label = node.entries.get("label") or Entry(node.place, Scalar(_described(faults), plain=True, place=node.place))
    return Entries({"label": label, "profile": Entry(node.place, Entries(faults, node.place))}, node.place)


def _described(faults: Mapping[str, Entry]) -> str:
    """Name a line that has no label by what is said of it."""
    known = fields_of(LineProfile)
    written = ((name, entry.node) for name, entry in faults.items() if name in known)
    scalars = ((name, node.text) for name, node in written if isinstance(node, Scalar))
    told = (text if name == "profile" else f"{name} {text}" for name, text in scalars)
    return " ".join(told) or _CLEAN


def _limits(limits: Entries) -> Entries:
    """Let a latency of all calls be written as one of each call is: ``response_latency: 2s`` is at most that."""
    together = limits.entries.get("all_calls")
    if together is None or not isinstance(together.node, Entries):
        return limits
    long_form = {
        name: Entry(entry.place, Entries({"at_most": entry}, entry.place))
        if name in ("response_latency", "stop_latency") and isinstance(entry.node, Scalar)
        else entry
        for name, entry in together.node.entries.items()
    }
    long = Entry(together.place, Entries(long_form, together.node.place))
    return Entries({**limits.entries, "all_calls": long}, limits.place)


def _cases(named: Node, folder: Path) -> Iterable[Case]:
    assert isinstance(named, Items)  # it was read as a list of texts
    files: dict[Path, None] = {}
    for item in named:
        assert isinstance(item, Scalar)
        try:
            files.update(dict.fromkeys(files_matching(item.text, folder)))
        except ScenarioError as error:
            raise item.place.error(error.message) from error
    for file in files:
        yield from (Case(scenario, file) for scenario in load_scenarios(file))


def _refuse_twice(what: str, labels: Sequence[str]) -> None:
    counts = Counter(labels)
    for label in labels:
        if counts[label] > 1:
            raise ScenarioError(_is_twice(what, label))


def _is_twice(what: str, label: str) -> str:
    named = label or "those without a name"
    hint = "" if what == "seeds" else "; give them different labels"
    return f"{what}: {named} is there twice{hint}"
