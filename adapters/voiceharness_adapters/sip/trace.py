"""What of SIP messages may be kept: everything but credentials and keys."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["redact"]

_SECRETS: Final = (
    re.compile(r"(?im)^(?P<kept>(?:Proxy-)?Authorization\s*:\s*\w+)[^\r\n]*(?:\r?\n[ \t][^\r\n]*)*"),
    re.compile(r"(?P<kept>\binline:)[\w+/=]+"),
    re.compile(r"(?im)^(?P<kept>a=(?:ice-pwd|fingerprint):)[^\r\n]*"),
)


def redact(message: str) -> str:
    """Return a SIP message, or any text with one in it, without credentials (RFC 3261) and media keys (RFC 4568)."""
    for pattern in _SECRETS:
        message = pattern.sub(r"\g<kept> [secret]", message)
    return message
