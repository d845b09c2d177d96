"""``KEY=VALUE`` settings: text into the values that an adapter's options take."""

from __future__ import annotations

from types import UnionType
from typing import TYPE_CHECKING, Any, Final, Union, get_args, get_origin

from voiceharness.errors import OptionError
from voiceharness.registry.options import options_of
from voiceharness.registry.plugins import load_adapter

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["parse_settings"]

_FLAGS: Final[Mapping[str, bool]] = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def parse_settings(settings: Iterable[str], adapter: str) -> dict[str, object]:
    """Read settings as options of an adapter: each by the type that its option declares, else as text.

    Raises:
        OptionError: if a setting is not KEY=VALUE.
    """
    if not settings:
        return {}
    types = {option.name: _plain_types(option.type) for option in options_of(load_adapter(adapter))}
    values: dict[str, object] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals or not name:
            raise OptionError(f"a setting is KEY=VALUE, not {setting!r}")
        values[name] = _value(text, types.get(name, frozenset()))
    return values


def _plain_types(hint: Any) -> frozenset[Any]:  # Any: a type, or a form of typing
    if get_origin(hint) in (Union, UnionType):
        return frozenset().union(*map(_plain_types, get_args(hint)))
    return frozenset({hint})


def _value(text: str, types: frozenset[Any]) -> object:
    """Read text as the narrowest type that is declared; what does not fit is left for the adapter to refuse."""
    if bool in types and text.lower() in _FLAGS:
        return _FLAGS[text.lower()]
    for kind in (int, float):
        if kind in types:
            try:
                return kind(text)
            except ValueError:
                continue
    return None if type(None) in types and text.lower() in ("none", "null") else text
