"""The calls of a Twilio account, by its REST interface: dial, end, redirect, and what a call cost.

The vendor's client blocks, so each request runs in a thread; the threads end when the account is closed.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeVar

from voiceharness.errors import CallRejectedError, ConnectError, MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["CallsApi", "DialPlan"]

T = TypeVar("T")
API: Final = "https://api.twilio.com"
TIMEOUT: Final = 15.0
THREADS: Final = 8
STATUS_EVENTS: Final = ["initiated", "ringing", "answered", "completed"]


@dataclass(frozen=True, slots=True)
class DialPlan:
    """One call to be placed. ``ring`` and ``limit`` are whole seconds; the carrier ends the call at ``limit``."""

    to: str = field(repr=False)
    number: str = field(repr=False)
    voice_url: str
    status_url: str
    ring: int
    limit: int


class CallsApi:
    """An account's calls. ``api_url`` replaces the vendor's address, for a server that answers the same paths."""

    def __init__(self, account: str, token: str, api_url: str | None = None) -> None:
        self._account = account
        self._token = token
        self._api_url = api_url
        self._threads: ThreadPoolExecutor | None = None
        self._running: set[asyncio.Future[Any]] = set()

    async def close(self) -> None:
        """Wait for requests whose asker has given up, and end the threads."""
        while self._running:
            await asyncio.wait(self._running)
        threads, self._threads = self._threads, None
        if threads is not None:
            threads.shutdown()

    async def dial(self, plan: DialPlan) -> str:
        """Place a call and return its identifier; it is not answered yet.

        Raises:
            CallRejectedError: if the carrier refuses, with the HTTP status.
            ConnectError: if it cannot be reached.
        """
        call = await self._ask(
            lambda client: client.calls.create(
                to=plan.to,
                from_=plan.number,
                url=plan.voice_url,
                method="POST",
                status_callback=plan.status_url,
                status_callback_event=STATUS_EVENTS,
                status_callback_method="POST",
                timeout=plan.ring,
                time_limit=plan.limit,
            )
        )
        return str(call.sid)

    async def complete(self, call: str) -> None:
        """End a call, whatever it is doing; errors as ``dial``."""
        await self._ask(lambda client: client.calls(call).update(status="completed"))

    async def redirect(self, call: str, twiml: str) -> None:
        """Let a call go on with another document; errors as ``dial``."""
        await self._ask(lambda client: client.calls(call).update(twiml=twiml))

    async def cost(self, call: str) -> str:
        """Return what a call cost, or why that is not known yet; errors as ``dial``."""
        found = await self._ask(lambda client: client.calls(call).fetch())
        if found.price is None:
            return f"{found.duration or 0} s; the carrier has not priced it yet"
        return f"{found.duration or 0} s for {str(found.price).removeprefix('-')} {found.price_unit}"

    async def _ask(self, request: Callable[[Any], T]) -> T:  # Any: the vendor's client, imported when it is needed
        try:
            return await asyncio.shield(self._in_thread(lambda: request(self._client)))
        except OSError as error:  # requests' own errors are OSErrors
            raise ConnectError(f"the carrier's REST interface could not be reached: {error}") from error
        except Exception as error:  # the vendor's errors share no importable base without importing the vendor
            status = getattr(error, "status", None)
            if not isinstance(status, int):
                raise
            message = getattr(error, "msg", "no reason given")
            raise CallRejectedError(f"the carrier refuses with HTTP {status}: {message}", code=status) from error

    def _in_thread(self, work: Callable[[], T]) -> asyncio.Future[T]:
        if self._threads is None:
            self._threads = ThreadPoolExecutor(THREADS, "REST requests")
        asked = asyncio.get_running_loop().run_in_executor(self._threads, work)
        self._running.add(asked)
        asked.add_done_callback(self._answered)
        return asked

    def _answered(self, asked: asyncio.Future[Any]) -> None:
        self._running.discard(asked)
        if not asked.cancelled():
            asked.exception()  # its asker may have given up

    @cached_property
    def _client(self) -> Any:
        try:
            from twilio.http.http_client import TwilioHttpClient
            from twilio.rest import Client
        except ImportError as error:
            raise MissingExtraError("real calls need the twilio package", extra="twilio") from error
        http: Any = TwilioHttpClient(timeout=TIMEOUT)
        if self._api_url is not None:
            http = _Elsewhere(http, self._api_url)
        return Client(self._account, self._token, http_client=http)


class _Elsewhere:
    """The vendor's HTTP client, sending what is meant for the vendor's address to another."""

    is_async = False

    def __init__(self, http: Any, base: str) -> None:
        self._http = http
        self._base = base.rstrip("/")

    def request(self, method: str, url: str, *arguments: Any, **options: Any) -> Any:
        return self._http.request(method, url.replace(API, self._base, 1), *arguments, **options)
