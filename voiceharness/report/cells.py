"""Where a call stands in the grid of a suite: scenarios by adapters, lines, seeds and repeats.

A cell names the adapter and the line by their labels in the suite file, because one adapter can stand there twice, with
other options. Documents that put calls together (repeats, comparisons) take what differs as if it were an adapter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from voiceharness.report.document import CallDocument
    from voiceharness.report.suite import SuiteCall, SuiteDocument

__all__ = [
    "Cell",
    "call_name",
    "cell_text",
    "file_of",
    "labelled",
    "place_text",
    "shared_names",
    "shared_names_of",
    "told_apart",
    "variant",
]


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


def told_apart(calls: Sequence[SuiteCall]) -> list[CallDocument]:
    """Return the documents, labelled; scenarios that share their name have it with the file they stand in."""
    shared = shared_names((each["call"]["scenario"], file_of(each)) for each in calls)
    return [_with_file(labelled(each), file_of(each)) if _name(each) in shared else labelled(each) for each in calls]


def shared_names(named: Iterable[tuple[str, str | None]]) -> frozenset[str]:
    """Return those names of scenarios that stand in more than one file."""
    files: dict[str, set[str | None]] = {}
    for name, file in named:
        files.setdefault(name, set()).add(file)
    return frozenset(name for name, found in files.items() if len(found) > 1)


def shared_names_of(suite: SuiteDocument) -> frozenset[str]:
    """Return those of a suite, with the calls that were not made."""
    made = [(_name(each), file_of(each)) for each in suite["calls"]]
    return shared_names([*made, *((each["scenario"], each["cell"]["file"]) for each in suite.get("missing", ()))])


def file_of(each: SuiteCall) -> str | None:
    """Return the file that the scenario of a call stands in, in a suite file's words where there is one."""
    return each["cell"]["file"] if "cell" in each else each["file"]


def place_text(name: str, file: str | None, where: str, shared: Collection[str]) -> str:
    """Name where a scenario was called, with its file if its name is among the ``shared`` ones."""
    return f"{file}, {where}" if file is not None and name in shared else where


def _name(each: SuiteCall) -> str:
    return each["call"]["scenario"]


def _with_file(call: CallDocument, file: str | None) -> CallDocument:
    return call if file is None else {**call, "scenario": f"{call['scenario']} ({file})"}
