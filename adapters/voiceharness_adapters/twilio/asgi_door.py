"""The way to an ASGI application in this process: webhook and websocket without a socket, in real or virtual time.

Theory of operation. The application is called as a server calls it (ASGI 3.0): ``lifespan`` around the call, ``http``
for each request, ``websocket`` for the stream. What we send is waiting in the application's ``receive`` at once; what
it sends is handed on inside its own ``send``. Nothing leaves the event loop, so virtual time follows all of it.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, MutableMapping
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias
from urllib.parse import unquote, urlsplit

from voiceharness.clock import LoopClock
from voiceharness.errors import (
    AgentCrashedError,
    CallRejectedError,
    ConnectError,
    RemoteProtocolError,
    VirtualTimeError,
    VoiceHarnessError,
)
from voiceharness_adapters.twilio.door import MAX_ANSWER, TIMEOUT, Closed, Headers, HttpAnswer, StreamListener

if TYPE_CHECKING:
    from voiceharness.clock import Clock

__all__ = ["AsgiApplication", "AsgiDoor", "AsgiStream"]

Event: TypeAlias = MutableMapping[str, Any]  # Any: ASGI's events have values of many types
AsgiApplication: TypeAlias = Callable[
    [MutableMapping[str, Any], Callable[[], Awaitable[Event]], Callable[[Event], Awaitable[None]]], Awaitable[None]
]

logger = logging.getLogger(__name__)

ASGI: Final = {"version": "3.0", "spec_version": "2.4"}
CLIENT: Final = ("192.0.2.1", 40000)
LIFESPAN_TIMEOUT: Final = 10.0
FINISH_TIMEOUT: Final = 1.0
MOST_IN_A_TURN: Final = 100_000
"""Messages of an application in one turn of the loop: half an hour of audio, frame by frame."""

TOLD: Final = (b"content-type", b"location")
"""Of an answer's headers."""


class AsgiDoor:
    """An application in the same loop."""

    def __init__(self, app: AsgiApplication) -> None:
        self._app = app
        self._clock = LoopClock()
        self._lifespan: _Lifespan | None = None
        self._streams: list[AsgiStream] = []

    async def request(self, method: str, url: str, headers: Headers, body: bytes) -> HttpAnswer:
        """Call the application with one request."""
        scope = {**_scope("http", url, headers), "method": method, "state": await self._started()}
        exchange = _Exchange(body)
        blocking = (
            f"the application answered {scope['path']} in a thread, which virtual time cannot follow: make the "
            "endpoint `async def`, or run in real time (--real)"
        )
        try:
            with self._clock.explaining(blocking):
                async with asyncio.timeout(TIMEOUT) as patience:
                    await self._app(scope, exchange.receive, exchange.send)
        except (Exception, SystemExit) as error:  # supervision point: the agent's own code
            if patience.expired():
                raise ConnectError(f"the webhook {url} did not answer within {TIMEOUT:g} s") from error
            if exchange.too_big:
                raise ConnectError(f"the webhook {url} answers with more than {MAX_ANSWER} bytes") from error
            raise _crash(error, f"the webhook {url}") from error
        return exchange.answer(url)

    async def open_stream(self, url: str, headers: Headers, listener: StreamListener) -> AsgiStream:
        """Call the application with a websocket and wait until it accepts."""
        scope = {**_scope("websocket", url, headers), "subprotocols": [], "state": await self._started()}
        stream = AsgiStream(self._app, scope, listener, self._clock)
        self._streams.append(stream)
        try:
            async with asyncio.timeout(TIMEOUT):
                await stream.accepted()
        except TimeoutError as error:
            raise ConnectError(f"{url} did not answer within {TIMEOUT:g} s") from error
        return stream

    async def close(self) -> None:
        """End every stream, then the application's lifespan."""
        for stream in self._streams:
            stream.close(1001)
            await stream.wait_closed(FINISH_TIMEOUT)
        if self._lifespan is not None:
            await self._lifespan.shutdown()
            self._lifespan = None

    async def _started(self) -> dict[str, Any]:
        """Start the application, once; return what it keeps for its requests."""
        if self._lifespan is None:
            self._lifespan = _Lifespan(self._app)
            await self._lifespan.startup()
        return dict(self._lifespan.state)


class AsgiStream:
    """A websocket whose far side is a task in the same loop."""

    def __init__(
        self, app: AsgiApplication, scope: MutableMapping[str, Any], listener: StreamListener, clock: Clock
    ) -> None:
        self._loop = loop = asyncio.get_running_loop()
        self.late_messages = 0
        self._url = scope["path"]
        self._listener = listener
        self._clock = clock
        self._inbox: deque[Event] = deque([{"type": "websocket.connect"}])
        self._waiter: asyncio.Future[None] | None = None
        self._answer: asyncio.Future[None] = loop.create_future()
        self._closed: Closed | None = None
        self._told = False
        self._sent_in_turn = 0
        self._task = loop.create_task(self._serve(app, scope), name="the agent's websocket")

    async def accepted(self) -> None:
        """Wait for the application's answer to the handshake."""
        try:
            await self._answer
        except BaseException:
            self._told = True  # there never was a stream to tell of
            self._task.cancel()
            raise

    def send(self, message: str | bytes) -> bool:
        """Put a message where the application receives it."""
        if self._closed is not None:
            return False
        self._deliver({"type": "websocket.receive", "text" if isinstance(message, str) else "bytes": message})
        return True

    def close(self, code: int = 1000, reason: str = "") -> None:
        """Tell the application that the far side has closed."""
        if self._closed is None:
            self._closed = Closed(code, reason)
            self._deliver({"type": "websocket.disconnect", "code": code, "reason": reason})

    async def wait_closed(self, timeout: float) -> bool:
        """Wait for the application's task; one that does not end in time is cancelled."""
        await asyncio.wait([self._task], timeout=timeout)
        finished = self._task.done()
        if not finished:
            self._task.cancel()
            await asyncio.wait([self._task], timeout=timeout)
        return finished

    # The application's face

    async def _serve(self, app: AsgiApplication, scope: MutableMapping[str, Any]) -> None:
        try:
            await app(scope, self._receive, self._send)
        except (Exception, SystemExit) as error:  # supervision point: the agent's own code
            self._over(Closed(1011, "the agent's code raised", _crash(error, f"the stream {self._url}")))
        else:
            self._over(Closed(1006, "the application returned without closing"))
        finally:
            if not self._answer.done():
                self._answer.set_exception(ConnectError(f"the application left {self._url} without an answer"))
                self._answer.exception()  # whoever waited for it may be gone

    async def _receive(self) -> Event:
        while not self._inbox:
            self._waiter = self._loop.create_future()
            await self._waiter
        return self._inbox.popleft()

    async def _send(self, event: Event) -> None:
        kind = event["type"]
        if not self._answer.done():
            self._handshake(kind, event)
        elif self._closed is not None:
            self.late_messages += kind == "websocket.send"
            raise OSError("the far side has closed this websocket")
        elif kind == "websocket.send":
            self._count()
            text = event.get("text")
            self._listener.stream_message(event["bytes"] if text is None else text, self._clock.now_ns())
        elif kind == "websocket.close":
            self._over(Closed(event.get("code", 1000), event.get("reason") or ""))

    def _count(self) -> None:
        """Stop an application that sends without end and lets nothing else happen meanwhile, time included."""
        if not self._sent_in_turn:
            self._loop.call_soon(self._end_turn)
        self._sent_in_turn += 1
        if self._sent_in_turn > MOST_IN_A_TURN:
            what = f"the agent sent more than {MOST_IN_A_TURN} messages in a row, and let nothing happen meanwhile"
            self._over(Closed(1008, "too many messages", RemoteProtocolError(what)))
            raise asyncio.CancelledError(what)

    def _end_turn(self) -> None:
        self._sent_in_turn = 0

    def _handshake(self, kind: str, event: Event) -> None:
        if kind == "websocket.accept":
            self._answer.set_result(None)
            return
        status = event.get("status", 403) if kind == "websocket.http.response.start" else 403
        error = CallRejectedError(f"the agent refused the stream {self._url} with HTTP {status}", code=status)
        self._answer.set_exception(error)

    def _over(self, closed: Closed) -> None:
        if not self._answer.done():
            self._answer.set_exception(closed.error or ConnectError(f"no stream at {self._url}: {closed.reason}"))
        elif not self._told:
            self._told = True
            self._closed = self._closed or closed
            self._listener.stream_closed(closed)

    def _deliver(self, event: Event) -> None:
        self._inbox.append(event)
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


class _Exchange:
    """One HTTP request and its answer."""

    def __init__(self, body: bytes) -> None:
        self._request: Event | None = {"type": "http.request", "body": body, "more_body": False}
        self._status: int | None = None
        self._headers: dict[bytes, bytes] = {}
        self._body = bytearray()

    @property
    def too_big(self) -> bool:
        """Whether the answer has more bytes than are taken."""
        return len(self._body) > MAX_ANSWER

    async def receive(self) -> Event:
        request, self._request = self._request, None
        return request or {"type": "http.disconnect"}

    async def send(self, event: Event) -> None:
        if event["type"] == "http.response.start":
            self._status = event["status"]
            self._headers = {bytes(name).lower(): bytes(value) for name, value in event.get("headers", ())}
        elif event["type"] == "http.response.body":
            self._body += event.get("body", b"")
            if self.too_big:
                raise OSError("the far side takes no more of this answer")

    def answer(self, url: str) -> HttpAnswer:
        if self._status is None:
            raise ConnectError(f"the application did not answer {url}")
        content_type, location = (self._headers.get(name, b"").decode("latin-1") for name in TOLD)
        return HttpAnswer(self._status, content_type, bytes(self._body), location)


class _Lifespan:
    """The application's start and end; an application that does not know ``lifespan`` does without."""

    def __init__(self, app: AsgiApplication) -> None:
        loop = asyncio.get_running_loop()
        self.state: dict[str, Any] = {}  # what the application keeps there, each of its requests finds
        self._events: asyncio.Queue[Event] = asyncio.Queue()
        self._started: asyncio.Future[None] = loop.create_future()
        self._task = loop.create_task(self._run(app), name="the agent's lifespan")

    async def _run(self, app: AsgiApplication) -> None:
        try:
            await app({"type": "lifespan", "asgi": ASGI, "state": self.state}, self._events.get, self._send)
        except VirtualTimeError as error:
            self._resolve(VirtualTimeError(str(error)))
        except (Exception, SystemExit) as error:  # supervision point; one that knows no lifespan raises anything at all
            logger.debug("the application has no lifespan, or failed in it: %r", error)
        finally:
            self._resolve()

    async def _send(self, event: Event) -> None:
        if event["type"] == "lifespan.startup.failed":
            message = event.get("message") or "no message"
            self._resolve(ConnectError(f"the agent's application failed to start: {message}"))
        else:
            self._resolve()

    def _resolve(self, error: VoiceHarnessError | None = None) -> None:
        if self._started.done():
            return
        if error is None:
            self._started.set_result(None)
        else:
            self._started.set_exception(error)

    async def startup(self) -> None:
        self._events.put_nowait({"type": "lifespan.startup"})
        await self._started

    async def shutdown(self) -> None:
        self._events.put_nowait({"type": "lifespan.shutdown"})
        await asyncio.wait([self._task], timeout=LIFESPAN_TIMEOUT)
        self._task.cancel()
        await asyncio.wait([self._task], timeout=LIFESPAN_TIMEOUT)


def _scope(kind: Literal["http", "websocket"], url: str, headers: Headers) -> dict[str, Any]:
    parts = urlsplit(url)
    default_port = 443 if parts.scheme in ("https", "wss") else 80
    wire = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]
    return {
        "type": kind,
        "asgi": ASGI,
        "http_version": "1.1",
        "scheme": parts.scheme,
        "path": unquote(parts.path or "/"),
        "raw_path": (parts.path or "/").encode("ascii", "replace"),
        "query_string": parts.query.encode("ascii", "replace"),
        "root_path": "",
        "headers": [(b"host", parts.netloc.encode("latin-1", "replace")), *wire],
        "client": CLIENT,
        "server": (parts.hostname or "localhost", parts.port or default_port),
    }


def _crash(error: BaseException, where: str) -> Exception:
    if isinstance(error, VirtualTimeError):
        return VirtualTimeError(str(error))
    crash = AgentCrashedError(f"the agent's code raised {type(error).__name__} at {where}: {error}")
    crash.__cause__ = error
    return crash
