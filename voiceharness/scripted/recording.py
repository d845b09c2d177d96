"""What went over a realtime transport, as lines of JSON: saved, loaded, compared, replayed as a script.

One line for each call (``out``) and event (``in``), with the seconds since the recording began. Keys, tokens and
passwords are blotted out wherever they stand in a payload. Audio is kept as its length and hash, or with its bytes if
the recording was told to. Values that JSON does not know are kept as the name of their type.
"""

from __future__ import annotations

import base64
import dataclasses
import difflib
import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from voiceharness.clock import NS, LoopClock
from voiceharness.scripted.errors import ScriptValueError
from voiceharness.scripted.inbound import EVENT_TYPES, ConnectionChangeEvent, CustomEvent, RealtimeEvent

if TYPE_CHECKING:
    from pathlib import Path

    from voiceharness.scripted.calls import Method, RealtimeCall
    from voiceharness.scripted.run import ScenarioContext
    from voiceharness.scripted.transport import ScriptedRealtimeTransport

__all__ = ["Entry", "Recording", "diff", "encode_value", "replay"]

Direction: TypeAlias = Literal["out", "in"]

FORMAT = "voiceharness realtime recording 1"
SECRET = re.compile(r"(authorization|api[-_]?key|token|secret|password)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Entry:
    """One call or event; the payload is what its fields are in JSON."""

    at: float
    direction: Direction
    name: str
    payload: Mapping[str, Any]

    def to_json(self, *, with_time: bool = True) -> str:
        """Write it as one line."""
        place = {"at": round(self.at, 6)} if with_time else {}
        return json.dumps({**place, self.direction: self.name, "payload": self.payload}, sort_keys=True)


@dataclass(frozen=True, slots=True)
class Recording:
    """Entries in order."""

    entries: tuple[Entry, ...]

    def save(self, path: Path) -> None:
        """Write the recording to a file."""
        lines = [json.dumps({"format": FORMAT}), *(entry.to_json() for entry in self.entries)]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Recording:
        """Read a recording from a file.

        Raises:
            ScriptValueError: if a line cannot be read; the message says which.
        """
        entries: list[Entry] = []
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            try:
                data = json.loads(line)
                if number == 1:
                    if data["format"] != FORMAT:
                        raise ScriptValueError(f"{path}: the format is {data['format']!r}, not {FORMAT!r}")
                    continue
                direction: Direction = "out" if "out" in data else "in"
                entries.append(Entry(float(data["at"]), direction, data[direction], data["payload"]))
            except (json.JSONDecodeError, KeyError, TypeError) as error:
                raise ScriptValueError(f"{path}:{number}: this is no line of a recording; record it anew") from error
        return cls(tuple(entries))


def diff(before: Recording, after: Recording) -> str:
    """Compare two recordings, times aside; the empty text if they are alike."""
    old, new = ([entry.to_json(with_time=False) for entry in recording.entries] for recording in (before, after))
    return "\n".join(difflib.unified_diff(old, new, "before", "after", lineterm="", n=1))


def encode_value(value: Any, *, keep_audio: bool = False) -> Any:
    """Turn a value into JSON; bytes are kept as length and hash, and as base64 if ``keep_audio``."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (bytes, bytearray)):
        kept = {"base64": base64.b64encode(value).decode("ascii")} if keep_audio else {}
        return {"bytes": len(value), "sha256": hashlib.sha256(value).hexdigest(), **kept}
    if isinstance(value, Mapping):
        return {
            str(key): "(blotted out)" if SECRET.search(str(key)) else encode_value(item, keep_audio=keep_audio)
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [encode_value(item, keep_audio=keep_audio) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return encode_value(fields_of(value), keep_audio=keep_audio)
    return {"object": type(value).__name__}


def fields_of(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass instance by name."""
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}


def replay(
    recording: Recording, transport: ScriptedRealtimeTransport, *, strict: bool = True, ambient: Collection[Method] = ()
) -> Callable[[ScenarioContext], Awaitable[None]]:
    """Make a scenario of a recording, for ``transport.run_scenario``.

    Calls are expected as they were recorded: with their payload if ``strict``, else in method alone. An event comes as
    long after the entry before it as it did. ``ambient`` methods are left out. Audio that was not kept is replayed as
    zeros of its length.
    """
    entries = [entry for entry in recording.entries if entry.direction == "in" or entry.name not in ambient]

    async def scenario(script: ScenarioContext) -> None:
        before, called = 0.0, ""
        for entry in entries:
            if entry.direction == "out":
                called = entry.name
                await _expect(script, entry, strict=strict)
            else:
                await LoopClock().sleep_until_ns(LoopClock().now_ns() + round(max(0.0, entry.at - before) * NS))
                event = _event(entry)
                if not isinstance(event, ConnectionChangeEvent):
                    await script.emit(event)
                elif event.status == "disconnected" and called != "close":
                    transport.disconnect()
            before = entry.at

    return scenario


async def _expect(script: ScenarioContext, entry: Entry, *, strict: bool) -> None:
    def fits(call: RealtimeCall) -> bool:
        return not strict or payload_of(call) == _without_kept_audio(entry.payload)

    await script.expect_any_of((entry.name, fits))  # type: ignore[arg-type] # the name is checked when it is expected


def payload_of(call: RealtimeCall) -> dict[str, Any]:
    """Return a recorded call's payload in JSON, audio as length and hash."""
    fields = fields_of(call)
    return {name: encode_value(value) for name, value in fields.items() if name not in ("index", "at")}


def _without_kept_audio(value: Any) -> Any:
    if isinstance(value, Mapping):
        kept = {"base64"} if "sha256" in value else set()
        return {key: _without_kept_audio(item) for key, item in value.items() if key not in kept}
    return [_without_kept_audio(item) for item in value] if isinstance(value, list) else value


def _event(entry: Entry) -> RealtimeEvent:
    payload = {name: _decode(value) for name, value in entry.payload.items()}
    for kind in EVENT_TYPES:
        if kind.type == entry.name:
            return kind(**payload)
    return CustomEvent(type=entry.name, data=payload.get("data"))


def _decode(value: Any) -> Any:
    if isinstance(value, Mapping):
        if "sha256" in value:
            return base64.b64decode(value["base64"]) if "base64" in value else bytes(value["bytes"])
        return {key: _decode(item) for key, item in value.items()}
    return [_decode(item) for item in value] if isinstance(value, list) else value
