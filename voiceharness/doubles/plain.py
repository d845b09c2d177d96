"""Agent doubles that do one thing, and what all doubles share."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from voiceharness.agent import AgentCall, PhoneAgent
from voiceharness.audio.chunk import AudioChunk
from voiceharness.clock import NS
from voiceharness.doubles.log import CallLog
from voiceharness.events import CallEnded

if TYPE_CHECKING:
    from collections.abc import Callable

    from voiceharness.events import UserItem

__all__ = ["CrashingAgent", "DoubleAgent", "EchoAgent", "SilentAgent"]


class DoubleAgent(PhoneAgent):
    """An agent double: it keeps a log of every call, and stays until the user's side ends it.

    A subclass says how it reacts to what comes (``reaction``) and what it does by itself (``act``). ``logs`` has one
    entry for each call, in the order in which they were answered.
    """

    def __init__(self) -> None:
        self.logs: list[CallLog] = []

    @property
    def log(self) -> CallLog:
        """The log of the latest call."""
        return self.logs[-1]

    def reaction(self, call: AgentCall) -> Callable[[UserItem], None]:
        """Return the function that gets everything from the user's side of this call; the default ignores it."""
        return lambda _item: None

    async def act(self, call: AgentCall) -> None:
        """Do what the agent does by itself; it is cancelled when the user's side ends the call."""

    async def answer(self, call: AgentCall) -> None:
        """Serve one call."""
        over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._listen(call, over)
        acting = asyncio.create_task(self.act(call), name=f"{type(self).__name__} acts")
        try:
            await asyncio.wait([acting, over], return_when=asyncio.FIRST_COMPLETED)
            if acting.done():
                acting.result()
                await over
        finally:
            acting.cancel()
            await asyncio.wait([acting])

    def _listen(self, call: AgentCall, over: asyncio.Future[None]) -> None:
        log = CallLog.of(call)
        self.logs.append(log)
        react = self.reaction(call)

        def take(item: UserItem) -> None:
            log.note(call, item)
            react(item)
            if isinstance(item, CallEnded) and not over.done():
                over.set_result(None)

        call.listen(take)


class SilentAgent(DoubleAgent):
    """Answers and says nothing. With ``hang_up_after`` seconds it ends the call itself."""

    def __init__(self, *, hang_up_after: float | None = None) -> None:
        super().__init__()
        self.hang_up_after = hang_up_after

    async def act(self, call: AgentCall) -> None:
        """Wait, and hang up if it is to."""
        if self.hang_up_after is not None:
            await call.clock.sleep(self.hang_up_after)
            call.hang_up("said nothing")


class EchoAgent(DoubleAgent):
    """Sends back what it hears, ``delay`` seconds after it came."""

    def __init__(self, *, delay: float = 0.0) -> None:
        super().__init__()
        self.delay = delay

    def reaction(self, call: AgentCall) -> Callable[[UserItem], None]:
        """Send audio back when its time has come."""
        delay_ns = round(self.delay * NS)

        def echo(item: UserItem) -> None:
            if not isinstance(item, AudioChunk):
                return
            back = replace(item, position=None, at_ns=None)
            if delay_ns:
                call.clock.call_at_ns(call.clock.now_ns() + delay_ns, lambda: call.send(back))
            else:
                call.send(back)

        return echo


class CrashingAgent(DoubleAgent):
    """Raises ``error`` after some seconds of the call."""

    def __init__(self, error: Exception, *, after: float = 0.0) -> None:
        super().__init__()
        self.error = error
        self.after = after

    async def act(self, call: AgentCall) -> None:
        """Wait and raise."""
        await call.clock.sleep(self.after)
        raise self.error
