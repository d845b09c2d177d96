"""Exit codes that belong to no outcome of a call."""

from __future__ import annotations

from typing import Final

__all__ = ["HARNESS_FAULT", "INTERRUPTED", "OUTPUT_CLOSED"]

HARNESS_FAULT: Final = 5
INTERRUPTED: Final = 130
"""Ctrl-C, as shells count it: 128 and the number of the signal."""

OUTPUT_CLOSED: Final = 141
"""Whoever read standard output has gone, as shells count it."""
