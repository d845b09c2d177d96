"""Adapters, hosts and agents by name, and adapters from plain options."""

from voiceharness.registry.options import REQUIRED, AdapterOption, create, load_agent, options_of
from voiceharness.registry.plugins import ADAPTERS, DIALLERS, HOSTS, Plugin, load_adapter, load_host, plugins

__all__ = [
    "ADAPTERS",
    "DIALLERS",
    "HOSTS",
    "REQUIRED",
    "AdapterOption",
    "Plugin",
    "create",
    "load_adapter",
    "load_agent",
    "load_host",
    "options_of",
    "plugins",
]
