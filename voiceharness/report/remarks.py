"""What there is to say of how a call came about, beside its verdict: facts that only a few calls have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from voiceharness.report.document import CallDocument

__all__ = ["LOST_WORKERS", "WORKER", "remarks"]

LOST_WORKERS: Final = "lost_workers"
"""The fact that a call was begun before, and how often: each time the worker that made it was lost."""

WORKER: Final = "worker"
"""The fact on which worker a call broke."""


def remarks(call: CallDocument) -> Iterator[str]:
    """Say it in a line each."""
    facts = call["facts"]
    if lost := facts.get(LOST_WORKERS):
        yield "made again: the worker that had it was lost" + ("" if lost == 1 else f", {lost} times")
    if worker := facts.get(WORKER):
        yield f"made on worker {worker}"
