"""``${NAME}`` in options: variables of the environment, whose values are secrets. ``$${`` is a plain ``${``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from voiceharness.errors import OptionError
from voiceharness.registry.settings import parse_settings
from voiceharness.report.redaction import Secret

__all__ = ["expand_options"]

if TYPE_CHECKING:
    from collections.abc import Iterator

_VARIABLE: Final = re.compile(r"\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def expand_options(options: Mapping[str, object], environment: Mapping[str, str], adapter: str) -> dict[str, object]:
    """Return options of an adapter with the values of the variables that they name.

    An option that is a variable alone is read as the type that the adapter declares, as with ``--set``.

    Raises:
        OptionError: if a variable is not set.
    """
    return dict(_expanded(options, environment, adapter))


def _expanded(
    options: Mapping[str, object], environment: Mapping[str, str], adapter: str
) -> Iterator[tuple[str, object]]:
    for name, given in options.items():
        value = _value(given, environment)
        if isinstance(value, Secret):
            (read,) = parse_settings([f"{name}={value}"], adapter).values()
            yield name, value if isinstance(read, str) else read
        else:
            yield name, value


def _value(value: Any, environment: Mapping[str, str]) -> object:  # Any: what YAML held
    match value:
        case str():
            return _text(value, environment)
        case Mapping():
            return {name: _value(each, environment) for name, each in value.items()}
        case list():
            return [_value(each, environment) for each in value]
    held: object = value
    return held


def _text(text: str, environment: Mapping[str, str]) -> str:
    secret: list[str] = []

    def of_variable(found: re.Match[str]) -> str:
        name = found[1]
        if name is None:
            return "${"
        if name not in environment:
            raise OptionError(f"the variable {name} is not set in the environment")
        secret.append(environment[name])
        return environment[name]

    expanded = _VARIABLE.sub(of_variable, text)
    return Secret(expanded, secret) if secret else expanded
