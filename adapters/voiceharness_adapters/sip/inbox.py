"""What came from the agent and waits to be received, in order of arrival."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

from voiceharness.events import EndOfStream

if TYPE_CHECKING:
    from voiceharness.adapter import Received

__all__ = ["Inbox"]


class Inbox:
    """A queue with an end: after ``EndOfStream`` that is all there ever is. An error is raised in its turn."""

    def __init__(self) -> None:
        self._items: deque[Received | Exception] = deque()
        self._waiter: asyncio.Future[None] | None = None
        self._ended = False

    def put(self, item: Received | Exception) -> None:
        """Add an item; after the end, drop it."""
        if self._ended:
            return
        self._ended = isinstance(item, EndOfStream | Exception)
        self._items.append(item)
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def get(self, timeout: float | None) -> Received | None:
        """Return the next item, or None if none comes within ``timeout`` seconds (None: wait)."""
        if not self._items and not self._ended:
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                async with asyncio.timeout(timeout):
                    await self._waiter
            except TimeoutError:
                return None
            finally:
                self._waiter = None
        if not self._items:
            return EndOfStream()
        item = self._items.popleft()
        if isinstance(item, Exception):
            raise item
        return item
