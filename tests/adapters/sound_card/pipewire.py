"""PipeWire without hardware or a session: its daemons in a folder of their own, seen through PulseAudio's door.

Each is ready when its log says so; nothing sleeps or polls.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.adapters.sound_card.machines import missing
from voiceharness_adapters.sound_card.pulse import PulseServer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

__all__ = ["needs_pipewire", "private_pipewire"]

DAEMONS: Final = (
    (("dbus-daemon", "--session", "--nofork", "--nopidfile", "--print-address"), "unix:path="),
    (("pipewire",), "start main loop"),
    (("pipewire-pulse",), "start main loop"),
    (("wireplumber",), "set default node for Audio/Source"),  # from then on it links streams to their devices
)
"""In the order in which they need each other, with what each says when it is ready."""

START_TIMEOUT: Final = 20.0


def needs_pipewire(test: Any) -> Any:  # Any: pytest's decorators
    """Mark a test that plays and captures over PipeWire in real time."""
    absent = missing() + [command[0] for command, _ in DAEMONS if shutil.which(command[0]) is None]
    return pytest.mark.realtime(pytest.mark.skipif(bool(absent), reason=f"not installed: {', '.join(absent)}")(test))


@asynccontextmanager
async def private_pipewire() -> AsyncIterator[PulseServer]:
    """Start PipeWire, its session manager and its PulseAudio server; at the end they and their folder are gone."""
    folder = Path(tempfile.mkdtemp(prefix="voiceharness-pipewire-"))
    bus = f"unix:path={folder / 'bus'}"
    own = dict.fromkeys(("HOME", "XDG_RUNTIME_DIR", "PIPEWIRE_RUNTIME_DIR", "XDG_STATE_HOME"), str(folder))
    own |= {"PULSE_RUNTIME_PATH": str(folder / "pulse"), "DBUS_SESSION_BUS_ADDRESS": bus}
    environment = {**os.environ, **own, "PIPEWIRE_DEBUG": "3", "WIREPLUMBER_DEBUG": "3", "LC_ALL": "C"}
    try:
        async with AsyncExitStack() as running:
            for command, ready in DAEMONS:
                address = (f"--address={bus}",) if command[0] == "dbus-daemon" else ()
                await running.enter_async_context(_daemon((*command, *address), ready, environment))
            yield PulseServer(f"unix:{folder / 'pulse' / 'native'}")
    finally:
        shutil.rmtree(folder)


@asynccontextmanager
async def _daemon(command: tuple[str, ...], ready: str, environment: Mapping[str, str]) -> AsyncIterator[None]:
    process = await asyncio.create_subprocess_exec(
        *command,
        env=environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    log = process.stdout
    assert log is not None
    reading: asyncio.Task[bytes] | None = None
    try:
        async with asyncio.timeout(START_TIMEOUT):
            async for line in log:
                if ready in line.decode(errors="replace"):
                    break
            else:
                raise AssertionError(f"{command[0]} ended before it said {ready!r}")
        reading = asyncio.create_task(log.read(), name=f"log of {command[0]}")
        yield
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()
        if reading is not None:
            await reading
