"""What a field of a scenario value may hold: checked when the value is made, read from and written to YAML.

A field's annotation names its kind (``within: Seconds | None``), so that the dataclasses are the one description of a
scenario: Python, YAML and the JSON schema for editors follow from them. An annotation without a kind (a trigger, an
audio chunk) is checked by its class alone.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from functools import cache, reduce
from operator import or_
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    Literal,
    TypeAlias,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from voiceharness.errors import ScenarioError
from voiceharness.scenario import units

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

__all__ = [
    "CHECKED",
    "Count",
    "Decibels",
    "Digits",
    "Field",
    "FileName",
    "Hertz",
    "Kind",
    "Milliseconds",
    "PositiveNumber",
    "PositiveSeconds",
    "Probability",
    "Seconds",
    "Text",
    "check_fields",
    "fields_of",
    "keep_tuples",
    "keeps_place",
    "parse_whole",
    "require_one",
]

CHECKED: Final = "checked"
"""Key of a dataclass field's metadata: False for a field that is no part of what the user writes."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of scalar: which values it takes, and how they are written.

    ``name`` is stable. ``wanted`` completes "takes ...", and so does ``in_python`` where Python writes it otherwise.
    ``quotes`` says how it stands in YAML: digits always in quotes, because other readers would take them for a number;
    true, false and bare numbers never.
    """

    name: str
    wanted: str
    accepts: Callable[[Any], bool]  # Any: it is asked about whatever the user wrote
    parse: Callable[[str], object]
    format: Callable[[Any], str]  # Any: only ever given what it accepts
    quotes: Literal["always", "never", "either"] = "either"
    choices: tuple[str, ...] = ()
    in_python: str = ""


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def parse_whole(text: str) -> int:
    """Read a whole number of at most 18 digits.

    Raises:
        ScenarioError: if it is none.
    """
    if re.fullmatch(r"[0-9]{1,18}", text) is None:
        raise ScenarioError(f"{text!r} is not a whole number")
    return int(text)


def _parse_flag(text: str) -> bool:
    if text not in ("true", "false"):
        raise ScenarioError(f"{text!r} is neither true nor false")
    return text == "true"


_KEYPAD: Final = re.compile(r"[0-9*#A-D]+")

Seconds: TypeAlias = Annotated[
    float,
    Kind(
        "seconds",
        "a duration such as 800ms or 1.2s",
        lambda value: _is_number(value) and value >= 0,
        units.parse_seconds,
        units.format_seconds,
        in_python="seconds, a number of at least 0",
    ),
]
PositiveSeconds: TypeAlias = Annotated[
    float,
    Kind(
        "positive_seconds",
        "a duration above zero such as 800ms or 1.2s",
        lambda value: _is_number(value) and value > 0,
        units.parse_seconds,
        units.format_seconds,
        in_python="seconds, a number above 0",
    ),
]
Milliseconds: TypeAlias = Annotated[
    int,
    Kind(
        "milliseconds",
        "whole milliseconds above zero such as 120ms",
        lambda value: _is_whole(value) and value > 0,
        units.parse_milliseconds,
        units.format_milliseconds,
        in_python="milliseconds, a whole number above 0",
    ),
]
PositiveNumber: TypeAlias = Annotated[
    float,
    Kind(
        "positive_number",
        "a number above zero",
        lambda value: _is_number(value) and value > 0,
        units.parse_number,
        units.format_number,
        quotes="never",
    ),
]
Probability: TypeAlias = Annotated[
    float,
    Kind(
        "probability",
        "a probability from 0 to 1, such as 0.05 or 5%",
        lambda value: _is_number(value) and 0 <= value <= 1,
        units.parse_share,
        units.format_number,
        quotes="never",
        in_python="a probability from 0 to 1",
    ),
]
Decibels: TypeAlias = Annotated[
    float, Kind("decibels", "a level such as 20dB or -25dB", _is_number, units.parse_decibels, units.format_decibels)
]
Hertz: TypeAlias = Annotated[
    float,
    Kind(
        "hertz",
        "a frequency such as 440Hz or 1.2kHz",
        lambda value: _is_number(value) and value > 0,
        units.parse_hertz,
        units.format_hertz,
        in_python="hertz, a number above 0",
    ),
]
Count: TypeAlias = Annotated[
    int,
    Kind(
        "count",
        "a whole number of at least 0",
        lambda value: _is_whole(value) and value >= 0,
        parse_whole,
        str,
        quotes="never",
    ),
]
Text: TypeAlias = Annotated[
    str, Kind("text", "text", lambda value: isinstance(value, str) and bool(value.strip()), str, str)
]
FileName: TypeAlias = Annotated[
    str, Kind("file", "the name of a file", lambda value: isinstance(value, str) and bool(value.strip()), str, str)
]
Digits: TypeAlias = Annotated[
    str,
    Kind(
        "digits",
        'keypad digits (0-9, *, #, A-D) in quotes, such as "12#"',
        lambda value: isinstance(value, str) and _KEYPAD.fullmatch(value) is not None,
        str,
        str,
        quotes="always",
        in_python='keypad digits as text, such as "12#"',
    ),
]

_FLAG: Final = Kind(
    "flag",
    "true or false",
    lambda value: isinstance(value, bool),
    _parse_flag,
    lambda value: str(value).lower(),
    quotes="never",
)


@dataclass(frozen=True, slots=True)
class Field:
    """One field that the user may write. ``kind`` None: an instance of ``hint``; ``many``: a sequence of them.

    ``default`` is ``MISSING`` for a required field.
    """

    name: str
    kind: Kind | None
    hint: Any  # Any: a type expression, for which there is no static type
    default: object
    many: bool = False

    @property
    def required(self) -> bool:
        """Whether it must be given."""
        return self.default is MISSING


def fields_of(cls: type[Any]) -> Mapping[str, Field]:  # Any: of any dataclass
    """Describe the fields of a dataclass that the user may write, in their order."""
    return _fields_of(cast("Hashable", cls))  # mypy does not see that a class is hashable


@cache
def _fields_of(cls: Any) -> Mapping[str, Field]:  # Any: as above
    hints = get_type_hints(cls, include_extras=True)
    return {
        each.name: _describe(each.name, hints[each.name], _default_of(each))
        for each in fields(cls)
        if each.init and each.metadata.get(CHECKED, True)
    }


def keeps_place(cls: type[Any]) -> bool:  # Any: of any dataclass
    """Say whether instances of a dataclass remember where in a file they stand."""
    return any(each.name == "place" for each in fields(cls))


def check_fields(value: object, what: str) -> None:
    """Check every field of a dataclass instance against its kind.

    Raises:
        ScenarioError: naming the first field that holds something else.
    """
    for field in fields_of(type(value)).values():
        held = getattr(value, field.name)
        if held is None and not field.required:
            continue
        for each in held if field.many else (held,):
            _check(field, each, what)


def keep_tuples(value: object, what: str) -> None:
    """Turn the sequences that a frozen dataclass instance was made with into tuples.

    Raises:
        ScenarioError: if something else was given.
    """
    for field in fields_of(type(value)).values():
        if field.many:
            held = getattr(value, field.name)
            if not isinstance(held, Sequence) or isinstance(held, str | bytes):
                raise ScenarioError(f"{what}: {field.name} takes a list, not {held!r}")
            object.__setattr__(value, field.name, tuple(held))


def require_one(value: object, what: str, *names: str) -> None:
    """Check that exactly one of some fields is given.

    Raises:
        ScenarioError: if none is, or several are.
    """
    given = [name for name in names if getattr(value, name) is not None]
    if len(given) != 1:
        found = "none is given" if not given else f"{' and '.join(given)} are given"
        raise ScenarioError(f"{what} takes exactly one of {', '.join(names)}; {found}")


def _check(field: Field, held: object, what: str) -> None:
    if field.kind is not None:
        if not field.kind.accepts(held):
            raise ScenarioError(f"{what}: {field.name} takes {field.kind.in_python or field.kind.wanted}, not {held!r}")
    elif not isinstance(held, field.hint):
        raise ScenarioError(f"{what}: {field.name} takes {_class_names(field.hint)}, not {held!r}")


def _default_of(field: dataclasses.Field[Any]) -> object:  # Any: of any type
    return field.default if field.default_factory is MISSING else field.default_factory()


def _describe(name: str, hint: Any, default: object) -> Field:  # Any: a type expression
    hint = _without_none(hint)
    many = get_origin(hint) is Sequence
    if many:
        hint = get_args(hint)[0]
    elif get_origin(hint) is Mapping:
        hint = Mapping
    return Field(name, _kind_of(hint), hint, default, many)


def _without_none(hint: Any) -> Any:
    if get_origin(hint) is Annotated or type(None) not in get_args(hint):
        return hint
    return reduce(or_, (arg for arg in get_args(hint) if arg is not type(None)))


def _kind_of(hint: Any) -> Kind | None:
    if get_origin(hint) is Annotated:
        return next(extra for extra in hint.__metadata__ if isinstance(extra, Kind))
    if hint is bool:
        return _FLAG
    choices = _choices(hint)
    if choices:
        return Kind("choice", " or ".join(choices), lambda value: value in choices, str, str, choices=choices)
    return None


def _choices(hint: Any) -> tuple[str, ...]:
    """Names that a Literal, or a union of Literals, allows."""
    if get_origin(hint) is Literal:
        return get_args(hint)
    parts = get_args(hint)
    if parts and all(get_origin(part) is Literal for part in parts):
        return tuple(name for part in parts for name in get_args(part))
    return ()


def _class_names(hint: Any) -> str:
    return " or ".join(cls.__name__ for cls in get_args(hint) or (hint,))
