"""What becomes of a call and of its streams, as the carrier posts it to the agent's status callbacks: beside the call.

Each post is a request of its own, signed like the webhook, so nothing says that ``answered`` arrives before the stream
is open, or is dealt with by then. The fields are those of Twilio's pages "Call resource" (``StatusCallback``) and
"TwiML: Stream" (``statusCallback``). What the server answers is not looked at, as the carrier does not: only a status
is kept, for the call's facts.
"""

from __future__ import annotations

import asyncio
from email.utils import format_datetime
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from voiceharness.clock import NS, wall_time
from voiceharness.errors import AgentCrashedError, CallError, VirtualTimeError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from voiceharness.clock import Clock
    from voiceharness_adapters.twilio.door import Door
    from voiceharness_adapters.twilio.identity import CallIdentity
    from voiceharness_adapters.twilio.settings import CarrierLog

__all__ = ["CallProgress", "Callbacks"]

PATIENCE: Final = 2.0
"""Seconds that the end of a call waits for its last post."""


class Callbacks:
    """Posts beside one call. ``broken`` is told if the agent's own code raised at one."""

    def __init__(
        self, door: Door, identity: CallIdentity, *, log: CarrierLog, broken: Callable[[Exception], None]
    ) -> None:
        self._door = door
        self._identity = identity
        self._log = log
        self._broken = broken
        self._posts: list[asyncio.Task[None]] = []

    def post(self, event: str, url: str, form: Mapping[str, str]) -> None:
        """Post a form; nobody waits for it. ``event`` names it in the log."""
        self._posts.append(asyncio.create_task(self._send(event, url, form), name=f"twilio callback {event}"))

    def stream_event(self, event: str, url: str, stream: str, name: str) -> None:
        """Post that a stream has started or stopped."""
        self.post(
            event,
            url,
            {
                "AccountSid": self._identity.account,
                "CallSid": self._identity.call,
                "StreamSid": stream,
                "StreamName": name or stream,
                "StreamEvent": event,
                "Timestamp": wall_time().isoformat(timespec="microseconds"),
            },
        )

    async def finish(self) -> None:
        """Wait a while until all has been said."""
        if self._posts:
            await asyncio.wait(self._posts, timeout=PATIENCE)
        for post in self._posts:
            post.cancel()

    async def _send(self, event: str, url: str, form: Mapping[str, str]) -> None:
        try:
            headers = self._identity.headers(url, form)
            answer = await self._door.request("POST", url, headers, urlencode(form).encode("ascii"))
            self._log.callbacks.append((event, answer.status))
        except (AgentCrashedError, VirtualTimeError) as error:
            self._broken(error)
        except CallError:
            self._log.callbacks.append((event, None))  # the carrier only notes it, too


class CallProgress:
    """Says at ``url`` when a call was answered and when it was over, in this order."""

    def __init__(self, url: str, callbacks: Callbacks, identity: CallIdentity, clock: Clock) -> None:
        self._url = url
        self._callbacks = callbacks
        self._identity = identity
        self._clock = clock
        self._answered_ns: int | None = None

    def answered(self) -> None:
        """Say that the call is answered. Once."""
        if self._answered_ns is None:
            self._answered_ns = self._clock.now_ns()
            self._post("in-progress", sequence=0)

    def completed(self) -> None:
        """Say that the call is over, if it was answered."""
        if self._answered_ns is not None:
            seconds = (self._clock.now_ns() - self._answered_ns) // NS
            self._post("completed", sequence=1, CallDuration=str(seconds), Duration=str(-(-seconds // 60)))

    def _post(self, status: str, *, sequence: int, **fields: str) -> None:
        own = {"CallbackSource": "call-progress-events", "SequenceNumber": str(sequence)}
        own["Timestamp"] = format_datetime(wall_time())
        self._callbacks.post(status, self._url, {**self._identity.form(status), **own, **fields})
