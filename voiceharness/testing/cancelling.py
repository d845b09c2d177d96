"""Cancel a coroutine at a chosen one of its awaits."""

from __future__ import annotations

import asyncio
import types
from itertools import count
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Coroutine, Generator

__all__ = ["cancelled_at"]


async def cancelled_at(suspension: int, coroutine: Coroutine[Any, Any, object], *, patience: float) -> bool:
    """Run a coroutine and cancel it when it suspends for the ``suspension``-th time (from 0).

    False: it ended before. What it raises is raised here, but for the cancellation.

    Raises:
        TimeoutError: if it does not end within ``patience`` seconds.
        RuntimeError: if it was cancelled and ended as if it had not been.
    """
    driven = _Driven(coroutine, suspension)
    task = asyncio.create_task(driven.run(), name="cancelled on purpose")
    done, _ = await asyncio.wait([task], timeout=patience)
    if not done:
        task.cancel()
        raise TimeoutError
    if task.cancelled():
        return driven.reached
    task.result()
    if driven.reached:
        raise RuntimeError(f"the cancellation at await {suspension + 1} was swallowed")
    return False


class _Driven:
    """Steps a coroutine, and cancels the task it runs in at one of its suspensions."""

    def __init__(self, coroutine: Coroutine[Any, Any, object], suspension: int) -> None:
        self.reached = False
        self._coroutine = coroutine
        self._suspension = suspension

    async def run(self) -> None:
        await self._stepped()

    @types.coroutine
    def _stepped(self) -> Generator[Any, Any, None]:
        step, argument = self._coroutine.send, None
        for suspension in count():
            try:
                waits_for = step(argument)
            except StopIteration:
                return
            if suspension == self._suspension:
                self.reached = True
                task = asyncio.current_task()
                assert task is not None
                task.cancel()
            try:
                argument = yield waits_for
                step = self._coroutine.send
            except BaseException as error:  # whatever the loop throws in belongs to the coroutine
                step, argument = self._coroutine.throw, error
