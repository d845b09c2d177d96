"""The worker's end of the socket pair, and the only clock a worker reads.

Two threads of its own keep the thread that drives the SIP library free: one reads commands and frames, one writes what
was queued. ``tell`` and ``heard`` may be called from any thread and never wait.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Final

from voiceharness_adapters.sip.wire import Decoder, Frame, encode_heard, encode_json

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

__all__ = ["Channel", "now_ns"]

_READ_SIZE: Final = 1 << 16


def now_ns() -> int:
    """Return the time on the monotonic clock, in nanoseconds: the clock of the owner's event loop, too."""
    return time.monotonic_ns()


class Channel:
    """Messages from and to the owner. ``closed`` is set when the owner has gone.

    ``on_frame`` takes each frame to be sent as it arrives, on the reading thread; ``on_command`` is told that a command
    waits, on that thread too.
    """

    def __init__(self, link: socket.socket) -> None:
        self.closed = threading.Event()
        self.on_frame: Callable[[Frame], None] = lambda _frame: None
        self.on_command: Callable[[], None] = lambda: None
        self._link = link
        self._commands: deque[dict[str, Any]] = deque()  # Any: what JSON can hold
        self._outgoing: SimpleQueue[bytes | None] = SimpleQueue()
        self._writer = threading.Thread(target=self._write, name="channel writer", daemon=True)
        self._reader = threading.Thread(target=self._read, name="channel reader", daemon=True)

    def open(self) -> None:
        """Start to read and write."""
        self._writer.start()
        self._reader.start()

    def finish(self) -> None:
        """Write what is queued and stop writing."""
        self._outgoing.put(None)
        self._writer.join(1.0)

    def next_command(self) -> dict[str, Any] | None:
        """Return the next command, or None if there is none now."""
        return self._commands.popleft() if self._commands else None

    def tell(self, event: str, **fields: object) -> None:
        """Send an event."""
        self._outgoing.put(encode_json({"event": event, "at_ns": now_ns(), **fields}))

    def answer(self, number: int, **fields: object) -> None:
        """Send the answer to a command."""
        self._outgoing.put(encode_json({"answer": number, **fields}))

    def heard(self, call: int, tick: int, sent: int, at_ns: int, pcm: bytes) -> None:
        """Send one tick."""
        self._outgoing.put(encode_heard(call, tick, sent, at_ns, pcm))

    def _write(self) -> None:
        queue, send = self._outgoing, self._link.sendall
        try:
            while (message := queue.get()) is not None:
                send(message + self._queued())
        except OSError:
            self.closed.set()

    def _queued(self) -> bytes:
        """Return what else is queued; a request to stop is put back."""
        parts = []
        try:
            while (message := self._outgoing.get_nowait()) is not None:
                parts.append(message)
            self._outgoing.put(None)
        except Empty:
            pass
        return b"".join(parts)

    def _read(self) -> None:
        decoder = Decoder()
        try:
            while data := self._link.recv(_READ_SIZE):
                for message in decoder.feed(data):
                    if isinstance(message, Frame):
                        self.on_frame(message)
                    elif isinstance(message, dict):
                        self._commands.append(message)
                        self.on_command()
        except OSError:
            pass  # the owner died: what there is to do then is done below
        self.closed.set()
        self.on_command()
