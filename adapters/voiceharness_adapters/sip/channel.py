"""The worker's end of the socket pair, and the only clock a worker reads.

Two threads of its own keep the thread that drives the SIP library free: one reads commands and frames, one writes what
was queued. ``tell`` and ``heard`` may be called from any thread and never wait. To wake the writing thread costs more
than what it writes, so the ticks of several calls that come together are written together.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from queue import SimpleQueue
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
        self._outgoing: deque[bytes] = deque()
        self._wake: SimpleQueue[bool] = SimpleQueue()
        self._writer = threading.Thread(target=self._write, name="channel writer", daemon=True)
        self._reader = threading.Thread(target=self._read, name="channel reader", daemon=True)

    def open(self) -> None:
        """Start to read and write."""
        self._writer.start()
        self._reader.start()

    def finish(self) -> None:
        """Write what is queued and stop writing."""
        self._wake.put(False)
        self._writer.join(1.0)

    def next_command(self) -> dict[str, Any] | None:
        """Return the next command, or None if there is none now."""
        return self._commands.popleft() if self._commands else None

    def tell(self, event: str, **fields: object) -> None:
        """Send an event."""
        self._send(encode_json({"event": event, "at_ns": now_ns(), **fields}))

    def answer(self, number: int, **fields: object) -> None:
        """Send the answer to a command."""
        self._send(encode_json({"answer": number, **fields}))

    def heard(self, call: int, tick: int, sent: int, at_ns: int, pcm: bytes, *, more: bool = False) -> None:
        """Send one tick; with ``more`` it waits for what is sent next."""
        message = encode_heard(call, tick, sent, at_ns, pcm)
        if more:
            self._outgoing.append(message)
        else:
            self._send(message)

    def send_waiting(self) -> None:
        """Send what waited for more, if nothing more came."""
        if self._outgoing:
            self._wake.put(True)

    def _send(self, message: bytes) -> None:
        self._outgoing.append(message)
        self._wake.put(True)

    def _write(self) -> None:
        goes_on = True
        try:
            while goes_on:
                goes_on = self._wake.get()
                if waiting := self._take_waiting():
                    self._link.sendall(waiting)
        except OSError:
            self.closed.set()

    def _take_waiting(self) -> bytes:
        """Take all that is to be written; a deque's single operations are atomic."""
        return b"".join(self._outgoing.popleft() for _ in range(len(self._outgoing)))

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
