"""What devices there are, which of them are virtual cables, and which to choose."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from voiceharness.errors import DeviceError
from voiceharness_adapters.sound_card.portaudio import listed_devices

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from voiceharness_adapters.sound_card.pulse import PulseServer

__all__ = ["CABLE_STEPS", "ListedDevice", "advice", "cable_kind", "list_devices"]

_CABLES: Final[Mapping[str, re.Pattern[str]]] = {
    "cable of voiceharness": re.compile(r"_(u2a|a2u)(_mic)?$|_line(\.monitor)?$"),
    "BlackHole": re.compile(r"\bBlackHole\b", re.I),
    "VB-CABLE": re.compile(r"VB-Audio|\bCABLE(-[A-D])? (Input|Output)\b", re.I),
    "Loopback": re.compile(r"\bLoopback\b", re.I),
    "null sink": re.compile(r"\bnull\b|auto_null|module-null-sink", re.I),
}

CABLE_STEPS: Final[Mapping[str, str]] = {
    "darwin": (
        "macOS has no virtual cables of its own; two free ones do:\n"
        "  1. brew install blackhole-2ch blackhole-16ch, then log in anew\n"
        "  2. in the agent's program choose the microphone 'BlackHole 2ch' and the speaker 'BlackHole 16ch'\n"
        "  3. System Settings > Privacy & Security > Microphone: allow your terminal\n"
        "  4. voiceharness devices test --output 'BlackHole 2ch' --input 'BlackHole 2ch'\n"
        "  5. voiceharness run SCENARIO --adapter sound_card --set 'output=BlackHole 2ch' "
        "--set 'input=BlackHole 16ch' --set delay_ms=WHAT_STEP_4_FOUND"
    ),
    "win32": (
        "Windows has no virtual cables of its own; VB-CABLE has two free ones:\n"
        "  1. install VB-CABLE and the pack A+B from vb-audio.com, then start the computer anew\n"
        "  2. in the agent's program choose the microphone 'CABLE-A Output' and the speaker 'CABLE-B Input'\n"
        "  3. Settings > Privacy > Microphone: let desktop apps use the microphone\n"
        "  4. voiceharness devices test --output 'CABLE-A Input' --input 'CABLE-A Output'\n"
        "  5. voiceharness run SCENARIO --adapter sound_card --set 'output=CABLE-A Input' "
        "--set 'input=CABLE-B Output' --set delay_ms=WHAT_STEP_4_FOUND"
    ),
}
"""How to get virtual cables where they cannot be made by a command, by ``sys.platform``."""


@dataclass(frozen=True, slots=True)
class ListedDevice:
    """One device: ``name`` is what the adapter takes; ``cable`` says which virtual cable it is, empty if none.

    ``rate`` is in hertz, 0 if its server does not tell.
    """

    name: str
    system: str
    inputs: int
    outputs: int
    rate: int
    cable: str = ""
    default_input: bool = False
    default_output: bool = False


def cable_kind(name: str, driver: str = "") -> str:
    """Return which kind of virtual cable a device is by its name and driver; empty if none."""
    for kind, pattern in _CABLES.items():
        if pattern.search(name) or pattern.search(driver):
            return kind
    return ""


async def list_devices(server: PulseServer) -> tuple[ListedDevice, ...]:
    """List the devices of PortAudio, and the sinks and sources of PulseAudio or PipeWire where there is a server.

    Raises:
        DeviceError: if PortAudio cannot be loaded, or a server that was named does not answer.
        MissingExtraError: if sounddevice is not installed.
    """
    try:
        of_server = (*await _of_server(server, "sinks"), *await _of_server(server, "sources"))
    except DeviceError:
        if server.named:
            raise
        of_server = ()  # on most computers there is no server of the session, which is no fault
    own = tuple(
        ListedDevice(
            device.name,
            device.host_api,
            device.inputs,
            device.outputs,
            device.rate,
            cable_kind(device.name),
            device.default_input,
            device.default_output,
        )
        for device in listed_devices(server.address)
    )
    return own + of_server


async def _of_server(server: PulseServer, kind: str) -> list[ListedDevice]:
    default = (await server.command("get-default-sink" if kind == "sinks" else "get-default-source")).strip()
    rows = [line.split("\t") for line in (await server.command("list", "short", kind)).splitlines()]
    return [_of_row(row, kind, default) for row in rows if len(row) >= 4]


def _of_row(row: list[str], kind: str, default: str) -> ListedDevice:
    """Read one line of pactl: index, name, driver, format (as in ``s16le 2ch 48000Hz``)."""
    name, driver, form = row[1:4]
    channels, rate = (re.search(pattern, form) for pattern in (r"(\d+)ch", r"(\d+)Hz"))
    count = int(channels[1]) if channels else 0
    return ListedDevice(
        f"pulse:{name}",
        "PipeWire" if driver == "PipeWire" else "PulseAudio",
        inputs=count if kind == "sources" else 0,
        outputs=count if kind == "sinks" else 0,
        rate=int(rate[1]) if rate else 0,
        cable=cable_kind(name, driver),
        default_input=kind == "sources" and name == default,
        default_output=kind == "sinks" and name == default,
    )


def advice(devices: Iterable[ListedDevice], platform: str = sys.platform) -> str:
    """Say what to choose among some devices."""
    cables = [device for device in devices if device.cable]
    own = sorted({m[1] for d in cables if (m := re.fullmatch(r"pulse:(.+)_u2a", d.name)) and d.outputs})
    if own:
        return (
            f"choose: --adapter sound_card --set cables={own[0]}; in the agent's program the microphone "
            f"{own[0]}_u2a_mic and the speaker {own[0]}_a2u"
        )
    if platform in CABLE_STEPS:
        return CABLE_STEPS[platform]
    return (
        "choose: virtual cables, made by `voiceharness devices create-cables`; through speaker and microphone the "
        "harness hears itself as well"
    )
