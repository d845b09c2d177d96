"""The signature that Twilio puts on every request to a customer's server: webhooks and websocket upgrades alike.

``X-Twilio-Signature`` is the base64 of HMAC-SHA1, keyed with the account's token, over the full public URL followed by
the form's names and values, sorted by name ("Validating signatures from Twilio"). A server behind a proxy must sign the
URL that the carrier dialled, not the one it sees itself.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["SIGNATURE_HEADER", "is_signed", "sign"]

SIGNATURE_HEADER: Final = "X-Twilio-Signature"
DEFAULT_PORTS: Final = {"http": 80, "ws": 80, "https": 443, "wss": 443}


def sign(token: str, url: str, form: Iterable[tuple[str, str]] = ()) -> str:
    """Return the signature of a request; ``form`` are the fields of a POST (a websocket upgrade has none)."""
    fields = "".join(name + value for name, value in sorted(set(form)))
    digest = hmac.new(token.encode(), (url + fields).encode(), hashlib.sha1).digest()
    return base64.b64encode(digest).decode("ascii")


def is_signed(signature: str | None, token: str, url: str, form: Iterable[tuple[str, str]] = ()) -> bool:
    """Say whether a request bears the right signature, with or without its scheme's default port in the URL."""
    if not signature:
        return False
    fields = list(form)
    given = signature.encode("utf-8", "replace")
    matches = [hmac.compare_digest(sign(token, spelling, fields).encode(), given) for spelling in _spellings(url)]
    return any(matches)


def _spellings(url: str) -> tuple[str, ...]:
    parts = urlsplit(url)
    port = DEFAULT_PORTS.get(parts.scheme)
    host = parts.netloc.removesuffix(f":{port}")
    if port is None or ":" in host.rpartition("]")[2]:
        return (url,)
    return tuple(url.replace(parts.netloc, netloc, 1) for netloc in (host, f"{host}:{port}"))
