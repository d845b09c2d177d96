"""A real dask cluster: a scheduler and workers, each a process of its own on this machine."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from voiceharness.suite.dask_watch import known_workers

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from distributed import Client

__all__ = ["READY", "ROOM", "Cluster", "cluster", "search_path"]

ROOM: Final = "VOICEHARNESS_TEST_ROOM"
"""Where agents on the workers find the folder that they share with their test."""

READY: Final = 60.0
"""Seconds in which a process must be there; a busy machine takes some to start one."""

_ROOT: Final = Path(__file__).parents[2]


class Cluster:
    """A cluster that runs; ``room`` is a folder for the agents, ``scratch`` that of the workers."""

    def __init__(self, room: Path, protocol: str, settings: Mapping[str, str], running: ExitStack) -> None:
        self.room = room
        self.protocol = protocol
        self.scratch = room / "scratch"
        self.settings = settings
        self.port = _free_port()
        self.running = running
        self.scheduler = self.start("scheduler", "--port", str(self.port), "--protocol", protocol)
        self.client = self._client()

    @property
    def address(self) -> str:
        """The address of the scheduler."""
        return f"{self.protocol}://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """The address of the scheduler as an engine."""
        return f"{'dask' if self.protocol == 'tcp' else 'dask+tls'}://127.0.0.1:{self.port}"

    @property
    def workers(self) -> Collection[str]:
        """The addresses of the workers that the scheduler knows."""
        return known_workers(self.client).keys()

    def hire(self, *options: str, nanny: bool = False, threads: int = 1) -> subprocess.Popen[bytes]:
        """Start a worker, and wait until the scheduler knows it."""
        there = len(self.workers)
        nannied = () if nanny else ("--no-nanny",)
        own = ("--nthreads", str(threads), "--local-directory", str(self.scratch), *nannied)
        worker = self.start("worker", self.address, *own, *options)
        self.client.wait_for_workers(there + 1, timeout=READY)
        return worker

    def left_on_workers(self) -> Sequence[str]:
        """What calls have left in the workers' scratch space, but for speech."""
        return [path.name for path in self.scratch.rglob("voiceharness-*") if path.name != "voiceharness-speech"]

    def start(self, role: str, *options: str) -> subprocess.Popen[bytes]:
        """Start a program of dask, whose log goes into the room."""
        command = (sys.executable, "-m", "dask", role, "--host", "127.0.0.1", "--no-dashboard", *options)
        environment = {**os.environ, ROOM: str(self.room), "PYTHONPATH": search_path(), **self.settings}
        with (self.room / f"{role}.log").open("ab") as log:
            program = subprocess.Popen(command, cwd=self.room, env=environment, stderr=log, start_new_session=True)
        self.running.callback(_end, program)
        return program

    def _client(self) -> Client:
        from distributed import Client

        client: Client = self.running.enter_context(Client(self.address, timeout=READY, set_as_default=False))
        return client


@contextmanager
def cluster(room: Path, *, protocol: str = "tcp", **settings: str) -> Iterator[Cluster]:
    """Run a scheduler, with some of dask's settings as variables of the environment; it has no workers yet."""
    pytest.importorskip("distributed", reason='not installed: pip install "voiceharness[dask]"')
    with ExitStack() as running:
        yield Cluster(room, protocol, settings, running)


def search_path() -> str:
    """Where programs find these tests and what they test."""
    return os.pathsep.join(str(path) for path in (_ROOT, os.environ.get("PYTHONPATH")) if path)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def _end(program: subprocess.Popen[bytes]) -> None:
    with program:
        if program.poll() is None:
            os.killpg(program.pid, signal.SIGKILL)
