"""Arithmetic on stretches of a track: joining, intersecting, what lies between."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voiceharness.audio.edges import Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["gaps", "intersections", "joined", "total"]


def joined(spans: Iterable[Span], gap: int = 0) -> list[Span]:
    """Sort spans and join those at most ``gap`` samples apart."""
    result: list[Span] = []
    for span in sorted(spans):
        if result and span.onset - result[-1].offset <= gap:
            result[-1] = Span(result[-1].onset, max(result[-1].offset, span.offset))
        else:
            result.append(span)
    return result


def intersections(left: Iterable[Span], right: Sequence[Span]) -> list[Span]:
    """Find what both have in common; spans of one side do not overlap each other."""
    common = (Span(max(a.onset, b.onset), min(a.offset, b.offset)) for a in left for b in right)
    return sorted(span for span in common if span.onset < span.offset)


def gaps(spans: Sequence[Span], start: int, end: int) -> list[Span]:
    """Find what sorted, disjoint spans leave of the stretch from ``start`` to ``end``."""
    edges = [start, *(edge for span in spans for edge in (span.onset, span.offset)), end]
    between = zip(edges[::2], edges[1::2], strict=True)
    return [Span(max(low, start), min(high, end)) for low, high in between if max(low, start) < min(high, end)]


def total(spans: Iterable[Span]) -> int:
    """Count the samples in disjoint spans."""
    return sum(span.offset - span.onset for span in spans)
