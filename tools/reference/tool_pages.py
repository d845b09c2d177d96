"""What is typed: commands and the options of adapters."""

from __future__ import annotations

import importlib
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Union, get_args, get_origin

import click

from tools.reference.markup import fenced, page, prose, table
from voiceharness.cli.app import app
from voiceharness.registry import REQUIRED, options_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from voiceharness.adapter import VoiceAgentAdapter
    from voiceharness.registry import AdapterOption

__all__ = ["adapters_page", "cli_page"]

ABOUT_ADAPTERS: Final = """
The adapters that come with the package. `voiceharness adapters` lists all that are installed, `voiceharness adapters
show NAME` tells of one. What is declared for the class can be narrowed by the options of a call.
"""
PROJECT: Final = Path(__file__).parents[2] / "pyproject.toml"


def cli_page() -> str:
    """Tell of the commands."""
    parts = [prose(app.help), "Every command takes `-h` and `--help`."]
    for name, command in _commands(app, "voiceharness"):
        parts += [f"## `{name}`", fenced("text", _usage(name, command)), prose(command.help)]
        rows = [_command_option(each) for each in command.params if isinstance(each, click.Option)]
        parts += [table(("option", "meaning"), rows)] if rows else []
    return page("Command line", *parts, "The [exit codes](exit-codes.md) are the same for all.")


def _commands(group: click.Group, before: str) -> Iterator[tuple[str, click.Command]]:
    for name, command in sorted(group.commands.items()):
        yield f"{before} {name}", command
        if isinstance(command, click.Group):
            yield from _commands(command, f"{before} {name}")


def _usage(name: str, command: click.Command) -> str:
    arguments = [each for each in command.params if isinstance(each, click.Argument)]
    shown = [f"{(each.name or '').upper()}{'...' if each.nargs == -1 else ''}" for each in arguments]
    return " ".join([name, "[OPTIONS]", *shown])


def _command_option(option: click.Option) -> tuple[str, str]:
    names = ", ".join(option.opts) + "".join(f" / {name}" for name in option.secondary_opts)
    value = "" if option.is_flag else f" {option.metavar or _value_name(option.type)}"
    default = f" Default: `{option.default}`." if option.show_default else ""
    return f"`{names}{value}`", f"{option.help}{default}"


def _value_name(kind: click.ParamType[Any]) -> str:  # Any: whatever it reads
    if isinstance(kind, click.Path):
        return "FILE" if kind.file_okay else "FOLDER"
    if isinstance(kind, click.Choice):
        return "|".join(map(str, kind.choices))
    return "NUMBER" if kind.name.partition(" ")[0] in ("integer", "float") else kind.name.upper()


def adapters_page() -> str:
    """Tell of the options and capabilities of the adapters that come with the package."""
    offered = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["entry-points"]
    parts = [prose(ABOUT_ADAPTERS)]
    for name, target in sorted(offered["voiceharness.adapters"].items()):
        module, _, attribute = target.partition(":")
        adapter = getattr(importlib.import_module(module), attribute)
        parts += _adapter(name, adapter, hosted=name in offered["voiceharness.hosts"])
    return page("Adapters", *parts)


def _adapter(name: str, adapter: type[VoiceAgentAdapter], *, hosted: bool) -> list[str]:
    can, timing = adapter.capabilities, adapter.timing
    abilities = [(f"`{each.name}`", _ability(getattr(can, each.name))) for each in fields(can)]
    abilities += [("serves an agent (`--agent`)", _ability(hosted))]
    abilities += [("timing", f"paced by the {timing.paced_by}, playout {timing.playout}")]
    options = [(f"`{each.name}`", _kind(each), _default(each.default), _help(each)) for each in options_of(adapter)]
    return [
        f"## `{name}`",
        prose(adapter.__doc__),
        table(("capability", "at most"), abilities),
        table(("option", "takes", "default", "meaning"), options),
    ]


def _ability(value: object) -> str:
    if isinstance(value, frozenset):
        return ", ".join(f"`{each}`" for each in sorted(value)) or "none"
    return "yes" if value else "no"


def _help(option: AdapterOption) -> str:
    return prose(option.help).replace("<", "\\<")  # not HTML


def _kind(option: AdapterOption) -> str:
    return _type_name(option.type) + (f", {option.unit}" if option.unit else "")


def _type_name(hint: Any) -> str:  # Any: a type, or a form of typing
    if get_origin(hint) is Union or isinstance(hint, type(int | str)):
        return " or ".join(_type_name(part) for part in get_args(hint))
    if get_origin(hint) is Literal:
        return " or ".join(f"`{choice}`" for choice in get_args(hint))
    return "none" if hint is type(None) else str(getattr(hint, "__name__", hint)).rpartition(".")[2]


def _default(value: object) -> str:
    if value is REQUIRED:
        return "required"
    return "none" if value is None else "empty" if value == "" else f"`{value}`"
