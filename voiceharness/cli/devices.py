"""``voiceharness devices``: which sound devices there are, how long their path takes, and virtual cables."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from voiceharness.cli.output import complain, tell, tell_json

if TYPE_CHECKING:
    from collections.abc import Coroutine, Sequence

    from voiceharness.agent import PhoneAgent
    from voiceharness_adapters.sound_card.cables import Cables
    from voiceharness_adapters.sound_card.listing import ListedDevice
    from voiceharness_adapters.sound_card.measuring import MeasuredPath
    from voiceharness_adapters.sound_card.stream import Opening

__all__ = ["Meter", "devices"]

T = TypeVar("T")

NOT_SUPPORTED: Final = 4
METER_COLUMNS: Final = 40
QUIETEST_DB: Final = -60.0

_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
_SERVER = click.option("--server", default="", metavar="ADDRESS", help="PulseAudio server. Default: the session's.")
_NAME = click.argument("name", default="voiceharness")


@click.group(invoke_without_command=True)
@_SERVER
@_JSON
@click.pass_context
def devices(context: click.Context, server: str, as_json: bool) -> int:
    """List sound devices, test them, and make virtual cables."""
    return 0 if context.invoked_subcommand else list_all(server, as_json=as_json)


@devices.command("list")
@_SERVER
@_JSON
def list_command(server: str, as_json: bool) -> int:
    """List the devices, which of them are virtual cables, and what to choose."""
    return list_all(server, as_json=as_json)


@devices.command("test")
@click.option("--cables", default="", metavar="NAME", help="Test virtual cables of this name.")
@click.option("--output", default="", metavar="DEVICE", help="Device to play on. Default: the system's.")
@click.option("--input", "source", default="", metavar="DEVICE", help="Device to listen to. Default: the system's.")
@click.option("--channel", type=click.IntRange(min=1), default=1, show_default=True, help="Channel to listen to.")
@click.option("--store/--no-store", default=True, help="Keep the delay for calls on this pair. Default: keep.")
@_SERVER
@_JSON
def test_command(cables: str, output: str, source: str, channel: int, store: bool, server: str, as_json: bool) -> int:
    """Play a chirp, show the level that comes back, and measure the delay. Only while no agent listens."""
    from voiceharness_adapters.sound_card.adapter import SoundCard
    from voiceharness_adapters.sound_card.store import remember_delay

    # The adapter knows how its options become a pair of devices.
    opening = SoundCard(
        cables, output=output, input=source, agent_channel=channel + bool(cables), server=server
    ).opening
    path = _run(_measured(opening, channel - 1, meter=not as_json))
    if store:
        remember_delay(opening.pair, path.delay)
    if as_json:
        tell_json({"pair": opening.pair, **asdict(path), "stored": store})
        return 0
    kept = "; kept for calls on this pair" if store else ""
    tell(
        f"{opening.pair}: {path.delay * 1000:.2f} ms, level {path.level_db:.0f} dB, likeness {path.likeness:.2f}{kept}"
    )
    return 0


@devices.command("create-cables", context_settings={"ignore_unknown_options": True})
@click.option("--private", is_flag=True, help="On a sound server of their own, while COMMAND runs.")
@_SERVER
@_NAME
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def create_command(private: bool, server: str, name: str, command: Sequence[str]) -> int:
    """Make virtual cables called NAME: in the user's session, or private to COMMAND."""
    from voiceharness_adapters.sound_card.cables import Cables, create_cables
    from voiceharness_adapters.sound_card.listing import CABLE_STEPS
    from voiceharness_adapters.sound_card.pulse import PulseServer

    if sys.platform in CABLE_STEPS:
        tell(CABLE_STEPS[sys.platform])
        return NOT_SUPPORTED
    if private != bool(command):
        raise click.UsageError("--private needs a COMMAND to be private to, and only --private takes one")
    if private:
        return _run(_run_with_cables(name, command))
    cables = Cables(name, PulseServer(server))
    _run(create_cables(cables))
    tell(
        f"made the cables {name}: in the agent's program choose the microphone {cables.agent_microphone} and the "
        f"speaker {cables.to_user}; call it with --adapter sound_card --set cables={name}"
    )
    return 0


@devices.command("remove-cables")
@_SERVER
@_NAME
def remove_command(server: str, name: str) -> int:
    """Take the virtual cables called NAME away."""
    from voiceharness_adapters.sound_card.cables import Cables, remove_cables
    from voiceharness_adapters.sound_card.pulse import PulseServer

    there = _run(remove_cables(Cables(name, PulseServer(server))))
    tell(f"took the cables {name} away" if there else f"there were no cables {name}")
    return 0


@devices.command("serve")
@click.argument("agent", metavar="MODULE:NAME")
@_SERVER
@click.option("--cables", default="voiceharness", metavar="NAME", show_default=True, help="Virtual cables to serve on.")
def serve_command(agent: str, server: str, cables: str) -> int:
    """Serve an agent on virtual cables: it answers at a line on standard input, until that ends."""
    from voiceharness.registry.options import load_agent
    from voiceharness_adapters.sound_card.cables import Cables
    from voiceharness_adapters.sound_card.pulse import PulseServer

    _run(_serve(load_agent(agent), Cables(cables, PulseServer(server))))
    return 0


def _run(main: Coroutine[Any, Any, T]) -> T:
    """Run in real time. An event loop is loaded when a command needs one, not for ``--help``."""
    from voiceharness.clock import run_real

    return run_real(main)


def list_all(server: str, *, as_json: bool) -> int:
    """List every device, and say what to choose."""
    from voiceharness_adapters.sound_card.listing import advice, list_devices
    from voiceharness_adapters.sound_card.pulse import PulseServer

    found = _run(list_devices(PulseServer(server)))
    if as_json:
        tell_json({"devices": [asdict(device) for device in found], "advice": advice(found)})
        return 0
    for device in found:
        tell(_line(device))
    tell(advice(found) if found else f"no devices\n{advice(found)}")
    return 0


def _line(device: ListedDevice) -> str:
    marks = [
        f"{device.inputs} in" if device.inputs else "",
        f"{device.outputs} out" if device.outputs else "",
        f"{device.rate} Hz" if device.rate else "",
        "default input" if device.default_input else "",
        "default output" if device.default_output else "",
        device.cable,
    ]
    return f"  {device.name} ({device.system}): {', '.join(filter(None, marks))}"


async def _measured(opening: Opening, channel: int, *, meter: bool) -> MeasuredPath:
    from voiceharness_adapters.sound_card.measuring import measure_path
    from voiceharness_adapters.sound_card.portaudio import PortAudio
    from voiceharness_adapters.sound_card.session import Session

    session, bar = Session(PortAudio(), opening), Meter(live=meter and sys.stderr.isatty())
    try:
        await session.open()
        return await measure_path(session, channel, on_level=bar.show)
    finally:
        bar.clear()
        await session.close()


async def _serve(agent: PhoneAgent, cables: Cables) -> None:
    import asyncio

    from voiceharness_adapters.sound_card.host import serve_on

    lines = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(lines), sys.stdin
    )
    try:
        async with serve_on(agent, cables) as far_side:
            tell("ready")
            while await lines.readline():
                far_side.call_begins()
    finally:
        transport.close()


async def _run_with_cables(name: str, command: Sequence[str]) -> int:
    """Run a command that finds private cables as those of its session; return its exit code."""
    import asyncio

    from voiceharness_adapters.sound_card.cables import Cables, temporary_cables
    from voiceharness_adapters.sound_card.pulse import private_server

    async with private_server() as server, temporary_cables(Cables(name, server)):
        try:
            process = await asyncio.create_subprocess_exec(*command, env={**os.environ, **server.environment})
        except OSError as error:
            raise click.UsageError(f"{command[0]} cannot be run: {error}") from error
        return await process.wait()


class Meter:
    """A level on standard error, as a bar that moves; where nobody looks, nothing."""

    def __init__(self, *, live: bool) -> None:
        self._live = live

    def show(self, level_db: float) -> None:
        """Show a level in dB re full scale."""
        if self._live:
            share = max(0.0, 1 - level_db / QUIETEST_DB)
            bar = "#" * round(share * METER_COLUMNS)
            print(f"\r{bar:{METER_COLUMNS}} {level_db:6.1f} dB ", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Leave the line."""
        if self._live:
            complain("")
