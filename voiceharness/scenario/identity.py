"""What makes two calls comparable: fingerprints of a scenario, and of the audio that its user says.

Both are independent of the machine: of a sound file its content counts, and of its path only the last part. The seed
is not part of a scenario's fingerprint; it is told by itself.
"""

from __future__ import annotations

import hashlib
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from voiceharness.audio.chunk import AudioChunk

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voiceharness.scenario.preparation import Clip
    from voiceharness.scenario.scenario import Scenario

__all__ = ["audio_fingerprint", "scenario_fingerprint"]

_NOT_PLAYED: Final = frozenset({"name", "description", "tags", "seed", "adapter", "options"})
_LENGTH: Final = 16


def scenario_fingerprint(scenario: Scenario) -> str:
    """Return 16 hexadecimal digits that change with anything the user does or expects on the call."""
    described = _described(scenario, _NOT_PLAYED)
    return hashlib.sha256(described.encode("utf-8", "backslashreplace")).hexdigest()[:_LENGTH]


def audio_fingerprint(clips: Mapping[int, Clip]) -> str:
    """Return 16 hexadecimal digits that change with any sample that the user says, and with the step that says it."""
    digest = hashlib.sha256()
    for index, clip in sorted(clips.items()):
        digest.update(f"{index}:{len(clip.samples)}:".encode())
        digest.update(clip.samples.astype("<i2").tobytes())
    return digest.hexdigest()[:_LENGTH]


def _described(value: object, without: frozenset[str] = frozenset()) -> str:
    if isinstance(value, AudioChunk):
        return f"audio of {value.duration} s"
    if isinstance(value, tuple):
        return f"({', '.join(map(_described, value))})"
    if is_dataclass(value):
        known = (field.name for field in fields(value) if field.name not in without | {"place"})
        named = ", ".join(f"{name}={_field(name, getattr(value, name))}" for name in known)
        return f"{type(value).__name__}({named})"
    return repr(value)


def _field(name: str, value: object) -> str:
    return repr(Path(value).name) if name == "file" and isinstance(value, str) else _described(value)
