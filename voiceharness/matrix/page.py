"""The matrix as one HTML page without scripts: hover or open a cell to see what was seen, measured and recorded."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

from voiceharness.matrix.cell import VERDICTS
from voiceharness.matrix.document import column_name
from voiceharness.matrix.wording import SHORT, declared, figures, summary, where

if TYPE_CHECKING:
    from voiceharness.matrix.document import AdapterEntry, CellEntry, MatrixDocument

__all__ = ["html_page"]

STYLE: Final = """
:root { color-scheme: light dark; font: 15px/1.4 system-ui, sans-serif; }
body { margin: 2rem; }
table { border-collapse: collapse; }
th, td { border: 1px solid #8884; padding: .3rem .6rem; text-align: left; vertical-align: top; }
thead th { position: sticky; top: 0; background: Canvas; }
summary { cursor: pointer; }
dl { margin: .3rem 0; max-width: 26rem; }
.demonstrated { background: #2a92; }
.failed { background: #d336; font-weight: bold; }
.works_undeclared { background: #e915; }
.not_testable_here { background: #8882; }
.known, footer { opacity: .75; font-size: .9em; font-weight: normal; }
"""


def html_page(document: MatrixDocument) -> str:
    """Write the page. Saved calls are linked by their names, relative to it."""
    names = dict.fromkeys(cell["capability"] for entry in document["adapters"] for cell in entry["cells"])
    head = "".join(f"<th>{_heading(entry)}</th>" for entry in document["adapters"])
    rows = "".join(_row(document, name) for name in names)
    legend = "".join(
        f'<li><span class="{key}">{SHORT[key]}</span>: {escape(why)}</li>' for key, why in VERDICTS.items()
    )
    return (
        f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>Capability matrix</title><style>{STYLE}</style>'
        f"<h1>Capability matrix</h1><p>{escape(summary(document))}.</p>"
        "<p>Each cell: what the class declares / what it declares for the options used / what a call showed.</p>"
        f"<table><thead><tr><th>capability</th>{head}</tr></thead><tbody>{rows}</tbody></table>"
        f"<footer><ul>{legend}</ul></footer></html>\n"
    )


def _heading(entry: AdapterEntry) -> str:
    about = f"{entry['source']}; answered by {entry['agent']}; {entry['clock']} time"
    if entry["trouble"]:
        about = f"{entry['source']}; not probed: {entry['trouble']}"
    return f'{escape(column_name(entry))}<div class="known">{escape(about)}</div>'


def _row(document: MatrixDocument, capability: str) -> str:
    about = escape(document["about"].get(capability, ""))
    found = ([cell for cell in entry["cells"] if cell["capability"] == capability] for entry in document["adapters"])
    cells = "".join(_cell(cells[0]) if cells else "<td></td>" for cells in found)
    return f'<tr><th>{escape(capability)}<div class="known">{about}</div></th>{cells}</tr>\n'


def _cell(cell: CellEntry) -> str:
    known = "" if cell["by_class"] is None else f"{declared(cell['by_class'])} / {declared(cell['here'])} / "
    parts = [("seen", escape(cell["detail"])), ("measured", escape(figures(cell))), ("recorded", _runs(cell))]
    more = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in parts if value)
    shown = f"{known}{SHORT[cell['verdict']]}"
    return f'<td class="{cell["verdict"]}"><details><summary>{shown}</summary><dl>{more}</dl></details></td>'


def _runs(cell: CellEntry) -> str:
    links = "<br>".join(f'<a href="{escape(run, quote=True)}/">{escape(run)}</a>' for run in cell["runs"])
    return f"{links}<br>{escape(where(cell))}" if cell["start"] is not None else links
