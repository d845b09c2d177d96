"""What came from the agent's side of an adapter and waits to be received, in order of arrival.

For transports that are told things by callback and asked for them by ``receive_audio``. Three things are kept apart:
nothing yet (None), the end (``EndOfStream``, for ever after) and a failure (an error, once).
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

from voiceharness.events import EndOfStream

if TYPE_CHECKING:
    from voiceharness.adapter import Received

__all__ = ["Inbox"]


class Inbox:
    """A queue with an end, for one reader. What comes after the end is dropped; the first end counts."""

    def __init__(self) -> None:
        self.ended = False
        self._items: deque[Received] = deque()
        self._error: BaseException | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None  # kept: to find it is a system call, and one for each frame

    def put(self, item: Received) -> None:
        """Add an item."""
        if not self.ended:
            self._items.append(item)
            self._wake()

    def end(self, error: BaseException | None = None) -> None:
        """Say that nothing more will come, because of an error if one is given."""
        if not self.ended:
            self.ended, self._error = True, error
            self._wake()

    async def get(self, timeout: float | None) -> Received | None:
        """Return the next item, or None if none comes within ``timeout`` seconds (None: wait).

        Raises:
            BaseException: the error with which it ended, once, when everything before it was taken.
        """
        if not self._items and not self.ended:
            try:
                async with asyncio.timeout(timeout):
                    await self._wait()
            except TimeoutError:
                return None
        if self._items:
            return self._items.popleft()
        error, self._error = self._error, None
        if error is not None:
            raise error
        return EndOfStream()

    async def _wait(self) -> None:
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
