"""What a realtime session reported, and waiting for it.

A session gives its events by iteration, so somebody must iterate while the test does something else::

    async with session, SessionRecorder(session) as recorder:
        await session.send_message("hello")
        await recorder.wait_for("audio_end")
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from voiceharness.scripted.errors import ScriptedTestingError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from types import TracebackType
    from typing import Self

__all__ = ["EventSource", "SessionEndedError", "SessionRecorder"]


class EventSource(Protocol):
    """A session, as far as the recorder cares: something to iterate, whose events say their ``type``."""

    def __aiter__(self) -> AsyncIterator[Any]:
        """Iterate over the events."""


class SessionEndedError(ScriptedTestingError):
    """The session ended before it reported what was waited for."""


class SessionRecorder:
    """Iterates over a session in the background and keeps its events, in order, in ``events``.

    ``error`` is what the session's iterator raised; whoever waits is told.
    """

    def __init__(self, session: EventSource) -> None:
        self.events: list[Any] = []
        self.error: Exception | None = None
        self._session = session
        self._ended = False
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._record(), name="session recorder")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    def of(self, event_type: str) -> list[Any]:
        """Return the events of a type so far."""
        return [event for event in self.events if event.type == event_type]

    async def wait_for(self, event_type: str, accept: Callable[[Any], bool] | None = None) -> Any:
        """Return the first event of a type that ``accept`` accepts, past ones included; wait for it if need be.

        Raises:
            SessionEndedError: if the session ends, or ended, without one; its cause is the session's own error.
        """
        seen = 0
        while True:
            for event in self.events[seen:]:
                if event.type == event_type and (accept is None or accept(event)):
                    return event
            seen = len(self.events)
            if self._ended:
                raise SessionEndedError(
                    f"the session ended after {seen} events, before the {event_type} that was waited for"
                ) from self.error
            self._changed.clear()
            await self._changed.wait()

    async def _record(self) -> None:
        try:
            async for event in self._session:
                self.events.append(event)
                self._changed.set()
        except Exception as error:  # the session's own failure: told to whoever waits
            self.error = error
        finally:
            self._ended = True
            self._changed.set()
