"""Who sends the media of a stream: the source (SSRC) that its packets name, and when another took its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["SourceChange", "SourceWatch"]

FLAPPING_NS: Final = 1_000_000_000
"""Two sources that send at once change with every packet: the same change again within this time is no news."""


@dataclass(frozen=True, slots=True)
class SourceChange:
    """Packets came from ``before``, then from ``after`` (RFC 3550, 3)."""

    before: int
    after: int

    def __str__(self) -> str:
        """Write it as people read it."""
        return f"packets come from another source: SSRC 0x{self.after:08x}, before 0x{self.before:08x}"


class SourceWatch:
    """Fed with the source of the latest packet of one stream, look by look."""

    def __init__(self) -> None:
        self._source: int | None = None
        self._seen_ns: dict[SourceChange, int] = {}

    def take(self, source: int, at_ns: int) -> SourceChange | None:
        """Take the source that was seen at a time; return the change that it shows."""
        before, self._source = self._source, source
        if before is None or before == source:
            return None
        change = SourceChange(before, source)
        seen_ns = self._seen_ns.get(change)
        self._seen_ns[change] = at_ns
        return change if seen_ns is None or at_ns - seen_ns > FLAPPING_NS else None
