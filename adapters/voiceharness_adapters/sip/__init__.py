"""SIP: call an agent's SIP address, or be called by it. Loads nothing by itself; the worker process stays small."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voiceharness_adapters.sip.adapter import Sip
    from voiceharness_adapters.sip.dialling import dialler
    from voiceharness_adapters.sip.endpoint import SipEndpoint
    from voiceharness_adapters.sip.hosting import host
    from voiceharness_adapters.sip.settings import SipSettings

__all__ = ["Sip", "SipEndpoint", "SipSettings", "dialler", "host"]

# No module may have the name of something it offers: importing it would put it in that thing's place.
_HOMES: Final[Mapping[str, str]] = {
    "Sip": "adapter",
    "SipEndpoint": "endpoint",
    "SipSettings": "settings",
    "dialler": "dialling",
    "host": "hosting",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
