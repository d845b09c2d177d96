"""Calls that were going on when their run was stopped.

Such a call has evidence of as far as it came, and no verdict: it counts for nothing, as if it had not been made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from voiceharness.errors import RunInterruptedError

if TYPE_CHECKING:
    from voiceharness.report.document import CallDocument

__all__ = ["INTERRUPTED", "shown_outcome", "was_interrupted"]

INTERRUPTED: Final = "interrupted"


def was_interrupted(call: CallDocument) -> bool:
    """Say whether a call was cut short because its run was stopped."""
    error = call["error"]
    return error is not None and error["type"] == RunInterruptedError.__name__


def shown_outcome(call: CallDocument) -> str:
    """Return what people are told became of a call: its outcome, or that it was interrupted."""
    return INTERRUPTED if was_interrupted(call) else call["outcome"]
