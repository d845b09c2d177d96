"""The matrix for a terminal, and as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from voiceharness.matrix.cell import VERDICTS
from voiceharness.matrix.document import column_name
from voiceharness.matrix.wording import SHORT, declared, figures, one_line, summary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from voiceharness.matrix.document import AdapterEntry, CellEntry, MatrixDocument

__all__ = ["console_text", "markdown_text"]

NAME_WIDTH: Final = 24
VERDICT_WIDTH: Final = 18


def console_text(document: MatrixDocument) -> str:
    """Show each adapter's cells, one line each: class value, value for these options, probed, and what was seen."""
    lines: list[str] = []
    for entry in document["adapters"]:
        lines += [
            _headline(entry),
            *([f"  {one_line(entry['trouble'])}"] if entry["trouble"] else _console_rows(entry)),
        ]
        lines.append("")
    return "\n".join((*lines, summary(document)))


def markdown_text(document: MatrixDocument, *, title: str = "Capability matrix") -> str:
    """Write a page: all adapters side by side, then each with what was seen and measured."""
    adapters = document["adapters"]
    lines = [f"# {title}", "", f"{summary(document)}.", ""]
    lines += ["Each cell: what the class declares / what it declares for the options used / what a call showed.", ""]
    lines += [f"- **{SHORT[verdict]}**: {meaning}." for verdict, meaning in VERDICTS.items()]
    lines += ["", _row("capability", *map(column_name, adapters)), _row(*["---"] * (len(adapters) + 1))]
    lines += [_row(f"`{name}`", *_side_by_side(document, name)) for name in _capabilities(document)]
    for entry in adapters:
        lines += ["", f"## {column_name(entry)}", "", f"{_headline(entry)}.", ""]
        lines += [one_line(entry["trouble"])] if entry["trouble"] else _markdown_table(entry)
    return "\n".join(lines) + "\n"


def _headline(entry: AdapterEntry) -> str:
    if entry["trouble"]:
        return f"{column_name(entry)} ({entry['source']}), not probed"
    return f"{column_name(entry)} ({entry['source']}), answered by {entry['agent']}, in {entry['clock']} time"


def _console_rows(entry: AdapterEntry) -> Iterator[str]:
    yield f"  {'capability':<{NAME_WIDTH}} {'class':<5} {'here':<5} {'probed':<{VERDICT_WIDTH}} seen"
    for cell in entry["cells"]:
        known = f"{declared(cell['by_class']):<5} {declared(cell['here']):<5}"
        verdict = f"{SHORT[cell['verdict']]:<{VERDICT_WIDTH}}"
        yield f"  {cell['capability']:<{NAME_WIDTH}} {known} {verdict} {one_line(cell['detail'])}"


def _markdown_table(entry: AdapterEntry) -> Iterator[str]:
    yield _row("capability", "class", "here", "probed", "seen", "measured")
    yield _row(*["---"] * 6)
    for cell in entry["cells"]:
        known = declared(cell["by_class"]), declared(cell["here"]), SHORT[cell["verdict"]]
        yield _row(f"`{cell['capability']}`", *known, one_line(cell["detail"]), figures(cell))


def _side_by_side(document: MatrixDocument, capability: str) -> Iterator[str]:
    for entry in document["adapters"]:
        cell = next((cell for cell in entry["cells"] if cell["capability"] == capability), None)
        yield "" if cell is None else _compact(cell)


def _compact(cell: CellEntry) -> str:
    verdict = SHORT[cell["verdict"]]
    shown = f"**{verdict}**" if cell["verdict"] in ("failed", "works_undeclared") else verdict
    return shown if cell["by_class"] is None else f"{declared(cell['by_class'])} / {declared(cell['here'])} / {shown}"


def _capabilities(document: MatrixDocument) -> dict[str, None]:
    return dict.fromkeys(cell["capability"] for entry in document["adapters"] for cell in entry["cells"])


def _row(*fields: str) -> str:
    return f"| {' | '.join(field.replace('|', chr(92) + '|') for field in fields)} |"
