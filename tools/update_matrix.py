"""Make docs/matrix.md and docs/matrix.json: the capability matrix of the adapters that come with the package.

    python -m tools.update_matrix                 probe all adapters that can be used here, and write both
    python -m tools.update_matrix --only sip      probe one anew, and keep the others
    python -m tools.update_matrix --check         probe, write nothing, and fail if a declaration or a verdict differs

Figures differ from run to run; the comparison leaves them out. An adapter that cannot be used on this machine is left
as it was. Calls in real time mostly wait, so several are made side by side, each part of the matrix by a process of its
own; cells that differ are probed once more by themselves before that is believed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Final

from voiceharness.matrix import PROBES, Change, MatrixDocument, column_name, differences, load_matrix, replaced
from voiceharness.matrix.text import markdown_text
from voiceharness.registry import load_adapter, plugins
from voiceharness.report.serialization import json_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["PAGE", "SAVED", "Part", "columns_of", "compared", "doubtful", "main", "page_of", "parts_of"]

DOCS: Final = Path(__file__).parents[1] / "docs"
PAGE: Final = DOCS / "matrix.md"
SAVED: Final = DOCS / "matrix.json"
OURS: Final = "voiceharness "
MADE: Final = "<!-- Made by `python -m tools.update_matrix` from calls; change nothing here. -->\n\n"

VARIANTS: Final[Mapping[str, tuple[str, ...]]] = {"sip": ("backend=pjsua2", "backend=baresip")}
"""Adapters with several columns, each with an option of its own."""

LONGEST: Final = "long_turn"
PIECES: Final = 2
AT_ONCE: Final = 6
AGAIN: Final = 2


@dataclass(frozen=True, slots=True, order=True)
class Part:
    """Cells of one column that one process probes; no ``cells``: all of them."""

    adapter: str
    option: str = ""
    cells: tuple[str, ...] = ()

    def command(self, out: str) -> list[str]:
        """Return the command of a user who would probe this."""
        chosen = [f"--only={self.adapter}:{cell}" for cell in self.cells] or [f"--adapter={self.adapter}"]
        settings = ["--set", self.option] if self.option else []
        return [sys.executable, "-m", "voiceharness", "matrix", "--out", out, *chosen, *settings]


def main(arguments: Sequence[str] | None = None) -> int:
    """Probe, then write or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="ADAPTER", action="append", default=[])
    parser.add_argument("--check", action="store_true")
    chosen = parser.parse_args(arguments)
    columns = columns_of(chosen.only or [plugin.name for plugin in plugins() if plugin.source.startswith(OURS)])
    probed = _probed([part for column in columns for part in parts_of(column)])
    if chosen.check:
        return _checked(load_matrix(SAVED), probed)
    for _ in range(AGAIN):
        probed = _again(probed, doubtful(probed))
    document = _in_order(_renewed(load_matrix(SAVED), probed) if SAVED.exists() else probed)
    SAVED.write_bytes(json_bytes(document, depth=4))
    PAGE.write_text(page_of(document), encoding="utf-8")
    return 0


def page_of(document: MatrixDocument) -> str:
    """Make the page of a document."""
    return MADE + markdown_text(document)


def columns_of(adapters: Iterable[str]) -> list[Part]:
    """Return the columns of some adapters."""
    return [Part(name, option) for name in adapters for option in VARIANTS.get(name, ("",))]


def parts_of(column: Part) -> list[Part]:
    """Cut a column that is probed in real time into parts that take about as long as its longest cell."""
    if load_adapter(column.adapter).capabilities.virtual_time:
        return [column]
    others = [probe.name for probe in PROBES if probe.name != LONGEST]
    cells = [(LONGEST,), *(tuple(others[start::PIECES]) for start in range(PIECES))]
    return [Part(column.adapter, column.option, each) for each in cells]


def compared(saved: MatrixDocument, probed: MatrixDocument) -> tuple[Change, ...]:
    """Compare what was probed with the same cells of what is saved; what could not be used here says nothing."""
    usable = [entry for entry in probed["adapters"] if not entry["trouble"]]
    cells = {column_name(entry): {cell["capability"] for cell in entry["cells"]} for entry in usable}
    known: MatrixDocument = {
        **saved,
        "adapters": [
            {**entry, "cells": [cell for cell in entry["cells"] if cell["capability"] in cells[column_name(entry)]]}
            for entry in saved["adapters"]
            if column_name(entry) in cells
        ],
    }
    return differences(known, {**probed, "adapters": usable})


def _checked(saved: MatrixDocument, probed: MatrixDocument) -> int:
    for entry in probed["adapters"]:
        if entry["trouble"]:
            print(f"{column_name(entry)} cannot be compared here: {entry['trouble']}")
    for _ in range(AGAIN):
        changes = compared(saved, probed)
        if not changes:
            return 0
        wanted = [(change.adapter, change.capability) for change in changes if change.after != "absent"]
        probed = _again(probed, wanted)
    changes = compared(saved, probed)
    for change in changes:
        print(f"docs/matrix.json is not what calls show: {change}: {_detail(probed, change)}")
    if changes:
        print("If that is how it should be, run: python -m tools.update_matrix")
    return 1 if changes else 0


def doubtful(probed: MatrixDocument) -> list[tuple[str, str]]:
    """Name the cells, by column and capability, that a busy machine may have spoilt."""
    return [
        (column_name(entry), cell["capability"])
        for entry in probed["adapters"]
        for cell in entry["cells"]
        if not entry["trouble"] and cell["verdict"] in ("failed", "not_testable_here")
    ]


def _again(probed: MatrixDocument, cells: Iterable[tuple[str, str]]) -> MatrixDocument:
    """Probe some cells once more, with nothing beside them."""
    wanted: dict[str, list[str]] = {}
    for column, capability in cells:
        wanted.setdefault(column, []).append(capability)
    if not wanted:
        return probed
    parts = [Part(*_of_column(column), tuple(names)) for column, names in wanted.items()]
    print("once more, by themselves:")
    return replaced(probed, _probed(parts, at_once=1))


def _of_column(name: str) -> tuple[str, str]:
    adapter, _, option = name.partition(" ")
    return adapter, option


def _detail(document: MatrixDocument, change: Change) -> str:
    entry = next((each for each in document["adapters"] if column_name(each) == change.adapter), None)
    cells = (cell["detail"] for cell in (entry["cells"] if entry else ()) if cell["capability"] == change.capability)
    return next(cells, "no such cell was probed")


def _probed(parts: Iterable[Part], *, at_once: int = AT_ONCE) -> MatrixDocument:
    """Run `voiceharness matrix` as a user would, the longest parts first; what must keep time has the machine then."""
    parts = list(parts)
    alone = [part for part in parts if not part.cells]
    beside = sorted((part for part in parts if part.cells), key=lambda part: part.cells != (LONGEST,))
    with ThreadPoolExecutor(at_once) as threads:
        found = [_probe(part) for part in alone] + list(threads.map(_probe, beside))
    nothing: MatrixDocument = {"format": "", "about": {}, "adapters": []}
    return reduce(replaced, found, nothing)


def _probe(part: Part) -> MatrixDocument:
    print("probing", " ".join(filter(None, (part.adapter, part.option, *part.cells))), flush=True)
    with tempfile.TemporaryDirectory() as out:
        ended = subprocess.run(part.command(out), check=False, capture_output=True, text=True)
        saved = Path(out) / "matrix.json"
        if not saved.exists():
            raise SystemExit(f"{' '.join(part.command(out))} ended with code {ended.returncode}:\n{ended.stderr}")
        return load_matrix(saved)


def _renewed(saved: MatrixDocument, probed: MatrixDocument) -> MatrixDocument:
    """Put in the place of what is saved what was probed anew; what could not be used here stays as it was."""
    known = {column_name(entry) for entry in saved["adapters"]}
    usable = [entry for entry in probed["adapters"] if not entry["trouble"] or column_name(entry) not in known]
    return replaced(saved, {**probed, "adapters": usable})


def _in_order(document: MatrixDocument) -> MatrixDocument:
    """Keep the columns that there are, in their order: one that is no longer made is left out."""
    columns = columns_of(plugin.name for plugin in plugins() if plugin.source.startswith(OURS))
    names = [" ".join(filter(None, (column.adapter, column.option))) for column in columns]
    entries = {column_name(entry): entry for entry in document["adapters"]}
    return {**document, "adapters": [entries[name] for name in names if name in entries]}


if __name__ == "__main__":
    sys.exit(main())
