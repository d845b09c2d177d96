"""A call's progress, as the carrier posts it to the status callback of the agent's number: beside the call itself.

Each post is a request of its own, signed like the webhook, so nothing says that ``answered`` arrives before the stream
is open, or is dealt with by then. The fields are those of Twilio's page "Call resource", parameter ``StatusCallback``.
What the server answers is not looked at, as the carrier does not: only a status is kept, for the call's facts.
"""

from __future__ import annotations

import asyncio
from email.utils import format_datetime
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from voiceharness.clock import NS, wall_time
from voiceharness.errors import AgentCrashedError, CallError, VirtualTimeError
from voiceharness_adapters.twilio.carrier_call import FORM_TYPE, WEBHOOK_AGENT

if TYPE_CHECKING:
    from collections.abc import Callable

    from voiceharness.clock import Clock
    from voiceharness_adapters.twilio.carrier_call import CallIdentity
    from voiceharness_adapters.twilio.door import Door
    from voiceharness_adapters.twilio.settings import CarrierLog

__all__ = ["CallProgress"]

PATIENCE: Final = 2.0
"""Seconds that the end of a call waits for its last post."""


class CallProgress:
    """Posts what becomes of one call. ``broken`` is told if the agent's own code raised at it."""

    def __init__(
        self,
        url: str,
        door: Door,
        identity: CallIdentity,
        *,
        clock: Clock,
        log: CarrierLog,
        broken: Callable[[Exception], None],
    ) -> None:
        self._url = url
        self._door = door
        self._identity = identity
        self._clock = clock
        self._log = log
        self._broken = broken
        self._sequence = 0
        self._answered_ns: int | None = None
        self._posts: list[asyncio.Task[None]] = []

    def answered(self) -> None:
        """Say that the call is answered; the call does not wait for it. Once."""
        if self._answered_ns is None:
            self._answered_ns = self._clock.now_ns()
            self._post("in-progress")

    async def completed(self) -> None:
        """Say that an answered call is over, and wait a while until all has been said."""
        if self._answered_ns is not None:
            seconds = (self._clock.now_ns() - self._answered_ns) // NS
            self._post("completed", CallDuration=str(seconds), Duration=str(-(-seconds // 60)))
        if self._posts:
            await asyncio.wait(self._posts, timeout=PATIENCE)
        for post in self._posts:
            post.cancel()

    def _post(self, status: str, **fields: str) -> None:
        form = {
            **self._identity.form(status),
            "CallbackSource": "call-progress-events",
            "SequenceNumber": str(self._sequence),
            "Timestamp": format_datetime(wall_time()),
            **fields,
        }
        self._sequence += 1
        self._posts.append(asyncio.create_task(self._send(form), name=f"twilio status callback {status}"))

    async def _send(self, form: dict[str, str]) -> None:
        headers = [WEBHOOK_AGENT, FORM_TYPE, ("Accept", "*/*"), *self._identity.signature(self._url, form)]
        try:
            answer = await self._door.request("POST", self._url, headers, urlencode(form).encode("ascii"))
            self._log.callbacks.append((form["CallStatus"], answer.status))
        except (AgentCrashedError, VirtualTimeError) as error:
            self._broken(error)
        except CallError:
            self._log.callbacks.append((form["CallStatus"], None))  # the carrier only notes it, too
