"""The status of a scripted connection, and who owns it.

Theory of operation
-------------------
::

    disconnected --open--> connecting ----> connected --close--> disconnecting ----> disconnected
                              any of them --drop (the far side)--> disconnected

``open``, an effective ``close`` and ``drop`` each begin a new *generation*. Recording a call runs matchers, announcing
a status runs listeners, and either may begin another operation. So after each of them an operation looks whether its
generation is still the current one. If not, it has been overtaken: it leaves the status to its successor.

Listeners hear connecting, connected and disconnected; a connection that is being closed announces nothing. An open that
fails while it is current announces only ``disconnected``. From ``connected`` to the end of its announcement a
connection is *provisional*: a close that fails in that span does not bring it back.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from voiceharness.scripted.errors import ScriptedRealtimeConnectionSupersededError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from voiceharness.scripted.inbound import ConnectionStatus
    from voiceharness.scripted.protocol import TransportStatus

__all__ = ["Connection"]

T = TypeVar("T")


class Connection:
    """A status machine; ``announce`` tells the listeners, and may raise."""

    def __init__(self, announce: Callable[[ConnectionStatus], object]) -> None:
        self.status: TransportStatus = "disconnected"
        self._announce = announce
        self._generation = 0
        self._provisional: int | None = None
        self._hanging: list[asyncio.Future[None]] = []

    def open(self, record: Callable[[], T]) -> Generator[None, None, T]:
        """Open the connection; returns what ``record`` returned.

        A generator that stops once, when the call was recorded and ``connecting`` announced, which is where the
        network would take its time.

        Raises:
            ScriptedRealtimeConnectionSupersededError: if another operation overtook this one.
            BaseException: what ``record`` or a listener raised.
        """
        mine = self._advance()
        self.status = "connecting"
        try:
            recorded = record()
            self._must_own(mine, "connecting")
            self._announce("connecting")
            self._must_own(mine, "connecting")
            yield
            self._must_own(mine, "connecting")
            self.status = "connected"
            self._provisional = mine
            self._announce("connected")
            self._must_own(mine, "connected")
            self._provisional = None
        except BaseException:
            if self._generation == mine:
                self._advance()
                self._give_up()
            raise
        return recorded

    def close(self, record: Callable[[], T]) -> T | None:
        """Close the connection; returns what ``record`` returned, or None if there was nothing to do.

        If ``record`` raises, an established connection stays connected, and another one becomes disconnected.

        Raises:
            BaseException: what ``record`` raised, or a listener; the latter leaves the connection closed.
        """
        if self.status == "disconnected":
            return None
        established = self.status == "connected" and self._provisional != self._generation
        mine = self._advance()
        self.status = "disconnecting"
        try:
            recorded = record()
        except BaseException:
            if not self._owns(mine, "disconnecting"):
                raise
            if established:
                self.status = "connected"
            else:
                self._give_up()
            raise
        if not self._owns(mine, "disconnecting"):
            return None
        self.status = "disconnected"
        self._announce("disconnected")
        return recorded

    def drop(self) -> None:
        """Lose the connection, by the far side's doing. An open under way is overtaken in any case."""
        self._advance()
        if self.status != "disconnected":
            self.status = "disconnected"
            self._announce("disconnected")

    async def overtaken(self) -> None:
        """Wait until another operation begins."""
        hanging = asyncio.get_running_loop().create_future()
        self._hanging.append(hanging)
        await hanging

    def _advance(self) -> int:
        self._generation += 1
        hanging, self._hanging = self._hanging, []
        for waiter in hanging:
            if not waiter.done():
                waiter.set_result(None)
        return self._generation

    def _owns(self, generation: int, status: TransportStatus) -> bool:
        return self._generation == generation and self.status == status

    def _must_own(self, generation: int, status: TransportStatus) -> None:
        if not self._owns(generation, status):
            raise ScriptedRealtimeConnectionSupersededError

    def _give_up(self) -> None:
        self.status = "disconnected"
        with suppress(BaseException):  # the failure under way is the one to report
            self._announce("disconnected")
