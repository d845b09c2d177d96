"""``${NAME}`` in options: variables of the environment, whose values are secrets. ``$${`` is a plain ``${``.

A ``${`` that begins no variable is refused, so that it is never sent as it stands by mistake.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from voiceharness.errors import OptionError
from voiceharness.registry.settings import parse_settings
from voiceharness.report.redaction import Secret

__all__ = ["check_variables", "expand_options"]

if TYPE_CHECKING:
    from collections.abc import Iterator

_VARIABLE: Final = re.compile(r"\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}|(\$\{[^}]*\}?)")


def expand_options(options: Mapping[str, object], environment: Mapping[str, str], adapter: str) -> dict[str, object]:
    """Return options of an adapter with the values of the variables that they name.

    An option that is a variable alone is read as the type that the adapter declares, as with ``--set``.

    Raises:
        OptionError: if a variable is not set, or is not written as one.
    """
    return dict(_expanded(options, environment, adapter))


def check_variables(options: Mapping[str, object]) -> None:
    """Refuse what is not written as a variable, whatever is set in the environment.

    Raises:
        OptionError: if there is such a text.
    """
    _value(options, None)


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


def _value(value: Any, environment: Mapping[str, str] | None) -> object:  # Any: what YAML held
    match value:
        case str():
            return _text(value, environment)
        case Mapping():
            return {name: _value(each, environment) for name, each in value.items()}
        case list():
            return [_value(each, environment) for each in value]
    held: object = value
    return held


def _text(text: str, environment: Mapping[str, str] | None) -> str:
    secret: list[str] = []

    def of_variable(found: re.Match[str]) -> str:
        name, malformed = found[1], found[2]
        if malformed is not None:
            raise OptionError(
                f"{malformed!r} is no variable: its name has letters, digits and _ alone; a plain ${{ is written $${{"
            )
        if name is None:
            return "${"
        if environment is None:
            return found[0]
        if name not in environment:
            raise OptionError(f"the variable {name} is not set in the environment")
        secret.append(environment[name])
        return environment[name]

    expanded = _VARIABLE.sub(of_variable, text)
    return Secret(expanded, secret) if secret else expanded
