"""``voiceharness compare``: a run against an earlier one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voiceharness.cli.output import takes_unicode, tell, tell_json
from voiceharness.report.compare import compare_runs
from voiceharness.report.compare_text import comparison_text
from voiceharness.report.measures import parse_tolerances
from voiceharness.report.runs import load_calls

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["compare_folders"]


def compare_folders(*, base: Path, new: Path, tolerances: Sequence[str], everything: bool, as_json: bool) -> int:
    """Compare two runs; return 2 if anything could not be compared, 1 if anything is worse, else 0."""
    measures = parse_tolerances(tolerances)
    comparison = compare_runs(load_calls(base), load_calls(new), measures)
    if as_json:
        tell_json(comparison.to_json())
    else:
        tell(comparison_text(comparison, everything=everything, ascii_only=not takes_unicode()))
    return comparison.exit_code
