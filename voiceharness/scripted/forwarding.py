"""A scripted transport whose events also go to something that awaits: the listeners of an SDK, a websocket.

Events keep their order. ``emit`` delivers to the transport's own listeners at once, as ever; awaiting what it returns
waits until the far end of the forwarding has taken the event, and raises what it raised there. A failure of an event
that nobody awaits fails the scenario that is running.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Any, TypedDict

from voiceharness.scripted.transport import Emitted, ScriptedRealtimeTransport

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Generator
    from typing import Unpack

    from voiceharness.scripted.calls import Method
    from voiceharness.scripted.inbound import EventLike
    from voiceharness.scripted.snapshot import SnapshotPolicy

__all__ = ["Forwarded", "ForwardingTransport", "TransportOptions"]


class TransportOptions(TypedDict, total=False):
    """The options of a ``ScriptedRealtimeTransport``."""

    ambient: Collection[Method]
    lanes: Collection[Method]
    snapshots: SnapshotPolicy | None
    scenario_timeout: float | None


class Forwarded(Emitted):
    """The answer of ``emit``: true if a listener of the transport heard it; awaiting it waits for the forwarding."""

    __slots__ = ("_error", "_settled", "_transport", "_waiter", "event")

    def __init__(self, heard: bool, event: EventLike, transport: ForwardingTransport) -> None:
        super().__init__(heard)
        self.event = event
        self._transport = transport
        self._settled = False
        self._error: BaseException | None = None
        self._waiter: asyncio.Future[None] | None = None

    @property
    def awaited(self) -> bool:
        """Whether somebody waits for it."""
        return self._waiter is not None

    def settle(self, error: BaseException | None) -> None:
        """Note that the event was taken, or that taking it raised."""
        self._settled, self._error = True, error
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def __await__(self) -> Generator[Any, None, bool]:
        # Whoever takes an event and emits another one meanwhile cannot wait for it: it comes after the one in hand.
        if not self._settled and not self._transport.is_forwarding_here():
            self._waiter = self._waiter or asyncio.get_running_loop().create_future()
            yield from asyncio.shield(self._waiter)
        if self._error is not None:
            raise self._error
        return bool(self)


class ForwardingTransport(ScriptedRealtimeTransport):
    """A scripted transport that gives every event to ``forward`` as well, one after another, in a task of its own."""

    def __init__(self, forward: Callable[[EventLike], Awaitable[object]], **options: Unpack[TransportOptions]) -> None:
        super().__init__(**options)
        self._forward = forward
        self._waiting: deque[Forwarded] = deque()
        self._last: Forwarded | None = None
        self._task: asyncio.Task[None] | None = None

    def emit(self, event: EventLike) -> Forwarded:
        """Deliver an event to the listeners, now, and forward it; await the answer to wait for the latter."""
        heard = bool(super().emit(event))
        return self.forward(event, heard=heard)

    def forward(self, event: EventLike, *, heard: bool = False) -> Forwarded:
        """Forward an event that the transport's own listeners do not hear."""
        forwarded = self._last = Forwarded(heard, event, self)
        self._waiting.append(forwarded)
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return forwarded  # no loop yet: it goes out with the first event that finds one
        if self._task is None or self._task.done():
            self._task = loop.create_task(self._forward_all(), name="scripted events")
        return forwarded

    def is_forwarding_here(self) -> bool:
        """Say whether the running task is the one that forwards."""
        return self._task is not None and asyncio.current_task() is self._task

    async def forwarded(self) -> None:
        """Wait until everything emitted so far was taken; raises what the last event raised."""
        if self._last is not None:
            await self._last

    async def _forward_all(self) -> None:
        while self._waiting:
            forwarded = self._waiting.popleft()
            error: BaseException | None = None
            try:
                await self._forward(forwarded.event)
            except asyncio.CancelledError as cancelled:
                error = cancelled
                raise
            except BaseException as raised:  # pytest's failures are no Exception
                error = raised
                if not forwarded.awaited and self._script.on_fault is not None:
                    self._script.on_fault(raised)
            finally:
                forwarded.settle(error)
