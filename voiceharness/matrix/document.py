"""A matrix as a document: what is saved as JSON, and what every other form of it is made from."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, TypedDict, cast

from voiceharness.errors import OptionError
from voiceharness.matrix.probes import PROBES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from voiceharness.matrix.cell import Cell, Verdict
    from voiceharness.matrix.probing import Column

__all__ = [
    "MATRIX_FORMAT",
    "AdapterEntry",
    "CellEntry",
    "MatrixDocument",
    "column_name",
    "exit_code",
    "load_matrix",
    "matrix_document",
    "replaced",
    "schema",
]

MATRIX_FORMAT: Final = "voiceharness-matrix/1"
NOTHING_TESTABLE: Final = 4
ORDER: Final = {probe.name: index for index, probe in enumerate(PROBES)}


class CellEntry(TypedDict):
    """One cell; the names are those of :class:`~voiceharness.matrix.cell.Cell`."""

    capability: str
    verdict: Verdict
    by_class: bool | None
    here: bool | None
    detail: str
    figures: Mapping[str, float]
    start: float | None
    end: float | None
    runs: list[str]


class AdapterEntry(TypedDict):
    """One adapter; the names are those of :class:`~voiceharness.matrix.probing.Column`."""

    adapter: str
    options: list[str]
    source: str
    agent: str
    clock: str
    trouble: str
    cells: list[CellEntry]


class MatrixDocument(TypedDict):
    """A whole matrix. ``about`` says in words what was looked for in each capability."""

    format: str
    about: Mapping[str, str]
    adapters: list[AdapterEntry]


def matrix_document(columns: Iterable[Column]) -> MatrixDocument:
    """Make the document of some columns."""
    about = {probe.name: probe.about for probe in PROBES}
    adapters: list[AdapterEntry] = []
    for column in columns:
        about.update(column.about)
        adapters.append(_adapter(column))
    return {"format": MATRIX_FORMAT, "about": about, "adapters": adapters}


def load_matrix(path: Path) -> MatrixDocument:
    """Read a saved matrix.

    Raises:
        OptionError: if there is none, or it is something else. Whether it is whole, its `schema` tells.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise OptionError(f"{path} cannot be read as a matrix: {error}") from error
    if not isinstance(document, dict) or document.get("format") != MATRIX_FORMAT:
        raise OptionError(f"{path} is not in the format {MATRIX_FORMAT}")
    entries = document.get("adapters")
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict):
            entry.setdefault("options", [])  # not in the first matrices of this format
    return cast("MatrixDocument", document)


def column_name(entry: AdapterEntry) -> str:
    """Return what a column is called: the adapter, and the options that were chosen for it."""
    return " ".join((entry["adapter"], *entry["options"]))


def replaced(earlier: MatrixDocument, newer: MatrixDocument) -> MatrixDocument:
    """Return an earlier matrix with each cell that was probed anew in place of the old one."""
    adapters = {column_name(entry): entry for entry in earlier["adapters"]}
    for entry in newer["adapters"]:
        name = column_name(entry)
        old = adapters.get(name)
        cells = {cell["capability"]: cell for cell in (old["cells"] if old else [])}
        cells |= {cell["capability"]: cell for cell in entry["cells"]}
        in_order = sorted(cells.values(), key=lambda cell: ORDER.get(cell["capability"], len(ORDER)))
        adapters[name] = {**entry, "cells": in_order}
    about = {**newer["about"], **earlier["about"], **newer["about"]}
    return {**newer, "about": about, "adapters": list(adapters.values())}


def schema() -> Any:  # Any: a JSON schema
    """Return the JSON schema of a matrix."""
    home = files("voiceharness.matrix") / "schema" / "matrix.schema.json"
    return json.loads(home.read_text(encoding="utf-8"))


def exit_code(document: MatrixDocument) -> int:
    """Return 1 if a declaration is false, 4 if nothing could be probed, else 0."""
    verdicts = [cell["verdict"] for entry in document["adapters"] for cell in entry["cells"]]
    if "failed" in verdicts:
        return 1
    return NOTHING_TESTABLE if set(verdicts) <= {"not_testable_here"} else 0


def _adapter(column: Column) -> AdapterEntry:
    return {
        "adapter": column.adapter,
        "options": list(column.options),
        "source": column.source,
        "agent": column.agent,
        "clock": column.clock,
        "trouble": column.trouble,
        "cells": [_cell(cell) for cell in column.cells],
    }


def _cell(cell: Cell) -> CellEntry:
    return {
        "capability": cell.capability,
        "verdict": cell.verdict,
        "by_class": cell.by_class,
        "here": cell.here,
        "detail": cell.detail,
        "figures": dict(cell.figures),
        "start": None if cell.start is None else round(cell.start, 3),
        "end": None if cell.end is None else round(cell.end, 3),
        "runs": list(cell.runs),
    }
