"""What is left is told: tasks and a thread by their names, several threads and files by their number."""

from __future__ import annotations

import asyncio
import os
import threading

from voiceharness.clock import LoopClock, run_virtual
from voiceharness.testing.residue import Residue

__all__: list[str] = []


def test_nothing_new_is_nothing_left() -> None:
    async def main() -> str:
        known = asyncio.create_task(LoopClock().sleep(100), name="known")
        before = Residue.now()
        left = await before.since(LoopClock(), patience=1.0)
        known.cancel()
        return left

    assert run_virtual(main()) == ""


def test_what_is_left_is_told() -> None:
    async def main() -> tuple[str, float]:
        before = Residue.now()
        gate = threading.Event()
        thread = threading.Thread(target=gate.wait, name="reader")
        thread.start()
        ends = os.pipe()
        tasks = [asyncio.create_task(LoopClock().sleep(100), name=name) for name in ("b", "a")]
        left = await before.since(LoopClock(), patience=1.0)
        gate.set()
        thread.join()
        for end in ends:
            os.close(end)
        for task in tasks:
            task.cancel()
        return left, asyncio.get_running_loop().time()

    assert run_virtual(main()) == ("task 'a', task 'b', thread 'reader', 2 open files or sockets", 1.0)


def test_tasks_get_some_time_to_end() -> None:
    async def main() -> str:
        before = Residue.now()
        ending = asyncio.create_task(LoopClock().sleep(0.5))
        left = await before.since(LoopClock(), patience=1.0)
        assert ending.done()
        return left

    assert run_virtual(main()) == ""


def test_a_thread_that_has_said_its_last_gets_some_time_to_end() -> None:
    async def main() -> str:
        before = Residue.now()
        gate = threading.Event()
        thread = threading.Thread(target=gate.wait)
        thread.start()
        joined = thread.join

        def join(timeout: float | None = None) -> None:
            gate.set()  # it was on its way out
            joined(timeout)

        thread.join = join  # type: ignore[method-assign]
        return await before.since(LoopClock(), patience=1.0)

    assert run_virtual(main()) == ""
