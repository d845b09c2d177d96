"""Calls with a place in the grid of a suite file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voiceharness.report.document import call_document

if TYPE_CHECKING:
    from voiceharness.report.cells import Cell
    from voiceharness.report.suite import MissingCall, SuiteCall
    from voiceharness.scenario.result import CallResult

__all__ = ["cell", "missing_call", "suite_call"]


def cell(adapter: str, line: str | None = None, *, seed: int = 0) -> Cell:
    """Make a cell."""
    return {"file": "calls.yaml", "adapter": adapter, "line": line, "seed": seed, "repeat": 1}


def suite_call(result: CallResult, place: Cell | None = None, folder: str | None = None) -> SuiteCall:
    """Describe a call, with its cell if it has one."""
    call: SuiteCall = {"file": None, "folder": folder, "call": call_document(result)}
    return call if place is None else {**call, "cell": place}


def missing_call(scenario: str, place: Cell) -> MissingCall:
    """Describe a call that was never made."""
    return {"scenario": scenario, "file": None, "folder": f"out/{scenario}", "cell": place}
