"""How a server on a socket stops listening, without losing who is just being accepted.

asyncio accepts a connection in one turn of the loop and gives it a transport in the next. Where the server is closed
between the two, the transport refuses its server and the accepted socket stays open, held by nobody, until garbage is
collected. So a server first stops accepting, then lets the loop turn once, and only then is closed.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from voiceharness.clock import LoopClock

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterable

__all__ = ["ListeningServer", "stop_listening"]


class ListeningServer(Protocol):
    """What a server of asyncio and one of websockets have in common."""

    @property
    def sockets(self) -> Iterable[socket.socket]:
        """The listening sockets; none once it is closed."""

    def close(self) -> None:
        """Close the listening sockets."""


async def stop_listening(server: ListeningServer) -> None:
    """Close a server; a connection that was accepted by now has its transport, and is the protocol's to end."""
    loop = asyncio.get_running_loop()
    try:
        for listener in server.sockets:
            with suppress(NotImplementedError):  # a proactor waits for connections, not for readers
                loop.remove_reader(listener.fileno())
        await LoopClock().sleep(0)
    finally:
        server.close()
