"""What came from the agent's side and was not taken by the line yet."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

from voiceharness.events import EndOfStream

if TYPE_CHECKING:
    from voiceharness.adapter import Received

__all__ = ["Inbox"]


class Inbox:
    """A queue that ends: with ``EndOfStream``, for ever after, or with an error once everything before it is taken."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()  # once: it is a system call, and would be one for each frame
        self._items: deque[Received] = deque()
        self._waiter: asyncio.Future[None] | None = None
        self._error: BaseException | None = None
        self.ended = False

    def put(self, item: Received) -> None:
        """Add an item; after the end nothing is added."""
        if not self.ended:
            self._items.append(item)
            self._wake()

    def end(self, error: BaseException | None = None) -> None:
        """Say that nothing more will come, or that this error has ended it. The first end counts."""
        if not self.ended:
            self.ended, self._error = True, error
            self._wake()

    async def take(self, timeout: float | None) -> Received | None:
        """Return the next item; None if there is none in time."""
        if not self._items and not self.ended:
            if timeout is None:
                await self._wait()
            else:
                try:
                    async with asyncio.timeout(timeout):
                        await self._wait()
                except TimeoutError:
                    return None
        if self._items:
            return self._items.popleft()
        if self._error is not None:
            raise self._error
        return EndOfStream()

    async def _wait(self) -> None:
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
