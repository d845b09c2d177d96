"""A scripted transport served as a websocket, on the loopback interface, for real clients of the OpenAI Realtime API.

Script, scenario and checks are those of the transport: ``server.transport.run_scenario(...)``. A client that connects
makes it connect, what the client sends are its calls, and what the script emits goes out as server events. What the
provider acknowledges by itself (session, items, commits) is acknowledged here too, and what breaks its rules is
refused: such an event gets an error event, is kept in ``refusals``, and never reaches the script.

Trouble to order: ``emit(RawEvent(data="{no json"))`` sends any text as it is, ``delay_next_frame`` holds everything
back, ``transport.disconnect()`` closes in good order, and ``transport.disconnect(error)`` cuts the connection, or
closes it with the code of a ``WireClose``. A connect that the script fails is refused with HTTP status 503.

Sockets need real time. Needs the extra ``wire``.
"""

from __future__ import annotations

import itertools
import json
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from voiceharness.clock import LoopClock
from voiceharness.errors import MissingExtraError
from voiceharness.listening import stop_listening
from voiceharness.scripted.errors import ScriptValueError
from voiceharness.scripted.forwarding import ForwardingTransport, TransportOptions
from voiceharness.scripted.inbound import ConnectionChangeEvent, RawEvent
from voiceharness.scripted.wire.frames import ServerEvent, ServerEvents
from voiceharness.scripted.wire.provider import Event, ProviderSession, Refusal
from voiceharness.scripted.wire.requests import call_transport, connect_options

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self, Unpack

    from websockets.asyncio.server import Server, ServerConnection
    from websockets.http11 import Request, Response

    from voiceharness.scripted.inbound import EventLike

__all__ = ["RealtimeWireServer", "WireClose", "WireTransport"]

HOST: Final = "127.0.0.1"


class WireClose(Exception):  # noqa: N818 - an order to close, given where an error is expected; nobody raises it
    """Closes the websocket with this code and reason, when it is what ``disconnect`` is given."""

    def __init__(self, code: int, reason: str = "") -> None:
        super().__init__(code, reason)
        self.code = code
        self.reason = reason


class WireTransport(ForwardingTransport):
    """A scripted transport that remembers with which error it was disconnected."""

    lost_with: BaseException | None = None

    def disconnect(self, error: BaseException | None = None) -> None:
        """Lose the connection: close in good order, or as the error says."""
        self.lost_with = error
        super().disconnect(error)


class RealtimeWireServer:
    """Serves one client at a time; ``async with RealtimeWireServer() as server``, then ``server.url``.

    The options are those of a scripted transport. ``received`` and ``sent`` are the events that went over the wire.
    """

    def __init__(self, **options: Unpack[TransportOptions]) -> None:
        self.transport = WireTransport(self._send, **options)
        self.received: list[Event] = []
        self.sent: list[Event | str | bytes] = []
        self.refusals: list[Refusal] = []
        self._server: Server | None = None
        self._connection: ServerConnection | None = None
        self._provider = ProviderSession()
        self._events = ServerEvents(self._provider)
        self._numbers = itertools.count(1)
        self._delay = 0.0

    async def __aenter__(self) -> Self:
        try:
            from websockets.asyncio.server import serve
        except ImportError as error:
            raise MissingExtraError("the package websockets is not installed", extra="wire") from error
        self._server = await serve(self._talk, HOST, 0, process_request=self._admit, max_size=None, ping_interval=None)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._server is not None:
            await stop_listening(self._server)
            await self._server.wait_closed()

    @property
    def url(self) -> str:
        """Where clients connect."""
        if self._server is None:
            raise ScriptValueError("the server is not running; enter it with `async with`")
        port = next(iter(self._server.sockets)).getsockname()[1]
        return f"ws://{HOST}:{port}/v1/realtime"

    def received_of(self, event_type: str) -> list[Event]:
        """Return the client's events of a type so far."""
        return [event for event in self.received if event.get("type") == event_type]

    def audio_ms(self, item_id: str) -> float:
        """Return how much audio of an item was sent: where a truncation may be at the most."""
        return self._provider.audio_ms(item_id)

    def delay_next_frame(self, seconds: float) -> None:
        """Hold the next frame back, and with it everything behind it."""
        self._delay = seconds

    # The client's side

    async def _admit(self, connection: ServerConnection, request: Request) -> Response | None:
        """Connect the transport before the websocket opens; refuse the client if the script does."""
        if self.transport.status != "disconnected":
            return connection.respond(HTTPStatus.CONFLICT, "one client at a time\n")
        self.transport.lost_with = None
        try:
            await self.transport.connect(**connect_options(request.path, dict(request.headers.raw_items())))
        except Exception:  # the script's, which the run knows; the client is told what a client is told
            return connection.respond(HTTPStatus.SERVICE_UNAVAILABLE, "the script refuses the connection\n")
        return None

    async def _talk(self, connection: ServerConnection) -> None:
        from websockets.exceptions import ConnectionClosed

        self._connection = connection
        self._provider = ProviderSession()
        self._events = ServerEvents(self._provider)
        session = {"type": "realtime", "object": "realtime.session", "id": "session-1", "model": "scripted"}
        self.transport.forward(ServerEvent({"type": "session.created", "session": session}))
        try:
            async for message in connection:
                self._receive(message)
        except ConnectionClosed:
            pass  # however it ended, the client is gone
        finally:
            self._connection = None
            self._hang_up()

    def _hang_up(self) -> None:
        try:
            self.transport.close()
        except Exception as error:  # the script's, about a close that nobody here can be told of
            self.transport.forward(ServerEvent(_scripted_failure(error, {})))

    def _receive(self, message: str | bytes) -> None:
        event = _parse(message)
        if isinstance(event, Refusal):
            self._refuse(event)
            return
        self.received.append(event)
        answer = self._provider.receive(event)
        if isinstance(answer, Refusal):
            self._refuse(answer)
            return
        for acknowledgement in answer:
            self.transport.forward(ServerEvent(acknowledgement))
        try:
            call_transport(self.transport, event)
        except Exception as error:  # an injected failure, or a mismatch that the run knows of; the client is told
            self.transport.forward(ServerEvent(_scripted_failure(error, event)))

    def _refuse(self, refusal: Refusal) -> None:
        self.refusals.append(refusal)
        self.transport.forward(ServerEvent(refusal.as_event()))

    # The script's side

    async def _send(self, event: EventLike) -> None:
        if isinstance(event, ConnectionChangeEvent) and event.status == "disconnected":
            await self._end()
        elif isinstance(event, RawEvent):
            if isinstance(event.data, dict):
                self._provider.note(event.data)
            await self._write(event.data)
        elif self._connection is not None:
            for body in self._events.of(event):
                self._provider.note(body)
                await self._write({"event_id": f"event-{next(self._numbers)}", **body})

    async def _write(self, frame: Event | str | bytes) -> None:
        from websockets.exceptions import ConnectionClosed

        delay, self._delay = self._delay, 0.0
        if delay:
            await LoopClock().sleep(delay)
        connection = self._connection
        if connection is None:
            return
        self.sent.append(frame)
        try:
            await connection.send(frame if isinstance(frame, (str, bytes)) else json.dumps(frame))
        except ConnectionClosed:
            return  # the client went while it was being told something

    async def _end(self) -> None:
        """Close the websocket as the script has it; nothing to do if the client was first."""
        connection, self._connection = self._connection, None
        if connection is None:
            return
        error = self.transport.lost_with
        if isinstance(error, WireClose):
            await connection.close(error.code, error.reason)
        elif error is not None:
            connection.transport.abort()
        else:
            await connection.close()


def _parse(message: str | bytes) -> Event | Refusal:
    try:
        event: Any = json.loads(message)
    except ValueError:
        return Refusal("invalid_json", "the frame is not JSON", event_type="")
    if isinstance(event, dict) and isinstance(event.get("type"), str):
        return event
    return Refusal("invalid_event", "the frame is no object with a type", event_type="")


def _scripted_failure(error: Exception, event: Event) -> Event:
    said = {"type": "server_error", "code": "scripted_failure", "message": type(error).__name__}
    return {"type": "error", "error": {**said, "param": None, "event_id": event.get("event_id")}}
