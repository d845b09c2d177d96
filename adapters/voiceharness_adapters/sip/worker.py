"""The owner's side of a SIP worker: a process of its own for the library, reached through a socket pair.

Theory of operation. ``start`` runs the child and hands it its settings. Commands are numbered and answered; events and
ticks of a call go to whoever took its number in ``calls``; events of no known call go to ``on_event``. When the child
ends unasked (a SIP library may abort the process it lives in) every waiting command, and every call, gets a typed error
with its last words; nothing else is lost, and the next worker works.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import sys
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from voiceharness import errors
from voiceharness.errors import CallDroppedError, ConnectError
from voiceharness_adapters.sip.wire import Decoder, Frame, Heard, encode_frame, encode_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from voiceharness_adapters.sip.settings import SipSettings

__all__ = ["CallListener", "Event", "SessionBusyError", "SipWorker"]

Event = dict[str, Any]  # Any: what JSON can hold

_LAST_WORDS: Final = 40
"""Lines: a crash tells the stack of every thread."""

_BUFFER: Final = 1 << 20
_ADAPTERS_ROOT: Final = str(Path(__file__).parents[2])

logger = logging.getLogger(__name__)


class SessionBusyError(ConnectError):
    """Something new cannot be offered: another offer of the call, ours or the peer's, is not settled yet."""


class CallListener(Protocol):
    """Who is told about a call."""

    def heard(self, heard: Heard) -> None:
        """Take one tick."""

    def told(self, event: Event) -> None:
        """Take one event."""

    def failed(self, error: CallDroppedError) -> None:
        """Take note that the worker has died."""


class SipWorker(asyncio.Protocol):
    """One worker process and its calls.

    ``address`` is where it is reached, ``port`` what it was or can be told to listen on, ``capacity`` how many calls it
    carries. ``on_death`` gets the reason when it ends unasked.
    """

    def __init__(self, settings: SipSettings, *, start_timeout: float = 20.0, stop_timeout: float = 5.0) -> None:
        """Timeouts are in seconds; a child that outlives ``stop_timeout`` is killed."""
        self.settings = settings
        self.calls: dict[int, CallListener] = {}
        self.on_event: Callable[[Event], None] = lambda _event: None
        self.on_death: Callable[[str], None] = lambda _reason: None
        self.address = ""
        self.port = 0
        self.version = ""
        self.capacity = 0
        self.last_words: deque[str] = deque(maxlen=_LAST_WORDS)
        self._start_timeout = start_timeout
        self._stop_timeout = stop_timeout
        self._decoder = Decoder()
        self._process: asyncio.subprocess.Process | None = None
        self._transport: asyncio.Transport | None = None
        self._listener: asyncio.Task[None] | None = None
        self._waiting: dict[int, asyncio.Future[Event]] = {}
        self._commands = 0
        self._next_call = 2
        self._frames: list[bytes] = []
        self._handing_out = False
        self._closing = False
        self._dead: str | None = None

    @property
    def pid(self) -> int | None:
        """The child's process number, while it is open."""
        return None if self._process is None else self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the child can still take commands."""
        return self._process is not None and self._dead is None and not self._closing

    async def start(self) -> None:
        """Start the child and its endpoint.

        Raises:
            ConnectError: if it cannot be started; the message has the library's reason.
        """
        ours, theirs = socket.socketpair()
        for end in (ours, theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER)
        try:
            with theirs:
                self._process = await self._run(theirs.fileno())
            self._listener = asyncio.create_task(self._listen(self._process), name="SIP worker's last words")
            await asyncio.get_running_loop().create_connection(lambda: self, sock=ours)
            async with asyncio.timeout(self._start_timeout):
                started = await self.ask("start", **self.settings.for_worker())
        except TimeoutError as error:
            await self.close()
            raise ConnectError(f"sip: the worker was not ready in {self._start_timeout:g} s") from error
        except BaseException:
            await self.close()
            raise
        finally:
            if self._transport is None:
                ours.close()
        self.address, self.port = started["address"], started["port"]
        self.version, self.capacity = started["version"], started["calls"]

    async def _run(self, link: int) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "voiceharness_adapters.sip.worker_process", str(link), self.settings.backend),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            pass_fds=[link],
            env=_environment(),
            start_new_session=True,
        )

    def new_call(self, listener: CallListener) -> int:
        """Return a number for a call that is to be dialled."""
        number = self._next_call
        self._next_call += 2
        self.calls[number] = listener
        return number

    async def ask(self, do: str, **fields: object) -> Event:
        """Give a command and return its answer.

        Raises:
            SessionBusyError: another offer of the call is under way.
            ConnectError: if the worker cannot do it, or has died.
        """
        if self._dead is not None or self._transport is None:
            raise ConnectError(f"sip: cannot {do}: {self._dead or 'the worker is not started'}")
        self._commands += 1
        number = self._commands
        answer: asyncio.Future[Event] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        self._transport.write(encode_json({"do": do, "number": number, **fields}))
        try:
            fields = await answer
        finally:
            self._waiting.pop(number, None)
        if "error" in fields:
            error = SessionBusyError if fields.get("busy") else ConnectError
            raise error(f"sip: {self.settings.backend} cannot {do}: {fields['error']}")
        return fields

    def send_frame(self, call: int, tick: int, pcm: bytes) -> None:
        """Give the frame of one tick to come; never waits. Those that answer ticks which came together go together."""
        self._frames.append(encode_frame(call, tick, pcm))
        if not self._handing_out:
            self._send_frames()

    def _send_frames(self) -> None:
        frames = b"".join(self._frames)
        self._frames.clear()
        if frames and self._transport is not None and self._dead is None:
            self._transport.write(frames)

    async def close(self) -> None:
        """Stop the child; kill it when that takes too long. Idempotent, and can be resumed when it was cancelled."""
        process = self._process
        if process is None:
            return
        if self._transport is not None and not self._closing:
            self._transport.write(encode_json({"do": "stop", "number": 0}))
            self._transport.write_eof()
        self._closing = True
        try:
            async with asyncio.timeout(self._stop_timeout):
                await process.wait()
        except TimeoutError:
            logger.warning("the SIP worker %d did not end in %g s and is killed", process.pid, self._stop_timeout)
        finally:
            if process.returncode is None:
                process.kill()
            if self._listener is not None:
                await asyncio.wait({self._listener})
            if self._transport is not None:
                self._transport.close()
            self._process = None

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way to the child."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Hand out what the child sends."""
        self._handing_out = True
        try:
            for message in self._decoder.feed(data):
                if isinstance(message, Heard):
                    if listener := self.calls.get(message.call):
                        listener.heard(message)
                elif not isinstance(message, Frame):
                    self._take(message)
        finally:
            self._handing_out = False
            self._send_frames()

    def eof_received(self) -> bool:
        """Keep our half open; the child's end is seen where it is waited for."""
        return True

    def _take(self, message: Event) -> None:
        if "answer" in message:
            waiting = self._waiting.get(message["answer"])
            if waiting is not None and not waiting.done():
                waiting.set_result(message)
            return
        if message["event"] == "log":
            self.last_words.append(message["text"])
        listener = self.calls.get(message.get("call", 0))
        if listener is not None:
            listener.told(message)
        else:
            self.on_event(message)

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        """Read what the child prints until it ends; then fail what still waits for it."""
        assert process.stderr is not None
        async for line in process.stderr:
            self.last_words.append(line.decode(errors="replace").rstrip())
        code = await process.wait()
        words = " | ".join(self.last_words) or "it said nothing"
        self._dead = f"the worker ended with exit code {code}; last words: {words}"
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(ConnectError(f"sip: {self._dead}"))
        for listener in list(self.calls.values()):
            listener.failed(CallDroppedError(f"sip: {self._dead}"))
        if not self._closing:
            self.on_death(self._dead)


def _environment() -> dict[str, str]:
    """The environment of this process, with these very packages first on the child's path."""
    roots = [_ADAPTERS_ROOT, str(Path(errors.__file__).parents[1])]
    known = os.environ.get("PYTHONPATH")
    return os.environ | {"PYTHONPATH": os.pathsep.join([*roots, known] if known else roots)}
