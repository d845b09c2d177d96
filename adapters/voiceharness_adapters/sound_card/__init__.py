"""Sound card: talk to any agent through the computer's audio. Loads nothing by itself."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voiceharness_adapters.sound_card.adapter import SoundCard
    from voiceharness_adapters.sound_card.cables import Cables
    from voiceharness_adapters.sound_card.host import host

__all__ = ["Cables", "SoundCard", "host"]

_HOMES: Final[Mapping[str, str]] = {"Cables": "cables", "SoundCard": "adapter", "host": "host"}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = found  # the function ``host`` goes before the module of that name
    return found
