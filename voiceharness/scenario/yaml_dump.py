"""Scenarios written as YAML, so that reading them gives equal values. What has its default is left out."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, get_args

import yaml

from voiceharness.audio.chunk import AudioChunk
from voiceharness.errors import ScenarioError
from voiceharness.scenario.checks import Expectation
from voiceharness.scenario.fields import Field, fields_of
from voiceharness.scenario.steps import Check, Step
from voiceharness.scenario.triggers import AfterSeconds, AfterText, AfterWords, AtRandom, AtTime
from voiceharness.scenario.units import format_seconds, format_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from voiceharness.scenario.scenario import Scenario

__all__ = ["dump_scenario", "dump_scenarios"]

_QUOTED_KINDS: Final = frozenset({"text", "file", "digits"})
_EXPECTATIONS: Final = get_args(Expectation)


def dump_scenario(scenario: Scenario, *, folder: str = ".") -> str:
    """Write one scenario as YAML; names of sound files are made relative to ``folder``, where the text will be saved.

    Raises:
        ScenarioError: if a step holds audio, which has no YAML form.
    """
    return _serialize(_structure(scenario, folder))


def dump_scenarios(scenarios: Sequence[Scenario], *, folder: str = ".") -> str:
    """Write several scenarios as one YAML list.

    Raises:
        ScenarioError: as for one.
    """
    return _serialize(_list(_structure(scenario, folder) for scenario in scenarios))


def _serialize(node: yaml.Node) -> str:
    text: str = yaml.serialize(node, Dumper=yaml.BaseDumper, allow_unicode=True, width=100)
    return text


def _structure(value: Any, folder: str) -> yaml.Node:  # Any: of any dataclass
    """Write a dataclass instance as a mapping of the fields that differ from their defaults."""
    return _mapping({name: _field(described, getattr(value, name), folder) for name, described in _given(value)})


def _given(value: Any) -> list[tuple[str, Field]]:  # Any: of any dataclass
    return [(name, each) for name, each in fields_of(type(value)).items() if getattr(value, name) != each.default]


def _field(described: Field, held: Any, folder: str) -> yaml.Node:  # Any: what the field holds
    if described.many and described.hint == Expectation:
        return _mapping({limit.kind: _body(limit, folder) for limit in held})
    if described.many:
        return _list(_one(described, each, folder) for each in held)
    return _one(described, held, folder)


def _one(described: Field, held: Any, folder: str) -> yaml.Node:  # Any: what the field holds
    if described.kind is not None:
        text = os.path.relpath(held, folder) if described.kind.name == "file" else described.kind.format(held)
        return _quoted(text) if described.kind.name in _QUOTED_KINDS else _plain(text)
    match held:
        case Step() | AfterSeconds() | AfterWords() | AfterText() | AtRandom() | AtTime():
            return _named(held, folder)
        case AudioChunk():
            raise ScenarioError("a step with audio has no YAML form: save the audio as a WAV file and name that")
        case Mapping():
            return _free(held)
    return _mapping({held.kind: _body(held, folder)}) if isinstance(held, _EXPECTATIONS) else _structure(held, folder)


def _named(value: Any, folder: str) -> yaml.Node:  # Any: a step or a trigger
    """Write ``name: body`` in the shortest form that is read back equal."""
    match value:
        case AfterSeconds():
            return _plain(format_seconds(value.seconds))
        case AfterWords():
            return _plain(format_words(value.words))
        case _ if not _given(value):
            return _plain(value.kind)
        case Check() if not _given(value.expectation):
            return _mapping({value.kind: _plain(value.expectation.kind)})
        case Check():
            return _mapping({value.kind: _mapping({value.expectation.kind: _body(value.expectation, folder)})})
    return _mapping({value.kind: _body(value, folder)})


def _body(value: Any, folder: str) -> yaml.Node:  # Any: a step, a trigger or an expectation
    given = [name for name, _ in _given(value)]
    first, described = next(iter(fields_of(type(value)).items()))
    if given == [first]:
        return _field(described, getattr(value, first), folder)
    return _structure(value, folder)


def _free(value: object) -> yaml.Node:
    """Write a value that has no description: texts, numbers, true, false, null, lists and mappings of them."""
    match value:
        case Mapping():
            return _pairs((_quoted(str(name)), _free(each)) for name, each in value.items())
        case list() | tuple():
            return _list(_free(each) for each in value)
        case None:
            return _plain("null")
        case bool():
            return _plain(str(value).lower())
        case int() | float() if math.isfinite(value):
            return _plain(repr(value))
        case str():
            return _quoted(value)
    raise ScenarioError(f"{value!r} has no YAML form: options take texts, numbers, true, false, lists and mappings")


def _plain(text: str) -> yaml.Node:
    return yaml.ScalarNode("tag:yaml.org,2002:str", text)


def _quoted(text: str) -> yaml.Node:
    return yaml.ScalarNode("tag:yaml.org,2002:str", text, style='"')


def _list(nodes: Iterable[yaml.Node]) -> yaml.Node:
    return yaml.SequenceNode("tag:yaml.org,2002:seq", list(nodes), flow_style=False)


def _mapping(nodes: Mapping[str, yaml.Node]) -> yaml.Node:
    return _pairs((_plain(name), node) for name, node in nodes.items())


def _pairs(pairs: Iterable[tuple[yaml.Node, yaml.Node]]) -> yaml.Node:
    listed = list(pairs)
    return yaml.MappingNode("tag:yaml.org,2002:map", listed, flow_style=not listed)
