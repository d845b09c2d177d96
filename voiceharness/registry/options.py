"""Make adapters of plain options: the typed parameters of ``__init__``, checked before anything is dialled.

What is not a plain value (an agent, a function, a speech engine) may be given as ``package.module:name``.
"""

from __future__ import annotations

import importlib
import inspect
from dataclasses import dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from voiceharness.adapter import Option, VoiceAgentAdapter
from voiceharness.agent import PhoneAgent
from voiceharness.errors import OptionError
from voiceharness.registry.plugins import load_adapter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = ["REQUIRED", "AdapterOption", "create", "load_agent", "make_agent", "named_objects", "options_of"]

REQUIRED: Final = inspect.Parameter.empty
"""Stands for the default of an option that has none."""

_APPLICATION: Final = (
    "looks like an ASGI application, and is no PhoneAgent; call it as one: "
    "--adapter twilio --set url=https://agent.example/voice --set app={}"
)

UNNAMED: Final = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass(frozen=True, slots=True)
class AdapterOption:
    """One option of an adapter. ``default`` is ``REQUIRED`` where there is none; ``type`` is what a value must be."""

    name: str
    type: Any  # Any: a type, or a form of typing
    default: object
    help: str
    unit: str


def options_of(adapter: type[VoiceAgentAdapter]) -> tuple[AdapterOption, ...]:
    """Return the options of an adapter class: the named parameters that its ``__init__`` declares."""
    hints = get_type_hints(adapter.__init__, include_extras=True)
    parameters = inspect.signature(adapter).parameters.values()
    named = [parameter for parameter in parameters if parameter.kind not in UNNAMED]
    return tuple(_option(parameter, hints.get(parameter.name, Any)) for parameter in named)


def create(name: str, options: Mapping[str, object]) -> VoiceAgentAdapter:
    """Make an adapter from options, as YAML or a command line gives them.

    Raises:
        OptionError: if an option is unknown, missing, or of a wrong type.
        UnknownAdapterError, AdapterDefinitionError: as ``load_adapter``.
    """
    adapter = load_adapter(name)
    refuse_unknown_options(name, options)
    known = {option.name: option for option in options_of(adapter)}
    for option in known.values():
        if option.default is REQUIRED and option.name not in options:
            raise OptionError(f"adapter {name!r} needs the option {option.name!r}: {option.help}")
    where = f"adapter {name!r}: option"
    return adapter(**{key: _checked(f"{where} {key!r}", known[key].type, value) for key, value in options.items()})


def refuse_unknown_options(name: str, options: Iterable[str]) -> None:
    """Refuse options that an adapter does not have.

    Raises:
        OptionError: with those that it has.
        UnknownAdapterError, AdapterDefinitionError: as ``load_adapter``.
    """
    known = [option.name for option in options_of(load_adapter(name))]
    for given in options:
        if given not in known:
            raise OptionError(f"adapter {name!r} has no option {given!r}; it has: {', '.join(known) or 'none'}")


def named_objects(name: str, options: Mapping[str, object]) -> dict[str, str]:
    """Return those of an adapter's options that name a Python object, each with its ``package.module:name``.

    Raises:
        UnknownAdapterError, AdapterDefinitionError: as ``load_adapter``.
    """
    types = {option.name: option.type for option in options_of(load_adapter(name))}
    return {
        key: value
        for key, value in options.items()
        if key in types and isinstance(value, str) and _names_object(types[key], value)
    }


def load_agent(spec: str) -> PhoneAgent:
    """Return the agent that ``package.module:name`` names: an agent, or a class or function that makes one.

    Raises:
        OptionError: if it cannot be imported, or is none of these.
    """
    agent: PhoneAgent = _object("agent", spec, PhoneAgent)
    return agent


def make_agent(given: PhoneAgent | Callable[[], PhoneAgent]) -> PhoneAgent:
    """Return an agent, or the one that a class or function makes.

    Raises:
        OptionError: if it makes none.
    """
    if not isinstance(given, PhoneAgent) and _is_application(given):
        raise OptionError(f"agent {given!r} {_APPLICATION.format('MODULE:NAME')}")
    made = given if isinstance(given, PhoneAgent) else given()
    if not isinstance(made, PhoneAgent):
        raise OptionError(f"{given!r} makes no PhoneAgent, but {type(made).__name__}")
    return made


def _option(parameter: inspect.Parameter, hint: Any) -> AdapterOption:
    kind, *notes = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    note = next((note for note in notes if isinstance(note, Option)), Option(""))
    return AdapterOption(parameter.name, kind, parameter.default, note.help, note.unit)


def _checked(where: str, wanted: Any, value: object) -> object:
    if _accepts(wanted, value):
        return Path(value) if isinstance(value, str) and wanted is Path else value
    if isinstance(value, str) and _names_object(wanted, value):
        return _object(where, value, wanted)
    raise OptionError(f"{where} must be {_described(wanted)}, not {value!r}")


def _names_object(wanted: Any, text: str) -> bool:
    return ":" in text and not _accepts(wanted, text)


def _accepts(wanted: Any, value: object) -> bool:
    origin = get_origin(wanted)
    if origin in (Union, UnionType):
        return any(_accepts(one, value) for one in get_args(wanted))
    if origin is Literal:
        return value in get_args(wanted)
    if wanted is Any or wanted is None:
        return wanted is Any or value is None
    if isinstance(value, bool):
        return wanted is bool
    accepted = {float: (int, float), Path: (str, Path)}.get(wanted, origin or wanted)
    return isinstance(value, accepted)


def _object(where: str, spec: str, wanted: Any) -> Any:
    module, _, name = spec.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
        if not _accepts(wanted, found) and callable(found):
            if _is_application(found):
                raise OptionError(f"{where} {spec!r} {_APPLICATION.format(spec)}")
            found = found()
    except OptionError:
        raise
    except Exception as error:  # importing a stranger's module can raise anything
        raise OptionError(f"{where} {spec!r} cannot be loaded: {type(error).__name__}: {error}") from error
    if not _accepts(wanted, found):
        raise OptionError(f"{where} {spec!r} must be {_described(wanted)}, but is {type(found).__name__}")
    return found


def _is_application(found: Callable[..., object]) -> bool:
    try:
        return list(inspect.signature(found).parameters) == ["scope", "receive", "send"]
    except (TypeError, ValueError):  # written in C
        return False


def _described(wanted: Any) -> str:
    if get_origin(wanted) in (Union, UnionType):
        return " or ".join(_described(one) for one in get_args(wanted))
    if get_origin(wanted) is Literal:
        return " or ".join(map(repr, get_args(wanted)))
    if wanted in (None, NoneType):
        return "nothing"
    return str(getattr(wanted, "__name__", wanted)).removeprefix("typing.")
