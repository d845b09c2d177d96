"""Adapters, hosts and agents by name, and adapters from plain options."""

from voiceharness.registry.options import REQUIRED, AdapterOption, create, load_agent, named_objects, options_of
from voiceharness.registry.plugins import (
    ADAPTERS,
    AUDITS,
    DIALLERS,
    HOSTS,
    Plugin,
    load_adapter,
    load_audit,
    load_host,
    plugins,
)

__all__ = [
    "ADAPTERS",
    "AUDITS",
    "DIALLERS",
    "HOSTS",
    "REQUIRED",
    "AdapterOption",
    "Plugin",
    "create",
    "load_adapter",
    "load_agent",
    "load_audit",
    "load_host",
    "named_objects",
    "options_of",
    "plugins",
]
