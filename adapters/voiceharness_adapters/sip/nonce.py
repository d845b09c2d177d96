"""How a caller says for which waiting adapter its call is."""

from __future__ import annotations

from typing import Final

__all__ = ["NONCE_HEADER"]

NONCE_HEADER: Final = "X-Voiceharness-Nonce"
"""Header of an INVITE by which a caller that knows its value reaches one waiting adapter."""
