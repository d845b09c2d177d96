"""What was heard and waits to be received, in order."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

from voiceharness.events import EndOfStream

if TYPE_CHECKING:
    from voiceharness.adapter import Received
    from voiceharness.errors import CallError

__all__ = ["Inbox"]


class Inbox:
    """A queue with an end: after ``EndOfStream``, or an error, ``EndOfStream`` is all there ever is."""

    def __init__(self) -> None:
        self._items: deque[Received | CallError] = deque()
        self._news = asyncio.Event()
        self._ended = False

    def put(self, item: Received | CallError) -> None:
        """Add an item, or the error that ends the call; after the end, drop it."""
        if self._ended:
            return
        self._ended = isinstance(item, EndOfStream | Exception)
        self._items.append(item)
        self._news.set()

    async def get(self, timeout: float | None) -> Received | None:
        """Return the next item, or None if none comes within ``timeout`` seconds (None: wait).

        Raises:
            CallError: the one that was put, once.
        """
        if not self._items and not self._ended:
            self._news.clear()
            try:
                async with asyncio.timeout(timeout):
                    await self._news.wait()
            except TimeoutError:
                return None
        if not self._items:
            return EndOfStream()
        item = self._items.popleft()
        if isinstance(item, Exception):
            raise item
        return item
