"""What is learned from baresip's log: the SIP messages."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from voiceharness_adapters.sip.trace import headers_of, redact

if TYPE_CHECKING:
    from voiceharness_adapters.sip.channel import Channel

__all__ = ["SipTrace"]


class SipTrace(logging.Handler):
    """Passes on the SIP messages that the stack logs; ``invites`` has the target and headers of calls that come in."""

    def __init__(self, channel: Channel) -> None:
        super().__init__()
        self.invites: dict[str, tuple[str, dict[str, str]]] = {}
        self._channel = channel

    def emit(self, record: logging.LogRecord) -> None:
        """Take one record: a line about it, and the message."""
        head, _, message = record.getMessage().replace("\r\n", "\n").partition("\n")
        way = "sent" if "TX" in head else "received"
        text = message.strip() or head
        if way == "received" and text.startswith("INVITE "):
            headers = headers_of(text)
            self.invites[headers.get("call-id", "")] = (text.split(None, 2)[1], headers)
        self._channel.tell("message", way=way, peer=head.split("|")[-1].strip(), text=redact(text))
