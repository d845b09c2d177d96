"""Scenario values out of YAML nodes, led by the fields of the dataclasses; every error points at what it is about.

A value that has a name (a step, a check, a trigger) is written ``name: body``. The body is its first field, or a
mapping of all its fields; the fields of a step may also stand beside its name. A name alone takes the defaults.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType, UnionType
from typing import TYPE_CHECKING, Any, Final, TypeVar, get_args

from voiceharness.audio.chunk import AudioChunk
from voiceharness.errors import ScenarioError
from voiceharness.scenario.checks import Expectation
from voiceharness.scenario.fields import Field, Kind, fields_of, keeps_place
from voiceharness.scenario.steps import AnyStep, Check, Hear
from voiceharness.scenario.triggers import AfterSeconds, AfterWords, AtRandom, Trigger
from voiceharness.scenario.units import parse_seconds, parse_words
from voiceharness.scenario.yaml_nodes import Entries, Entry, Items, Node, Scalar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from voiceharness.scenario.place import Place

__all__ = ["ValueReader", "by_kind"]

_T = TypeVar("_T")
_INTEGER: Final = re.compile(r"-?[0-9]{1,4000}")
_NUMBER: Final = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?")
_DIGITS_PERHAPS: Final = re.compile(r"\+|-?0[0-9]")
_FLAGS: Final = MappingProxyType({"true": True, "false": False})
_NOTHING: Final[Mapping[str, Entry]] = MappingProxyType({})


def by_kind(union: Any) -> dict[str, type[Any]]:  # Any: a union of dataclasses, as a type expression
    """Map the stable kinds of a union's classes to the classes."""
    return {cls.kind: cls for cls in get_args(union)}


@dataclass(frozen=True, slots=True)
class ValueReader:
    """Reads values of one file; file names in it are relative to ``folder``."""

    folder: str
    steps: Mapping[str, type[Any]] = field(default_factory=lambda: by_kind(AnyStep))
    expectations: Mapping[str, type[Any]] = field(default_factory=lambda: by_kind(Expectation))
    triggers: Mapping[str, type[Any]] = field(default_factory=lambda: by_kind(Trigger))

    def structure(self, cls: type[_T], entries: Mapping[str, Entry], place: Place) -> _T:
        """Make a dataclass instance of a mapping. It keeps ``place`` if it can, and so do errors that have none.

        Raises:
            ScenarioError: for an unknown or missing field, a wrong value, or fields that contradict each other.
        """
        what, known = str(getattr(cls, "kind", cls.__name__)), fields_of(cls)
        values: dict[str, Any] = {}  # Any: each is checked against its field
        for name, entry in entries.items():
            if name not in known:
                raise entry.place.error(f"{what} has no {name!r}{_instead(name, known)}")
            values[name] = self._field(known[name], entry.node)
        missing = [each.name for each in known.values() if each.required and each.name not in values]
        if missing:
            raise place.error(f"{what} needs {' and '.join(missing)}")
        if keeps_place(cls):
            values["place"] = place
        return _placed(place, lambda: cls(**values))

    def step_list(self, node: Node) -> tuple[AnyStep, ...]:
        """Read the steps of a scenario. A check of several expectations becomes as many steps."""
        if not isinstance(node, Items):
            raise node.place.error(f"steps takes a list, not {node.shown}")
        return tuple(step for item in node for step in self._steps_of(item))

    def expectation_list(self, node: Node) -> tuple[Expectation, ...]:
        """Read expectations: a mapping of their names, or one name alone."""
        if isinstance(node, Scalar) and not node.is_null:
            named = {node.text: _name_alone(node.place)}
        elif isinstance(node, Entries) and node.entries:
            named = dict(node.entries)
        else:
            raise node.place.error(f"a check is one of {', '.join(self.expectations)}; not {node.shown}")
        return tuple(self._named(self.expectations, "check", name, entry) for name, entry in named.items())

    def plain(self, node: Node) -> object:
        """Read a value that has no description: texts, numbers, true, false, null, lists and mappings of them."""
        if isinstance(node, Items):
            return [self.plain(item) for item in node]
        if isinstance(node, Entries):
            return {name: self.plain(entry.node) for name, entry in node.entries.items()}
        return _plain_scalar(node)

    def _steps_of(self, node: Node) -> Iterator[AnyStep]:
        if isinstance(node, Scalar) and not node.is_null:
            name, head, beside = node.text, _name_alone(node.place), {}
        elif isinstance(node, Entries) and node.entries:
            (name, head), *rest = node.entries.items()
            beside = dict(rest)
        else:
            raise node.place.error(f"a step is a name, or a name with its fields, not {node.shown}")
        if name == Check.kind:
            node = Entries(beside, head.place) if beside and head.node.is_null else head.node
            _refuse_beside(name, beside if node is head.node else {})
            yield from (Check(each, place=head.place) for each in self.expectation_list(node))
        else:
            yield self._named(self.steps, "step", name, head, beside)

    def _named(
        self, table: Mapping[str, type[_T]], what: str, name: str, entry: Entry, beside: Mapping[str, Entry] = _NOTHING
    ) -> _T:
        """Read ``name: body``, with fields ``beside`` it, as an instance of the class of that name."""
        cls = table.get(name)
        if cls is None:
            raise entry.place.error(f"there is no {what} {name!r}{_instead(name, table)}")
        return self.structure(cls, _fields_written(cls, name, entry.node, beside), entry.place)

    def _field(self, described: Field, node: Node) -> object:
        name, hint = described.name, described.hint
        if hint == AnyStep:
            return self.step_list(node)
        if hint == Expectation:
            return self.expectation_list(node)
        if not described.many:
            return self._one(described, node)
        if not isinstance(node, Items):
            raise node.place.error(f"{name} takes a list, not {node.shown}")
        return tuple(self._one(described, item) for item in node)

    def _one(self, described: Field, node: Node) -> object:
        name, kind, hint = described.name, described.kind, described.hint
        if kind is not None:
            value = _scalar(name, kind, node)
            return self._file(str(value), node) if kind.name == "file" else value
        if hint is AudioChunk:
            raise node.place.error(f"{name} can only be given in Python; here, name a file")
        if isinstance(hint, UnionType):
            return self._trigger(name, get_args(hint), node)
        if not isinstance(node, Entries):
            known = "" if hint is Mapping else f" ({', '.join(fields_of(hint))})"
            raise node.place.error(f"{name} takes a mapping{known}, not {node.shown}")
        return self.plain(node) if hint is Mapping else self.structure(hint, node.entries, node.place)

    def _file(self, name: str, node: Node) -> str:
        path = os.path.normpath(Path(self.folder, name))
        if not Path(path).is_file():
            raise node.place.error(f"there is no file {path!r}")
        return path

    def _trigger(self, name: str, allowed: Iterable[type[Any]], node: Node) -> object:
        if isinstance(node, Entries) and len(node.entries) == 1:
            ((kind, entry),) = node.entries.items()
            trigger = self._named(self.triggers, "trigger", kind, entry)
        elif isinstance(node, Scalar) and not node.is_null:
            trigger = _placed(node.place, lambda: _short_trigger(name, node.text))
        else:
            trigger = None
        if not isinstance(trigger, tuple(allowed)):
            forms = "800ms (of heard agent speech), 4 words or {said: which day}"
            more = ", or random, or {time: 12s} of the call" if AtRandom in allowed else ""
            raise node.place.error(f"{name} takes {forms}{more}; not {node.shown}")
        return trigger


def _short_trigger(name: str, text: str) -> Trigger:
    if text == AtRandom.kind:
        return AtRandom()
    try:
        return AfterWords(parse_words(text)) if "word" in text else AfterSeconds(parse_seconds(text))
    except ScenarioError as error:
        raise ScenarioError(f"{name}: {error.message}") from error


def _scalar(name: str, kind: Kind, node: Node) -> object:
    """Read one scalar of a kind."""
    if not isinstance(node, Scalar) or node.is_null:
        hint = "; # begins a comment unless it stands in quotes" if kind.quotes == "always" else ""
        raise node.place.error(f"{name} takes {kind.wanted}, not {node.shown}{hint}")
    if kind.quotes == "always" and node.plain:
        raise node.place.error(
            f'{name} must stand in quotes: "{node.text}" (without them, YAML readers take 012 for the octal number 10)'
        )
    if kind.quotes == "never" and not node.plain:
        raise node.place.error(f"{name} takes {kind.wanted}, not the text {node.shown}; write it without quotes")
    try:
        value = kind.parse(node.text)
    except ScenarioError as error:
        wrong = f": {error.message}" if node.is_short else f" takes {kind.wanted}, not {node.shown}"
        raise node.place.error(f"{name}{wrong}") from error
    if not kind.accepts(value):
        instead = _instead(node.text, kind.choices) if kind.choices else f"; it takes {kind.wanted}"
        raise node.place.error(f"{name} cannot be {node.shown}{instead}")
    return value


def _plain_scalar(node: Scalar) -> str | int | float | bool | None:
    """Read a scalar by the core schema of YAML 1.2, but refuse a number that may be meant as digits: 012, +1555."""
    if not node.plain:
        return node.text
    if node.is_null:
        return None
    if node.text in _FLAGS:
        return _FLAGS[node.text]
    if not _NUMBER.fullmatch(node.text):
        return node.text
    if _DIGITS_PERHAPS.match(node.text):
        raise node.place.error(f"{node.text} may be a number or digits; put digits in quotes, or write a plain number")
    return int(node.text) if _INTEGER.fullmatch(node.text) else float(node.text)


def _name_alone(place: Place) -> Entry:
    return Entry(place, Scalar("", plain=True, place=place))


def _fields_written(
    cls: type[Any], name: str, body: Node, beside: Mapping[str, Entry]
) -> Mapping[str, Entry]:  # Any: of any dataclass
    """Bring the body of a named value, and what stands beside its name, into the form of a mapping."""
    if isinstance(body, Entries):
        _refuse_beside(name, beside)
        return body.entries
    if body.is_null:
        return beside
    first = _first_field(cls, name, body)
    if first in beside:
        raise beside[first].place.error(f"{first!r} is given twice; first beside {name}")
    return {first: Entry(body.place, body), **beside}


def _refuse_beside(name: str, beside: Mapping[str, Entry]) -> None:
    for stray, entry in beside.items():
        raise entry.place.error(f"{stray!r} stands beside {name}, which has its fields already; put it with them")


def _first_field(cls: type[Any], name: str, body: Node) -> str:  # Any: of any dataclass
    known = fields_of(cls)
    if not known:
        raise body.place.error(f"{name} takes nothing, not {body.shown}")
    if cls is Hear and isinstance(body, Scalar) and body.plain and _is_duration(body.text):
        raise body.place.error(f"hear takes text; for a time, write hear: {{within: {body.text}}}")
    return next(iter(known))


def _is_duration(text: str) -> bool:
    try:
        parse_seconds(text)
    except ScenarioError:
        return False
    return True


def _instead(name: str, known: Iterable[str]) -> str:
    """Suggest what may have been meant."""
    names = list(known)
    near = get_close_matches(name, names, n=1)
    return f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(names)}" if names else ""


def _placed(place: Place, make: Callable[[], _T]) -> _T:
    """Make a value; give an error that has no place this one."""
    try:
        return make()
    except ScenarioError as error:
        if error.line is not None:
            raise
        raise place.error(error.message) from error
