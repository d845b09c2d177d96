"""Measure how long commands take to answer that call nobody: ``python tools/bench_cli.py``."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import time
from pathlib import Path
from statistics import median
from typing import Final

__all__ = ["main"]

RUNS: Final = 20
COMMANDS: Final = (["--help"], ["--version"], ["run", "--help"], ["adapters"], ["doctor"])


def main() -> None:
    """Print the median and the longest time of each command, next to an interpreter that does nothing."""
    program = str(Path(sysconfig.get_path("scripts")) / "voiceharness")
    report("(python -c pass)", [sys.executable, "-c", "pass"])
    for arguments in COMMANDS:
        report(" ".join(arguments), [program, *arguments])


def report(name: str, command: list[str]) -> None:
    """Run a command several times and print its times."""
    times = sorted(seconds(command) for _ in range(RUNS))
    print(f"{name:<20} median {median(times):.3f} s, longest of {RUNS} {times[-1]:.3f} s")


def seconds(command: list[str]) -> float:
    """Run a command once."""
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
