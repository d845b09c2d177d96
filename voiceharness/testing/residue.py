"""What a run leaves behind: tasks, threads, open files and sockets."""

from __future__ import annotations

import asyncio
import gc
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from voiceharness.clock import Clock

__all__ = ["Residue"]

DESCRIPTORS: Final = ("/proc/self/fd", "/dev/fd")
LOOP_TURNS: Final = 3
THREADS_END_WITHIN: Final = 0.2
"""Seconds: a thread may still be on its way out when the loop has heard its last word."""


@dataclass(frozen=True, slots=True)
class Residue:
    """What is alive now. ``files`` counts open descriptors, sockets included (0 where they cannot be counted)."""

    tasks: frozenset[asyncio.Task[Any]]
    threads: frozenset[threading.Thread]
    files: int

    @classmethod
    def now(cls) -> Residue:
        """Look at what is alive."""
        gc.collect()
        return cls(frozenset(asyncio.all_tasks()), frozenset(threading.enumerate()), _open_files())

    async def since(self, clock: Clock, *, patience: float) -> str:
        """Say what is alive now and was not before; empty if nothing is. New tasks get ``patience`` seconds to end."""
        for _ in range(LOOP_TURNS):  # a transport closes its socket in the turn after it was told to
            await clock.sleep(0)
        if new := asyncio.all_tasks() - self.tasks:
            await asyncio.wait(new, timeout=patience)
        ending = set(threading.enumerate()) - self.threads
        for thread in ending:
            thread.join(THREADS_END_WITHIN / len(ending))
        left = Residue.now()
        found = [f"task {task.get_name()!r}" for task in sorted(left.tasks - self.tasks, key=asyncio.Task.get_name)]
        if len(left.threads) > len(self.threads):
            names = [thread.name for thread in left.threads - self.threads]
            found.append(f"thread {names[0]!r}" if len(names) == 1 else f"{len(names)} threads")
        if left.files > self.files:
            found.append(f"{left.files - self.files} open files or sockets")
        return ", ".join(found)


def _open_files() -> int:
    folder = next((Path(name) for name in DESCRIPTORS if Path(name).is_dir()), None)
    return 0 if folder is None else sum(1 for _ in folder.iterdir())
