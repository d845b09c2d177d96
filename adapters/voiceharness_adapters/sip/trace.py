"""What can be read in a SIP message, and what of it may be kept: everything but credentials and keys."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["headers_of", "redact"]

_SECRETS: Final = (
    re.compile(r"(?im)^(?P<kept>(?:Proxy-)?Authorization\s*:\s*\w+)[^\r\n]*(?:\r?\n[ \t][^\r\n]*)*"),
    re.compile(r"(?P<kept>\binline:)[\w+/=]+"),
    re.compile(r"(?im)^(?P<kept>a=(?:ice-pwd|fingerprint|key-mgmt):)[^\r\n]*"),
    re.compile(r"(?im)^(?P<kept>k=\w+:)[^\r\n]*"),
    re.compile(r"(?i)(?P<kept>\bsips?:[^\s:@;?>]+:)[^\s@;?>]+(?=@)"),
)


def redact(message: str) -> str:
    """Return a SIP message, or any text with one in it, without its secrets.

    These are credentials, a password in an address (RFC 3261), and media keys (RFC 4566, 4567, 4568).
    """
    for pattern in _SECRETS:
        message = pattern.sub(r"\g<kept> [secret]", message)
    return message


def headers_of(text: str) -> dict[str, str]:
    """Return the headers of a message by their names in lower case; of several of one name, the first."""
    headers: dict[str, str] = {}
    for line in text.replace("\r\n", "\n").split("\n\n")[0].split("\n")[1:]:
        name, colon, value = line.partition(":")
        if colon:
            headers.setdefault(name.strip().lower(), value.strip())
    return headers
