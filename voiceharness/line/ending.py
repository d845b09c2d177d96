"""How a call ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["EndedBy", "LineEnd"]

EndedBy = Literal["agent", "user", "limit", "transport"]


@dataclass(frozen=True, slots=True)
class LineEnd:
    """How and where a call ended; ``error`` is set when the transport, or the agent's code, failed."""

    by: EndedBy
    at: int
    reason: str = ""
    code: int | None = None
    error: BaseException | None = None
