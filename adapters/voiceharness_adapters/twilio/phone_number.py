"""A Twilio number of ours: a server that answers the carrier's webhooks and streams, and calls that are placed.

Every request must bear the carrier's signature over the public URL, and name a call by a secret (nonce) that was made
for it; whatever does not is refused before a session exists. A call that comes in goes to the adapter that waits for
it; one that nobody waits for is rejected.
"""

from __future__ import annotations

import logging
import secrets
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, urlsplit

from voiceharness.adapter import Endpoint, InboundCall
from voiceharness.clock import NS, LoopClock
from voiceharness.errors import ConnectError, OptionError, RemoteProtocolError
from voiceharness.protocols.media_streams.signature import SIGNATURE_HEADER, is_signed
from voiceharness.protocols.media_streams.twiml import LOOPBACK, connect_stream
from voiceharness_adapters.twilio.phone_session import MAX_MESSAGE, PhoneSession
from voiceharness_adapters.twilio.rest import CallsApi
from voiceharness_adapters.twilio.urls import WEBHOOK_SCHEMES, why_no_url

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping

    Event = MutableMapping[str, Any]

__all__ = ["TwilioNumber"]

logger = logging.getLogger(__name__)

BETWEEN_CALLS: Final = 1.0
"""Seconds between two calls that are placed: more, the carrier would only queue."""

REJECT: Final = "<Response><Reject/></Response>"
NOTHING: Final = "<Response/>"


class TwilioNumber(Endpoint):
    """A number with its server, for any number of calls.

    ``public_url`` (https) is where the carrier reaches the server that listens on ``listen`` and ``port``; bringing it
    there (a proxy, a tunnel) is not done here. ``api_url`` replaces the carrier's REST interface.
    """

    def __init__(
        self,
        *,
        account: str,
        token: str,
        public_url: str,
        listen: str = "127.0.0.1",
        port: int = 8080,
        api_url: str | None = None,
    ) -> None:
        super().__init__()
        if wrong := why_no_url(public_url, WEBHOOK_SCHEMES):
            raise OptionError(f"public_url {wrong}")
        parts = urlsplit(public_url)
        if parts.scheme != "https" and parts.hostname not in LOOPBACK:
            raise OptionError(f"public_url is an https:// address that the carrier can reach, not {public_url!r}")
        self.api = CallsApi(account, token, api_url)
        self.public_url = public_url.rstrip("/")
        self.port = port
        self._token = token
        self._listen = listen
        self._sessions: dict[str, PhoneSession] = {}
        self._ready = secrets.token_urlsafe(16)
        self._stack = AsyncExitStack()
        self._next_dial_ns = 0

    # The endpoint

    async def open(self) -> None:
        """Listen, and make sure that the public URL leads here.

        Raises:
            ConnectError: if it does not, or the port is taken.
        """
        from voiceharness_adapters.twilio.asgi_server import serve_asgi

        server = serve_asgi(self, host=self._listen, port=self.port, max_message=MAX_MESSAGE)
        try:
            self.port = await self._stack.enter_async_context(server)
        except OSError as error:
            raise ConnectError(f"cannot listen on {self._listen}:{self.port}: {error}") from error
        await self._check_public_url()

    async def _check_public_url(self) -> None:
        from voiceharness_adapters.twilio.network_door import NetworkDoor

        url = f"{self.public_url}/ready"
        try:
            answer = await NetworkDoor().request("GET", url, [], b"")
        except ConnectError as error:
            await self.close()
            raise ConnectError(f"public_url does not lead to this server: {error}") from error
        if answer.body.decode("utf-8", "replace") != self._ready:
            await self.close()
            raise ConnectError(f"public_url does not lead to this server: {url} answers HTTP {answer.status}, not ours")

    async def close(self) -> None:
        """Stop listening."""
        await self._stack.aclose()
        await self.api.close()

    # Calls

    def expect(self) -> PhoneSession:
        """Make the session of a call that is going to be placed."""
        session = PhoneSession(secrets.token_urlsafe(16), LoopClock())
        self._sessions[session.nonce] = session
        return session

    def forget(self, session: PhoneSession) -> None:
        """Refuse what may still come for a call."""
        self._sessions.pop(session.nonce, None)

    async def wait_for_turn(self) -> None:
        """Wait until another call may be placed."""
        clock = LoopClock()
        turn_ns = max(self._next_dial_ns, clock.now_ns())
        self._next_dial_ns = turn_ns + round(BETWEEN_CALLS * NS)
        await clock.sleep_until_ns(turn_ns)

    def voice_url(self, session: PhoneSession) -> str:
        """Return where the carrier asks what to do with a call."""
        return f"{self.public_url}/voice/{session.nonce}"

    def status_url(self, session: PhoneSession) -> str:
        """Return where the carrier says how a call stands."""
        return f"{self.public_url}/status/{session.nonce}"

    def twiml(self, session: PhoneSession) -> str:
        """Return the document that connects a call to its stream here."""
        url = "ws" + self.public_url.removeprefix("http") + f"/media/{session.nonce}"
        return connect_stream(url, {"nonce": session.nonce})

    # The server: an ASGI application

    async def __call__(
        self, scope: Event, receive: Callable[[], Awaitable[Event]], send: Callable[[Event], Awaitable[None]]
    ) -> None:
        """Serve one connection of the carrier."""
        kind, _, nonce = scope["path"].strip("/").partition("/")
        if scope["type"] == "websocket":
            await self._media(scope, nonce, receive, send)
        elif kind == "ready" and scope["method"] == "GET":
            await _respond(send, 200, self._ready)
        else:
            form = parse_qsl((await receive()).get("body", b"").decode("utf-8", "replace"), keep_blank_values=True)
            await _respond(send, *self._answer(kind, nonce, form, scope))

    def _answer(self, kind: str, nonce: str, form: list[tuple[str, str]], scope: Event) -> tuple[int, str]:
        if not self._is_signed(scope, self.public_url, form):
            logger.warning("a request to /%s was refused: its signature is missing or wrong", kind)
            return 403, ""
        session = self._sessions.get(nonce)
        fields = dict(form)
        if kind == "voice" and not nonce:
            return 200, self._take_inbound(fields)
        if session is None:
            return 404, ""
        session.call = fields.get("CallSid", session.call)
        if kind == "status":
            session.status(fields.get("CallStatus", ""))
            return 200, NOTHING
        return (200, self.twiml(session)) if kind == "voice" else (404, "")

    def _take_inbound(self, fields: dict[str, str]) -> str:
        session = self.expect()
        session.call = fields.get("CallSid", "")
        if self.offer(InboundCall(session, identity=fields.get("To", ""))):
            return self.twiml(session)
        self.forget(session)
        return REJECT

    def decline(self, call: InboundCall) -> None:
        """Refuse a call whose taker is gone: its stream is refused when it comes, which ends it."""
        self.forget(call.handle)

    async def _media(
        self,
        scope: Event,
        nonce: str,
        receive: Callable[[], Awaitable[Event]],
        send: Callable[[Event], Awaitable[None]],
    ) -> None:
        session = self._sessions.get(nonce)
        if session is None or not self._is_signed(scope, "ws" + self.public_url.removeprefix("http"), []):
            logger.warning("a stream was refused: its call is unknown, or its signature missing or wrong")
            await send({"type": "websocket.close", "code": 1008})
            return
        await receive()
        await send({"type": "websocket.accept"})
        try:
            await session.serve(receive, send)
        except RemoteProtocolError as error:
            logger.warning("%s", error)
            await send({"type": "websocket.close", "code": 1008})

    def _is_signed(self, scope: Event, base: str, form: list[tuple[str, str]]) -> bool:
        given = {bytes(name).lower(): bytes(value).decode("latin-1") for name, value in scope["headers"]}
        query = scope["query_string"].decode("latin-1")
        url = f"{base}{scope['path']}" + (f"?{query}" if query else "")
        return is_signed(given.get(SIGNATURE_HEADER.lower().encode()), self._token, url, form)


async def _respond(send: Callable[[Event], Awaitable[None]], status: int, body: str) -> None:
    content = body.encode()
    headers = [(b"content-type", b"text/xml"), (b"content-length", str(len(content)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})
