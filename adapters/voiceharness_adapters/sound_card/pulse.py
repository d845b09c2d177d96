"""A PulseAudio server of one's own, and commands to any server that speaks its protocol (PipeWire's too).

The private server has a runtime folder of its own, no hardware and no clients but those that know its socket. It is
ready when it says so in its log; nothing sleeps or polls.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from voiceharness.errors import DeviceError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

__all__ = ["INSTALL_HINT", "Module", "PulseServer", "private_server"]

INSTALL_HINT: Final = "on Debian: apt-get install pulseaudio pulseaudio-utils libasound2-plugins libportaudio2"

_READY: Final = "Daemon startup complete"
_START_TIMEOUT: Final = 10.0
_ANSWER_TIMEOUT: Final = 5.0
_END_TIMEOUT: Final = 5.0
_VARIABLE: Final = "PULSE_SERVER"
_LAST_LINES: Final = 5


@dataclass(frozen=True, slots=True)
class Module:
    """A loaded module of a server: its index there, its name, and its arguments as they were written."""

    index: int
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class PulseServer:
    """A server to send commands to: its address, or empty for the one of the user's session."""

    address: str = ""

    @property
    def named(self) -> str:
        """The address that was given, here or in the environment; empty if none was."""
        return self.address or os.environ.get(_VARIABLE, "")

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment in which libraries find this server."""
        return {_VARIABLE: self.address} if self.address else {}

    async def command(self, *arguments: str) -> str:
        """Run ``pactl`` and return what it printed.

        Raises:
            DeviceError: if it is not installed, no server answers, or the server refuses.
        """
        try:
            process = await asyncio.create_subprocess_exec(
                "pactl",
                *arguments,
                env={**os.environ, **self.environment, "LC_ALL": "C"},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
        except FileNotFoundError as error:
            raise DeviceError(f"sound card: pactl is not installed; {INSTALL_HINT}") from error
        where = self.named or "of this session"
        try:
            async with asyncio.timeout(_ANSWER_TIMEOUT):
                out, err = await process.communicate()
        except TimeoutError as error:
            raise DeviceError(
                f"sound card: the PulseAudio server {where} did not answer {' '.join(arguments)} within "
                f"{_ANSWER_TIMEOUT:g} s; start it anew, or use a private one"
            ) from error
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if process.returncode:
            said = "; ".join(err.decode(errors="replace").split("\n")).strip("; ")
            raise DeviceError(
                f"sound card: the PulseAudio server {where} refused {' '.join(arguments)}: {said}; "
                "see that it runs (pactl info), or use a private one"
            )
        return out.decode(errors="replace")

    async def load(self, module: str, **arguments: str | int) -> int:
        """Load a module and return its index."""
        written = [f"{key}={value}" for key, value in arguments.items()]
        return int(await self.command("load-module", module, *written))

    async def unload(self, index: int) -> None:
        """Unload a module."""
        await self.command("unload-module", str(index))

    async def modules(self) -> tuple[Module, ...]:
        """List the loaded modules in the order in which they were loaded.

        PipeWire prints the arguments of its own modules over several lines; of those only the first line is kept.
        """
        rows = [line.split("\t") for line in (await self.command("list", "short", "modules")).splitlines()]
        rows = [row for row in rows if len(row) > 1 and row[0].isdecimal()]
        return tuple(Module(int(row[0]), row[1], row[2] if len(row) > 2 else "") for row in rows)

    async def names(self, kind: str) -> tuple[str, ...]:
        """List the names of its ``sinks`` or ``sources``."""
        rows = (line.split("\t") for line in (await self.command("list", "short", kind)).splitlines())
        return tuple(row[1] for row in rows if len(row) > 1)


@asynccontextmanager
async def private_server() -> AsyncIterator[PulseServer]:
    """Start a PulseAudio server that nobody else knows of; at the end it and its folder are gone.

    Raises:
        DeviceError: if PulseAudio is not installed, or does not start.
    """
    if shutil.which("pulseaudio") is None:
        raise DeviceError(f"sound card: PulseAudio is not installed; {INSTALL_HINT}")
    folder = Path(tempfile.mkdtemp(prefix="voiceharness-pulse-"))
    try:
        socket = folder / "native"
        script = folder / "start.pa"
        script.write_text(f".fail\nload-module module-native-protocol-unix auth-anonymous=1 socket={socket}\n")
        async with _running(folder, script):
            yield PulseServer(f"unix:{socket}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@asynccontextmanager
async def _running(folder: Path, script: Path) -> AsyncIterator[None]:
    process = await asyncio.create_subprocess_exec(
        *("pulseaudio", "-n", "-F", str(script), "--daemonize=no", "--exit-idle-time=-1", "--disallow-exit"),
        *("--use-pid-file=no", "--realtime=yes", "--high-priority=yes", "--log-target=stderr", "--log-level=info"),
        "--disable-shm=yes",  # a client whose shared memory goes away with the server waits for ever
        env={**os.environ, "PULSE_RUNTIME_PATH": str(folder), "HOME": str(folder), "LC_ALL": "C"},
        stdin=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,  # a signal to our group ends our streams before it ends their server
    )
    reading: asyncio.Task[None] | None = None
    try:
        log = process.stderr
        assert log is not None  # it was asked for
        await _ready(log)
        reading = asyncio.create_task(_drain(log), name="log of PulseAudio")
        yield
    finally:
        if process.returncode is None:
            process.terminate()
            await _ended(process)
        if reading is not None:
            await reading


async def _ended(process: asyncio.subprocess.Process) -> None:
    """Wait until a server that was asked to end has ended; one that does not hear it is killed."""
    try:
        async with asyncio.timeout(_END_TIMEOUT):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


async def _ready(log: asyncio.StreamReader) -> None:
    said: list[str] = []
    try:
        async with asyncio.timeout(_START_TIMEOUT):
            async for line in log:
                said.append(line.decode(errors="replace").strip())
                if _READY in said[-1]:
                    return
    except TimeoutError as error:
        raise DeviceError(f"sound card: PulseAudio did not start within {_START_TIMEOUT:g} s") from error
    raise DeviceError("sound card: PulseAudio did not start: " + " | ".join(said[-_LAST_LINES:]))


async def _drain(log: asyncio.StreamReader) -> None:
    """Read the log on, so that its pipe never fills."""
    async for _line in log:
        pass
