"""Delays of device pairs that were measured without a call, each with its date: one JSON file of the user."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from voiceharness.clock import wall_time
from voiceharness.errors import DeviceError

__all__ = ["MeasuredDelay", "measured_delay", "remember_delay", "store_file"]


@dataclass(frozen=True, slots=True)
class MeasuredDelay:
    """What ``voiceharness devices test`` found: seconds from playing to capture, and the date in ISO 8601."""

    delay: float
    date: str


def store_file() -> Path:
    """Return where the delays are kept."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "voiceharness" / "devices.json"


def remember_delay(pair: str, delay: float, *, file: Path | None = None) -> MeasuredDelay:
    """Keep the delay of a pair of devices, with today's date."""
    file = file or store_file()
    measured = MeasuredDelay(delay, wall_time().date().isoformat())
    known = _read(file) | {pair: asdict(measured)}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(known, indent=1), encoding="utf-8")
    return measured


def measured_delay(pair: str, *, file: Path | None = None) -> MeasuredDelay | None:
    """Return the delay that was last measured for a pair of devices; None: never."""
    found = _read(file or store_file()).get(pair)
    return None if found is None else MeasuredDelay(float(found["delay"]), str(found["date"]))


def _read(file: Path) -> dict[str, dict[str, str | float]]:
    if not file.exists():
        return {}
    try:
        known: dict[str, dict[str, str | float]] = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise DeviceError(f"sound card: {file} is not what was stored there ({error}); delete it") from error
    return known
