"""What is learned from baresip's log: the SIP messages."""

from __future__ import annotations

import asyncio
import logging
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from voiceharness_adapters.sip.trace import headers_of, redact

if TYPE_CHECKING:
    from collections.abc import Callable

    from voiceharness_adapters.sip.channel import Channel

__all__ = ["SipTrace"]

_FINAL: Final = re.compile(r"SIP/2\.0 ([2-6]\d\d) ?([^\n]*)")
_CHALLENGES: Final = (401, 407)


class SipTrace(logging.Handler):
    """Passes on the SIP messages that the stack logs, on a thread of its own, a moment after what they tell of.

    ``invites`` has the target and headers of calls that came in, ``ended`` the Call-IDs of those whose BYE was
    answered, ``refusals`` the latest refusal of an INVITE, status and reason, whichever side gave it; ``registered``
    counts the REGISTERs that were accepted.
    """

    def __init__(self, channel: Channel) -> None:
        super().__init__()
        self.invites: dict[str, tuple[str, dict[str, str]]] = {}
        self.ended: set[str] = set()
        self.refusals: dict[str, tuple[int, str]] = {}
        self.registered = 0
        self._channel = channel
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()

    def emit(self, record: logging.LogRecord) -> None:
        """Take one record: a line about it, and the message."""
        head, _, message = record.getMessage().replace("\r\n", "\n").partition("\n")
        way = "sent" if "TX" in head else "received"
        text = message.strip() or head
        self._note(way, text)
        self._channel.tell("message", way=way, peer=head.split("|")[-1].strip(), text=redact(text))
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._wake)

    async def until(self, told: Callable[[], bool], *, within: float) -> None:
        """Wait until the log has told something, for so many seconds at most."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                while not told():
                    await self._news.wait()

    def _wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    def _note(self, way: str, text: str) -> None:
        headers, final = headers_of(text), _FINAL.match(text)
        call_id = headers.get("call-id", "")
        if way == "received" and text.startswith("INVITE "):
            self.invites[call_id] = (text.split(None, 2)[1], headers)
        if final is None:
            return
        code, method = int(final[1]), headers.get("cseq", "").rpartition(" ")[2]
        if method == "REGISTER" and code < 300:
            self.registered += 1
        elif method == "INVITE" and code >= 300 and code not in _CHALLENGES:
            self.refusals[call_id] = code, final[2].strip()
        elif method == "BYE":
            self.ended.add(call_id)
