"""Measure what a call costs beside the call: ``python -m tools.bench_engines [CALLS]``.

The same calls, silent ones in virtual time, are made one after the other, by two processes of this machine, and by two
workers of a dask cluster that is started for it, each with one thread. What differs is the engines' own work.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from voiceharness.scenario.scenario import Scenario
from voiceharness.scenario.steps import Wait
from voiceharness.suite import Job, run_jobs

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]

CALLS: Final = 100
ROUNDS: Final = 3
SECONDS: Final = 18.7
PORT: Final = 8799
ENGINES: Final[dict[str, dict[str, Any]]] = {  # Any: keywords of run_jobs
    "one after the other": {},
    "two processes": {"processes": 2},
    "two processes, fresh": {"processes": 2, "fresh": True},
    "two dask workers": {"engine": f"dask://127.0.0.1:{PORT}"},
    "two dask workers, fresh": {"engine": f"dask://127.0.0.1:{PORT}", "fresh": True},
}


def main(calls: int = CALLS) -> None:
    """Print for each engine the time of a call in the median round, and of the quickest and slowest one."""
    with TemporaryDirectory() as room, ExitStack() as cluster:
        folder = Path(room)
        start_cluster(cluster, folder)
        jobs = [job(folder / f"call-{number}") for number in range(calls)]
        times: dict[str, list[float]] = {name: [] for name in ENGINES}
        for _ in range(ROUNDS):  # in turn, so that what else the machine does meets all of them
            for name, keywords in ENGINES.items():
                times[name].append(seconds(jobs, keywords) / calls)
    for name, each in times.items():
        print(f"{name:<24} {median(each) * 1e3:6.1f} ms per call ({min(each) * 1e3:.1f} to {max(each) * 1e3:.1f})")


def job(folder: Path) -> Job:
    """Make a call of a user who waits."""
    return Job(Scenario(name="waits", steps=[Wait(SECONDS)]), folder, agent="voiceharness.doubles:SilentAgent")


def seconds(jobs: Sequence[Job], keywords: dict[str, Any]) -> float:
    """Make all calls once."""
    start = time.perf_counter()
    run_jobs(jobs, **keywords)
    return time.perf_counter() - start


def start_cluster(cluster: ExitStack, folder: Path) -> None:
    """Start a scheduler and two workers, which end with ``cluster``."""
    from distributed import Client

    address = f"tcp://127.0.0.1:{PORT}"
    worker = ("worker", address, "--nthreads", "1", "--no-nanny", "--local-directory", str(folder))
    for role in (("scheduler", "--port", str(PORT)), worker, worker):
        command = (sys.executable, "-m", "dask", *role, "--host", "127.0.0.1", "--no-dashboard")
        cluster.callback(end, subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True))
    with Client(address, timeout=60, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)


def end(program: subprocess.Popen[bytes]) -> None:
    """End a program and what it has started."""
    with program:
        os.killpg(program.pid, signal.SIGKILL)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
