"""Find what packages offer by name.

A package offers an adapter class under the entry-point group ``voiceharness.adapters`` and a host (an async context
manager that serves a :class:`PhoneAgent` and yields the options with which the adapter reaches it) under
``voiceharness.hosts``; one whose agent calls the adapter instead, for an adapter that can be dialled, goes under
``voiceharness.diallers``. Attacks on the agents of a transport are an :class:`~voiceharness.audit.Audit` under
``voiceharness.audits``. Ours come in by the same door. Listing reads metadata and imports nothing.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, Final

from voiceharness.adapter import VoiceAgentAdapter
from voiceharness.audit import Audit
from voiceharness.errors import AdapterDefinitionError, UnknownAdapterError, VoiceHarnessError

if TYPE_CHECKING:
    from voiceharness.agent import Host

__all__ = ["ADAPTERS", "AUDITS", "DIALLERS", "HOSTS", "Plugin", "load_adapter", "load_audit", "load_host", "plugins"]

ADAPTERS: Final = "voiceharness.adapters"
HOSTS: Final = "voiceharness.hosts"
DIALLERS: Final = "voiceharness.diallers"
AUDITS: Final = "voiceharness.audits"

KINDS: Final = {ADAPTERS: "adapter", HOSTS: "host", DIALLERS: "dialler", AUDITS: "audit"}


@dataclass(frozen=True, slots=True, order=True)
class Plugin:
    """What a package offers: ``target`` is ``package.module:name``, ``source`` the distribution and its version."""

    name: str
    target: str
    source: str


def plugins(group: str = ADAPTERS) -> tuple[Plugin, ...]:
    """List what is installed, by name; nothing is imported, so a broken one is listed too."""
    return tuple(sorted({_plugin(entry) for entry in entry_points(group=group)}))


def load_adapter(name: str) -> type[VoiceAgentAdapter]:
    """Return the adapter class of a name.

    Raises:
        UnknownAdapterError: if no installed package offers it; tells which there are.
        AdapterDefinitionError: if it cannot be imported, is no adapter, or two packages offer the name.
    """
    plugin, loaded = _loaded(ADAPTERS, name)
    if not (inspect.isclass(loaded) and issubclass(loaded, VoiceAgentAdapter)):
        raise AdapterDefinitionError(f"adapter {name!r} of {plugin.source} is no adapter class: {plugin.target}")
    return loaded


def load_host(name: str, *, group: str = HOSTS) -> Host:
    """Return the host that serves agents to the adapter of a name; errors are those of ``load_adapter``.

    With ``group=DIALLERS`` it is the one whose agents call the adapter.
    """
    host: Host = _loaded(group, name)[1]
    return host


def load_audit(name: str) -> Audit:
    """Return the attacks on the agents of a transport; errors are those of ``load_adapter``."""
    plugin, loaded = _loaded(AUDITS, name)
    if not isinstance(loaded, Audit):
        raise AdapterDefinitionError(f"audit {name!r} of {plugin.source} is no Audit: {plugin.target}")
    return loaded


def _plugin(entry: EntryPoint) -> Plugin:
    source = f"{entry.dist.name} {entry.dist.version}" if entry.dist else "an unknown package"
    return Plugin(entry.name, entry.value, source)


def _loaded(group: str, name: str) -> tuple[Plugin, Any]:  # Any: whatever the entry point names
    kind = KINDS[group]
    found = {_plugin(entry): entry for entry in entry_points(group=group, name=name)}
    if not found:
        known = list(dict.fromkeys(plugin.name for plugin in plugins(group)))
        near = get_close_matches(name, known, n=1)
        meant = f"did you mean {near[0]!r}? " if near else ""
        raise UnknownAdapterError(f"there is no {kind} {name!r}; {meant}installed are: {', '.join(known) or 'none'}")
    if len(found) > 1:
        sources = " and ".join(f"{plugin.source} ({plugin.target})" for plugin in sorted(found))
        raise AdapterDefinitionError(f"the {kind} name {name!r} is offered twice, by {sources}; uninstall one of them")
    plugin, entry = found.popitem()
    try:
        return plugin, entry.load()
    except VoiceHarnessError:
        raise
    except Exception as error:  # importing a stranger's module can raise anything
        raise AdapterDefinitionError(
            f"{kind} {name!r} of {plugin.source} cannot be loaded ({plugin.target}): {type(error).__name__}: {error}"
        ) from error
