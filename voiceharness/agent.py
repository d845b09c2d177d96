"""The duplex door of an agent, independent of the transport that carries the call.

Theory of operation. A :class:`PhoneAgent` is written once and served by a host on any transport (in-process, a Twilio
stream, SIP, a sound card). For each call the host makes an :class:`AgentCall` and runs ``agent.answer(call)``. The
agent's face of that object is ``receive`` or ``listen`` (the user's audio frame by frame, digits, ``Interrupted``,
played marks, the end of the call) and ``send`` with its short forms (audio, flush, mark, words, hang-up). The host's
face is ``deliver`` and ``sent``. Nothing here knows a transport, and nothing here waits for time.

``listen`` hands each item to a function at once, without a task switch; it is how an agent that reacts to single
frames stays cheap. ``receive`` is the same stream for agents that prefer to await.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from voiceharness.audio.chunk import AudioChunk
from voiceharness.errors import AgentCrashedError, LocalProtocolError, VirtualTimeError
from voiceharness.events import (
    AgentEvent,
    CallEnded,
    EndOfStream,
    Flush,
    Mark,
    RemoteHangup,
    UserItem,
    Word,
    Words,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from voiceharness.clock import Clock

__all__ = ["AgentCall", "AgentItem", "PhoneAgent", "serve"]

AgentItem: TypeAlias = AudioChunk | AgentEvent
"""What an agent can send through its door."""


class PhoneAgent(ABC):
    """An agent that answers the phone. One object may serve many calls at once; keep a call's state in ``answer``."""

    @abstractmethod
    async def answer(self, call: AgentCall) -> None:
        """Serve one call from answer to hang-up. Returning hangs up; raising is a crash of the agent."""


class AgentCall:
    """One call, as the agent and its host see it.

    ``rate`` is the line's rate in hertz: the user's audio comes at it. ``late_items`` counts what the agent sent
    after the call had ended; it is dropped.
    """

    def __init__(self, clock: Clock, *, rate: int = 8000) -> None:
        self.clock = clock
        self.rate = rate
        self.late_items = 0
        self._inbox: deque[UserItem] = deque()
        self._outbox: deque[AgentItem] = deque()
        self._inbox_waiter: asyncio.Future[None] | None = None
        self._outbox_waiter: asyncio.Future[None] | None = None
        self._sink: Callable[[UserItem], None] | None = None
        self._ended: CallEnded | None = None
        self._hung_up = False
        self._crash: BaseException | None = None

    # The agent's face

    @property
    def ended(self) -> bool:
        """Whether the call is over, from either side."""
        return self._ended is not None or self._hung_up

    async def receive(self) -> UserItem:
        """Return the next thing from the user's side, in order of arrival; after the end, always ``CallEnded``.

        Raises:
            LocalProtocolError: if ``listen`` was chosen, or another task is receiving.
        """
        if self._sink is not None:
            raise LocalProtocolError("this call is listened to by a function; it cannot be received from as well")
        while not self._inbox:
            if self._ended is not None:
                return self._ended
            if self._inbox_waiter is not None:
                raise LocalProtocolError("two tasks receive from one call; give the items to one of them")
            self._inbox_waiter = asyncio.get_running_loop().create_future()
            try:
                await self._inbox_waiter
            finally:
                self._inbox_waiter = None
        return self._inbox.popleft()

    def listen(self, sink: Callable[[UserItem], None]) -> None:
        """Hand every item to a function as it arrives, instead of queueing it for ``receive``."""
        self._sink = sink
        while self._inbox:
            sink(self._inbox.popleft())

    def send(self, item: AgentItem) -> None:
        """Send audio or an event to the user's side; it is stamped with the time of sending."""
        if self.ended:
            self.late_items += 1
            return
        self._outbox.append(item if item.at_ns is not None else replace(item, at_ns=self.clock.now_ns()))
        _wake(self._outbox_waiter)

    def flush(self) -> None:
        """Empty the playout queue: what the user has not heard yet is dropped."""
        self.send(Flush())

    def mark(self, name: str) -> None:
        """Ask for ``MarkPlayed(name)`` when playout reaches this point."""
        self.send(Mark(name))

    def send_words(self, words: Sequence[Word], *, item: str | None = None) -> None:
        """Tell the words of an item, timed from the item's first sample."""
        self.send(Words(item, tuple(words)))

    def hang_up(self, reason: str = "", *, code: int | None = None) -> None:
        """End the call at once: audio that was not heard yet is lost."""
        if self.ended:
            return
        self.send(RemoteHangup(reason, code))
        self.send(EndOfStream())
        self._hung_up = True

    # The host's face

    def deliver(self, item: UserItem) -> None:
        """Give the agent one thing from the user's side. ``CallEnded`` ends the call; what comes after is dropped."""
        if self._ended is not None:
            return
        if isinstance(item, CallEnded):
            self._ended = item
            self._outbox.append(EndOfStream(at_ns=self.clock.now_ns()))
            _wake(self._outbox_waiter)
        if self._sink is not None:
            self._sink(item)
            return
        self._inbox.append(item)
        _wake(self._inbox_waiter)

    def take_sent(self) -> AgentItem | None:
        """Return the next thing the agent sent, or None if there is nothing now.

        Raises:
            AgentCrashedError: once everything that was sent before the crash has been taken.
        """
        if self._outbox:
            return self._outbox.popleft()
        if self._crash is not None:
            raise _crash_error(self._crash) from self._crash
        return None

    async def sent(self) -> AgentItem:
        """Wait for the next thing the agent sends; ``EndOfStream`` is the last.

        Raises:
            AgentCrashedError: once everything that was sent before the crash has been taken.
        """
        while (item := self.take_sent()) is None:
            self._outbox_waiter = asyncio.get_running_loop().create_future()
            try:
                await self._outbox_waiter
            finally:
                self._outbox_waiter = None
        return item

    def crash(self, error: BaseException) -> None:
        """Record that the agent's code raised: the host's ``sent`` will raise it in its turn."""
        self._crash = error
        _wake(self._outbox_waiter)


async def serve(agent: PhoneAgent, call: AgentCall) -> None:
    """Run an agent on one call: its return hangs up, its exception becomes the call's crash."""
    try:
        await agent.answer(call)
    except Exception as error:  # supervision point: the agent's own code
        call.crash(error)
    else:
        call.hang_up("the agent returned")


def _crash_error(cause: BaseException) -> Exception:
    if isinstance(cause, VirtualTimeError):
        return VirtualTimeError(str(cause))
    return AgentCrashedError(f"the agent's code raised {type(cause).__name__}: {cause}")


def _wake(waiter: asyncio.Future[None] | None) -> None:
    if waiter is not None and not waiter.done():
        waiter.set_result(None)
