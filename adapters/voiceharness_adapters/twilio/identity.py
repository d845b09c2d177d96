"""Who calls whom, under which identifiers, and how requests about it look."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from voiceharness.protocols.media_streams.signature import SIGNATURE_HEADER, sign

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["FORM_TYPE", "STREAM_AGENT", "WEBHOOK_AGENT", "CallIdentity", "new_sid"]

WEBHOOK_AGENT: Final = ("User-Agent", "TwilioProxy/1.1")
STREAM_AGENT: Final = ("User-Agent", "Twilio.TmeWs/1.0")
FORM_TYPE: Final = ("Content-Type", "application/x-www-form-urlencoded; charset=UTF-8")


def new_sid(prefix: str) -> str:
    """Return an identifier that no other call, account or stream has."""
    return prefix + secrets.token_hex(16)


@dataclass(frozen=True, slots=True)
class CallIdentity:
    """Who calls whom, under which identifiers; ``token`` signs the requests (None: they are not signed)."""

    user: str
    agent: str
    token: str | None = field(default=None, repr=False)
    call: str = field(default_factory=lambda: new_sid("CA"))
    account: str = field(default_factory=lambda: new_sid("AC"))

    def form(self, status: str) -> dict[str, str]:
        """Return the fields that every request about the call carries."""
        return {
            "AccountSid": self.account,
            "ApiVersion": "2010-04-01",
            "CallSid": self.call,
            "CallStatus": status,
            "Called": self.agent,
            "Caller": self.user,
            "Direction": "inbound",
            "From": self.user,
            "To": self.agent,
        }

    def headers(self, url: str, form: Mapping[str, str]) -> list[tuple[str, str]]:
        """Return the headers of a form that is posted to a webhook."""
        return [WEBHOOK_AGENT, FORM_TYPE, ("Accept", "*/*"), *self.signature(url, form)]

    def signature(self, url: str, form: Mapping[str, str] | None = None) -> list[tuple[str, str]]:
        """Return the header that signs a request, if requests are signed."""
        return [] if self.token is None else [(SIGNATURE_HEADER, sign(self.token, url, (form or {}).items()))]
