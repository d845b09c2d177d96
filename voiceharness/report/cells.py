"""Where a call stands in the grid of a suite: scenarios by adapters, lines, seeds and repeats.

A cell names the adapter and the line by their labels in the suite file, because one adapter can stand there twice, with
other options. Documents that put calls together (repeats, comparisons) take what differs as if it were an adapter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from voiceharness.report.document import CallDocument
    from voiceharness.report.suite import SuiteCall

__all__ = ["Cell", "call_name", "cell_text", "labelled", "variant"]


class Cell(TypedDict):
    """One cell. ``file`` is the scenario's, relative to the suite's; ``line`` None: the scenario's own, unnamed.

    ``repeat`` counts from 1.
    """

    file: str
    adapter: str
    line: str | None
    seed: int
    repeat: int


def variant(cell: Cell) -> str:
    """Name what the scenario was called over: ``sip, mobile``."""
    return cell["adapter"] if cell["line"] is None else f"{cell['adapter']}, {cell['line']}"


def cell_text(cell: Cell) -> str:
    """Name the whole cell: ``sip, mobile, seed 3``."""
    repeat = f", repeat {cell['repeat']}" if cell["repeat"] > 1 else ""
    return f"{variant(cell)}, seed {cell['seed']}{repeat}"


def call_name(each: SuiteCall) -> str:
    """Name a call of a suite so that no other is called the same, if it has a cell."""
    where = cell_text(each["cell"]) if "cell" in each else each["call"]["adapter"]
    return f"{each['call']['scenario']} ({where})"


def labelled(each: SuiteCall) -> CallDocument:
    """Return a call's document with the variant in place of the adapter, for what puts the same calls together."""
    call = each["call"]
    return {**call, "adapter": variant(each["cell"])} if "cell" in each else call
