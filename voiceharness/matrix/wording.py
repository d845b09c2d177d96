"""The words that every form of the matrix shares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voiceharness.matrix.cell import Verdict
    from voiceharness.matrix.document import CellEntry, MatrixDocument

__all__ = ["SHORT", "declared", "figures", "one_line", "summary", "where"]

SHORT: Final[Mapping[Verdict, str]] = {
    "demonstrated": "shown",
    "failed": "FAILED",
    "works_undeclared": "works, undeclared",
    "not_declared": "no",
    "not_testable_here": "not testable here",
}


def declared(value: bool | None) -> str:
    """Say what is declared; a dash where there is nothing to declare."""
    return "-" if value is None else "yes" if value else "no"


def figures(cell: CellEntry) -> str:
    """List what was measured."""
    return "; ".join(f"{name}: {value:g}" for name, value in cell["figures"].items())


def where(cell: CellEntry) -> str:
    """Say which saved call shows it, and from when to when."""
    if not cell["runs"]:
        return ""
    if cell["start"] is None or cell["end"] is None:
        return cell["runs"][-1]
    return f"{cell['runs'][-1]}, {cell['start']:.2f}-{cell['end']:.2f} s"


def one_line(text: str) -> str:
    """Return the first line of a text."""
    return text.partition("\n")[0]


def summary(document: MatrixDocument) -> str:
    """Say in one sentence what came out."""
    cells = [cell for entry in document["adapters"] for cell in entry["cells"]]
    counts = {verdict: sum(cell["verdict"] == verdict for cell in cells) for verdict in SHORT}
    return (
        f"{_counted(len(document['adapters']), 'adapter')}, {_counted(len(cells), 'cell')}: "
        f"{counts['demonstrated']} shown, {counts['failed']} FAILED, {counts['works_undeclared']} work undeclared, "
        f"{counts['not_declared']} not declared, {counts['not_testable_here']} not testable here"
    )


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
