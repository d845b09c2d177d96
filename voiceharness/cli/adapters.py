"""``voiceharness adapters``: what is installed, and what each can do."""

from __future__ import annotations

import inspect
import re
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from types import UnionType
from typing import TYPE_CHECKING, Any, Final, Literal, Union, get_args, get_origin

from voiceharness.cli.output import tell, tell_json
from voiceharness.errors import VoiceHarnessError
from voiceharness.registry import HOSTS, REQUIRED, load_adapter, options_of, plugins
from voiceharness.report.serialization import plain

if TYPE_CHECKING:
    from voiceharness.adapter import VoiceAgentAdapter
    from voiceharness.capabilities import AdapterCapabilities
    from voiceharness.registry import AdapterOption, Plugin

__all__ = ["Need", "describe_adapter", "lacking", "list_adapters", "needs_of"]

_OF_EXTRA: Final = re.compile(r"(?P<wanted>(?P<name>[\w.-]+).*?);?(?: and)? extra == ['\"](?P<extra>[\w-]+)['\"]$")


def list_adapters(*, as_json: bool) -> int:
    """List the installed adapters, broken ones with what is wrong with them."""
    entries = [_entry(plugin.name, plugin.source) for plugin in plugins()]
    if as_json:
        tell_json({"format": "voiceharness-adapters/1", "adapters": entries})
    else:
        tell("\n".join(f"{entry['name']:<20} {entry['about']}  [{entry['source']}]" for entry in entries))
    return 0


def describe_adapter(*, name: str, as_json: bool) -> int:
    """Tell the options and capabilities of one adapter."""
    adapter = load_adapter(name)
    options = [_option(option) for option in options_of(adapter)]
    hosted = name in {plugin.name for plugin in plugins(HOSTS)}
    (plugin,) = (plugin for plugin in plugins() if plugin.name == name)
    needs = needs_of(adapter, plugin)
    capabilities = asdict(adapter.capabilities)
    if as_json:
        facts = {"name": name, "about": _about(adapter), "source": plugin.source, "hosts_agents": hosted}
        facts["needs"] = plain(needs)
        details = {"options": options, "capabilities": plain(capabilities), "timing": plain(adapter.timing)}
        tell_json({"format": "voiceharness-adapter/1", **facts, **details})
        return 0
    lines = [f"{name}: {_about(adapter)}", "", "options (--set KEY=VALUE):"]
    lines += [f"  {_option_line(option)}" for option in options]
    lines += ["", "capabilities:", *(f"  {line}" for line in _capability_lines(adapter.capabilities))]
    lines += [f"  timing: paced by the {adapter.timing.paced_by}, playout {adapter.timing.playout}"]
    lines += ["", f"comes with {plugin.source}", *_need_lines(adapter, plugin, needs)]
    lines += ["", f"serves an agent (--agent MODULE:NAME): {'yes' if hosted else 'no'}"]
    tell("\n".join(lines))
    return 0


@dataclass(frozen=True, slots=True)
class Need:
    """A package that an adapter needs beside its own; ``version`` is the installed one, None where it is missing."""

    requirement: str
    version: str | None


def needs_of(adapter: type[VoiceAgentAdapter], plugin: Plugin) -> tuple[Need, ...]:
    """Return what the extra of an adapter brings, as its distribution's metadata say."""
    try:
        listed = requires(plugin.source.rpartition(" ")[0]) or []
    except PackageNotFoundError:
        return ()
    found = (_OF_EXTRA.match(requirement) for requirement in listed)
    return tuple(
        Need(match["wanted"].strip(), _version(match["name"]))
        for match in found
        if match and adapter.extra and match["extra"] == adapter.extra
    )


def lacking(needs: tuple[Need, ...]) -> tuple[str, ...]:
    """Return the requirements that are missing. Those with a condition stand for each other: one of them is enough."""
    always = [need for need in needs if ";" not in need.requirement]
    either = [need for need in needs if ";" in need.requirement]
    missing = [*always, *(either if all(need.version is None for need in either) else ())]
    return tuple(need.requirement.partition(";")[0] for need in missing if need.version is None)


def _need_lines(adapter: type[VoiceAgentAdapter], plugin: Plugin, needs: tuple[Need, ...]) -> list[str]:
    if not adapter.extra:
        return ["needs nothing else installed"]
    install = f'pip install "{plugin.source.rpartition(" ")[0]}[{adapter.extra}]"'
    states = (f"  {need.requirement}: {f'installed, {need.version}' if need.version else 'missing'}" for need in needs)
    return [f"needs the extra {adapter.extra} ({install}):", *states]


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _entry(name: str, source: str) -> dict[str, Any]:  # Any: JSON
    try:
        return {"name": name, "source": source, "about": _about(load_adapter(name)), "broken": False}
    except VoiceHarnessError as error:
        return {"name": name, "source": source, "about": str(error), "broken": True}


def _about(adapter: type[VoiceAgentAdapter]) -> str:
    first_line = (inspect.getdoc(adapter) or "").partition("\n")[0]
    return re.sub(r"(?::\w+:)?(`+)~?([^`]+)\1", r"\2", first_line)  # the mark-up of names


def _option(option: AdapterOption) -> dict[str, Any]:  # Any: JSON
    required = option.default is REQUIRED
    return {
        "name": option.name,
        "type": _type_name(option.type),
        "unit": option.unit,
        "required": required,
        "default": None if required else _default(option.default),
        "help": option.help,
    }


def _default(value: object) -> Any:  # Any: JSON
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _type_name(hint: Any) -> str:  # Any: a type, or a form of typing
    if get_origin(hint) in (Union, UnionType):
        return " or ".join(_type_name(part) for part in get_args(hint))
    if get_origin(hint) is Literal:
        return " or ".join(repr(choice) for choice in get_args(hint))
    if hint is type(None):
        return "none"
    return str(getattr(hint, "__name__", hint))


def _option_line(option: dict[str, Any]) -> str:  # Any: JSON
    unit = f", {option['unit']}" if option["unit"] else ""
    default = "required" if option["required"] else f"default {option['default']}"
    return f"{option['name']} ({option['type']}{unit}; {default}): {option['help']}"


def _capability_lines(capabilities: AdapterCapabilities) -> list[str]:
    return [f"{name}: {_capability(value)}" for name, value in asdict(capabilities).items()]


def _capability(value: object) -> str:
    if isinstance(value, frozenset):
        return ", ".join(map(str, sorted(value))) or "none"
    return "yes" if value else "no"
