"""The URLs that an agent is reached at: a webhook or a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["SCHEMES", "STREAM_SCHEMES", "WEBHOOK_SCHEMES", "why_no_url"]

STREAM_SCHEMES: Final = ("ws", "wss")
WEBHOOK_SCHEMES: Final = ("http", "https")
SCHEMES: Final = (*STREAM_SCHEMES, *WEBHOOK_SCHEMES)


def why_no_url(url: str, schemes: Sequence[str] = SCHEMES) -> str | None:
    """Say why nobody can be reached at a URL, as the rest of a sentence about it; None if somebody may be."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port  # which are looked at only now
    except ValueError as error:
        return f"cannot be read: {error} in {url!r}"
    if parts.scheme not in schemes:
        return f"begins with {', '.join(schemes)}, not {url!r}"
    if not host or any(each.isspace() for each in host):
        return f"names a host, which {url!r} does not"
    return None
