"""A matrix as a document: saved, loaded, renewed cell by cell, compared, and told in every form."""

from __future__ import annotations

import json
from dataclasses import replace
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import jsonschema
import pytest

from voiceharness.errors import OptionError
from voiceharness.matrix import (
    PROBES,
    Cell,
    Column,
    MatrixDocument,
    column_name,
    differences,
    exit_code,
    load_matrix,
    matrix_document,
    replaced,
    schema,
    troubled_column,
)
from voiceharness.matrix.page import html_page
from voiceharness.matrix.text import console_text, markdown_text

if TYPE_CHECKING:
    from pathlib import Path

SHOWN = Cell(
    "interruption",
    "demonstrated",
    "stopped | after <0.1 s>\nand more",
    True,
    True,
    {"latency, s": 0.1},
    1.2,
    1.3,
    ("run-1",),
)
SILENT = Cell("silence", "demonstrated", "5 s of silence")
FALSE = Cell("dtmf:event", "failed", "none arrived", True, True)
NARROWED = Cell("dtmf:info", "not_declared", "refused", True, False)


def document(*cells: Cell, name: str = "carrier") -> MatrixDocument:
    """A matrix of one adapter."""
    return matrix_document([Column(name, "pack 1.0", "the probe agent", "virtual", cells)])


def test_a_false_declaration_is_exit_code_1_and_nothing_to_probe_is_4() -> None:
    assert exit_code(document(SHOWN, SILENT)) == 0
    assert exit_code(document(SHOWN, FALSE)) == 1
    assert exit_code(matrix_document([troubled_column("carrier", "no device")])) == 4


def test_it_is_the_same_after_it_was_saved(tmp_path: Path) -> None:
    path = tmp_path / "matrix.json"
    path.write_text(json.dumps(document(SHOWN, FALSE)))
    assert load_matrix(path) == document(SHOWN, FALSE)


@pytest.mark.parametrize("text", ["", "[]", '{"format": "something/2"}'])
def test_what_is_no_matrix_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "matrix.json"
    path.write_text(text)
    with pytest.raises(OptionError, match=r"matrix\.json"):
        load_matrix(path)


def test_a_cell_probed_anew_takes_the_place_of_the_old_one_in_the_order_of_the_probes() -> None:
    renewed = replaced(document(SILENT, FALSE), document(replace(FALSE, verdict="demonstrated")))
    (entry,) = renewed["adapters"]
    assert [(cell["capability"], cell["verdict"]) for cell in entry["cells"]] == [
        ("silence", "demonstrated"),
        ("dtmf:event", "demonstrated"),
    ]


def test_an_adapter_with_other_options_is_another_column() -> None:
    def column(*options: str, cell: Cell = SILENT) -> MatrixDocument:
        return matrix_document([Column("carrier", "pack 1.0", "the agent", "real", (cell,), options=options)])

    both = replaced(column(), column("codec=other"))
    assert [column_name(entry) for entry in both["adapters"]] == ["carrier", "carrier codec=other"]
    assert "## carrier codec=other" in markdown_text(both)
    assert "carrier codec=other (pack 1.0), answered by the agent, in real time" in console_text(both)
    assert "carrier codec=other" in html_page(both)
    renewed = replaced(both, column("codec=other", cell=replace(SILENT, verdict="failed")))
    assert [str(change) for change in differences(both, renewed)] == ["carrier codec=other:silence: shown -> FAILED"]


def test_what_was_looked_for_is_kept_with_the_cells() -> None:
    odd = Column(
        "carrier", "pack 1.0", "the agent", "real", (Cell("audit:door", "failed", ""),), about={"audit:door": "a door"}
    )
    assert replaced(matrix_document([odd]), document(SILENT))["about"]["audit:door"] == "a door"


def test_a_matrix_that_was_saved_without_options_can_be_read(tmp_path: Path) -> None:
    (earlier,) = document(SHOWN)["adapters"]
    path = tmp_path / "matrix.json"
    old = {name: value for name, value in earlier.items() if name != "options"}
    path.write_text(json.dumps({**document(SHOWN), "adapters": [old]}))
    assert load_matrix(path) == document(SHOWN)


def test_other_adapters_are_kept() -> None:
    renewed = replaced(document(SILENT), document(SILENT, name="another"))
    assert [entry["adapter"] for entry in renewed["adapters"]] == ["carrier", "another"]


def test_differences_are_of_declarations_and_verdicts_and_not_of_figures() -> None:
    later = document(replace(SHOWN, figures={"latency, s": 0.2}), replace(FALSE, here=False, verdict="not_declared"))
    assert [str(change) for change in differences(document(SHOWN, FALSE, SILENT), later)] == [
        "carrier:dtmf:event: declared, FAILED -> not declared here, no",
        "carrier:silence: shown -> absent",
    ]


def test_cells_that_were_not_probed_again_have_not_changed() -> None:
    later = document(replace(FALSE, verdict="demonstrated"))
    assert [str(change) for change in differences(document(SHOWN, FALSE, SILENT), later, in_part=True)] == [
        "carrier:dtmf:event: declared, FAILED -> declared, shown"
    ]


def test_the_console_shows_class_value_value_here_and_probed_side_by_side() -> None:
    lines = console_text(document(SHOWN, FALSE, NARROWED, SILENT)).splitlines()
    assert lines[0] == "carrier (pack 1.0), answered by the probe agent, in virtual time"
    assert "  interruption             yes   yes   shown              stopped | after <0.1 s>" in lines
    assert "  dtmf:event               yes   yes   FAILED             none arrived" in lines
    assert "  dtmf:info                yes   no    no                 refused" in lines
    assert "  silence                  -     -     shown              5 s of silence" in lines
    assert lines[-1].startswith("1 adapter, 4 cells: 2 shown, 1 FAILED, 0 work undeclared, 1 not declared")


def test_an_adapter_in_trouble_says_why_in_one_line() -> None:
    text = console_text(matrix_document([troubled_column("carrier", "no device\nat all", source="pack 1.0")]))
    assert text.splitlines()[:2] == ["carrier (pack 1.0), not probed", "  no device"]


def test_markdown_has_one_table_of_all_adapters_and_one_of_each() -> None:
    page = markdown_text(document(SHOWN, FALSE))
    assert "| `interruption` | yes / yes / shown |\n" in page
    assert "| `dtmf:event` | yes / yes / **FAILED** |\n" in page
    assert "| `interruption` | yes | yes | shown | stopped \\| after <0.1 s> | latency, s: 0.1 |\n" in page


def test_the_page_is_well_formed_links_the_evidence_and_escapes_what_was_seen() -> None:
    page = html_page(document(SHOWN, FALSE, NARROWED))
    parser = _Balance()
    parser.feed(page)
    assert parser.open == []
    assert '<a href="run-1/">run-1</a>' in page
    assert "run-1, 1.20-1.30 s" in page
    assert "stopped | after &lt;0.1 s&gt;" in page
    assert '<td class="failed">' in page


def test_it_is_described_by_the_published_schema() -> None:
    troubled = matrix_document([troubled_column("carrier", "no device")])
    for each in (document(SHOWN, FALSE, NARROWED, SILENT), troubled):
        jsonschema.validate(each, schema(), cls=jsonschema.Draft202012Validator)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**troubled, "more": 1}, schema(), cls=jsonschema.Draft202012Validator)


def test_every_probe_has_a_name_and_words_of_its_own() -> None:
    assert len({probe.name for probe in PROBES}) == len(PROBES)
    assert len({probe.about for probe in PROBES}) == len(PROBES)


class _Balance(HTMLParser):
    """Keeps the elements that are open."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
