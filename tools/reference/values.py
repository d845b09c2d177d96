"""Scenario values as a reader of the reference sees them: their fields, and examples in YAML and in Python."""

from __future__ import annotations

import json
from dataclasses import MISSING, Field, fields
from typing import TYPE_CHECKING, Any

from tools.reference.markup import fenced, table
from voiceharness import AudioChunk, LineProfile, Scenario, dump_scenario
from voiceharness.measure.finding import FINDING_KINDS
from voiceharness.scenario.fields import fields_of
from voiceharness.scenario.steps import AnyStep
from voiceharness.scenario.triggers import AfterSeconds, AfterText, AfterWords, AtRandom, AtTime, Trigger

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voiceharness.scenario import fields as scenario_fields

__all__ = ["examples_of", "field_table", "python_of"]


def field_table(cls: type[Any]) -> str:  # Any: of any dataclass
    """List the fields of a scenario value."""
    rows = [(f"`{name}`", _takes(field), _default(field)) for name, field in fields_of(cls).items()]
    return table(("field", "takes", "default"), rows) if rows else "It has no fields."


def examples_of(values: Sequence[object], scenario: Scenario, key: str) -> tuple[str, str]:
    """Show values in YAML, as the ``key`` of a scenario that holds them, and in Python."""
    return fenced("yaml", _yaml(scenario, key)), fenced("python", "\n".join(map(python_of, values)))


def python_of(value: object) -> str:
    """Write a value as one would in Python: without the fields that have their default."""
    match value:
        case str():
            return json.dumps(value, ensure_ascii=False)
        case tuple():
            return f"[{', '.join(map(python_of, value))}]"
        case AfterSeconds():
            return f"seconds({value.seconds:g})"
        case AfterWords():
            return f"words({value.words})"
        case AfterText():
            return f"said({json.dumps(value.said)})"
        case AtRandom():
            return f"at_random({value.earliest:g}, {value.latest:g})"
        case AtTime():
            return f"at_time({value.time:g})"
    if not hasattr(value, "__dataclass_fields__"):
        return repr(value)
    given = [f"{each.name}={python_of(getattr(value, each.name))}" for each in _given(value)]
    return f"{type(value).__name__}({', '.join(given)})"


def _given(value: Any) -> list[Field[Any]]:  # Any: any dataclass instance
    written = [each for each in fields(value) if each.init and each.name != "place"]
    return [each for each in written if getattr(value, each.name) != _default_of(each)]


def _default_of(field: Field[Any]) -> object:
    return field.default if field.default_factory is MISSING else field.default_factory()


def _yaml(scenario: Scenario, key: str) -> str:
    """Write one key of a scenario as its file has it."""
    lines = dump_scenario(scenario).splitlines()
    start = lines.index(f"{key}:")
    after = lines[start + 1 :]
    end = next((index for index, line in enumerate(after) if not line.startswith((" ", "-"))), len(after))
    return "\n".join([lines[start], *after[:end]])


def _takes(field: scenario_fields.Field) -> str:
    if field.kind is not None and field.kind.choices == FINDING_KINDS:
        return "a list of [kinds of findings](findings.md)"
    if field.kind is not None:
        choices = " or ".join(f"`{choice}`" for choice in field.kind.choices)
        return ("a list: " if field.many else "") + (choices or field.kind.wanted)
    if field.hint is AudioChunk:
        return "an `AudioChunk`; only in Python"
    if field.hint is LineProfile:
        return "a [line profile](line-profiles.md)"
    if field.hint == AnyStep:
        return "[steps](steps.md)"
    if field.hint in (Trigger, AfterSeconds | AfterWords | AfterText):
        return "a [trigger](triggers.md)" + ("" if field.hint == Trigger else ": seconds, words or said")
    return "options of the adapter, by name" if field.name == "options" else "[checks](checks.md), by name"


def _default(field: scenario_fields.Field) -> str:
    if field.required:
        return "required"
    if field.default is None or field.default in ((), {}):
        return "none"
    if field.kind is None:
        return "a clean line" if field.hint is LineProfile else f"`{field.default}`"
    return f"`{field.kind.format(field.default)}`"
