"""The matrix in docs/ is made, not written, and says what calls show: every cell of every adapter is compared."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tools import update_matrix
from tools.update_matrix import PAGE, SAVED, Part, columns_of, compared, doubtful, main, page_of, parts_of
from voiceharness.matrix import PROBES, Cell, Column, MatrixDocument, exit_code, load_matrix, matrix_document
from voiceharness.registry import load_adapter, plugins

if TYPE_CHECKING:
    from collections.abc import Iterable

    from voiceharness.matrix import Verdict

__all__: list[str] = []

pytestmark = pytest.mark.checkout

OURS = [plugin.name for plugin in plugins() if plugin.source.startswith("voiceharness ")]
VIRTUAL = [name for name in OURS if load_adapter(name).capabilities.virtual_time]
REAL = [name for name in OURS if name not in VIRTUAL]


def test_the_page_is_that_of_the_saved_matrix() -> None:
    assert PAGE.read_text(encoding="utf-8") == page_of(load_matrix(SAVED))


def test_no_declaration_of_ours_is_false() -> None:
    assert exit_code(load_matrix(SAVED)) == 0


def test_every_adapter_of_ours_is_in_it_and_sip_with_each_of_its_libraries() -> None:
    saved = load_matrix(SAVED)["adapters"]
    assert [(entry["adapter"], *entry["options"]) for entry in saved] == [
        (column.adapter, *([column.option] if column.option else [])) for column in columns_of(OURS)
    ]
    assert [entry["options"] for entry in saved if entry["adapter"] == "sip"] == [
        ["backend=pjsua2"],
        ["backend=baresip"],
    ]
    assert [entry["adapter"] for entry in saved if entry["trouble"]] == []


@pytest.mark.parametrize("adapter", VIRTUAL)
def test_what_is_saved_is_what_calls_in_virtual_time_show(adapter: str) -> None:
    assert main(["--check", "--only", adapter]) == 0


@pytest.mark.realtime
@pytest.mark.timeout(900)
def test_what_is_saved_is_what_calls_in_real_time_show(capsys: pytest.CaptureFixture[str]) -> None:
    """All adapters at once: their calls mostly wait."""
    code = main(["--check", *(part for name in REAL for part in ("--only", name))])
    told = capsys.readouterr().out
    assert code == 0, told
    left_out = [line for line in told.splitlines() if "cannot be compared here" in line]
    if left_out:
        pytest.skip(f"not installed: {'; '.join(left_out)}")


# How it is done


def test_a_column_in_real_time_is_cut_into_parts_that_hold_every_cell_once() -> None:
    (column,) = columns_of(["sound_card"])
    parts = parts_of(column)
    assert parts[0].cells == ("long_turn",)
    assert sorted(cell for part in parts for cell in part.cells) == sorted(probe.name for probe in PROBES)
    assert parts_of(Part("in_process")) == [Part("in_process")]


def test_a_part_is_probed_by_the_command_of_a_user() -> None:
    command = Part("sip", "backend=baresip", ("silence",)).command("here")
    assert command[-5:] == ["--out", "here", "--only=sip:silence", "--set", "backend=baresip"]
    assert Part("twilio").command("here")[-1] == "--adapter=twilio"


def document(**verdicts: Verdict) -> MatrixDocument:
    """A matrix of one adapter."""
    cells = tuple(Cell(name, verdict, f"{name} is {verdict}") for name, verdict in verdicts.items())
    return matrix_document([Column("carrier", "pack 1.0", "the agent", "real", cells)])


def test_only_what_was_probed_is_compared() -> None:
    saved = document(silence="demonstrated", flush="demonstrated")
    assert compared(saved, document(silence="demonstrated")) == ()
    (change,) = compared(saved, document(flush="failed"))
    assert str(change) == "carrier:flush: shown -> FAILED"


def test_a_column_that_cannot_be_used_here_says_nothing() -> None:
    saved = document(silence="demonstrated")
    unusable = {**saved, "adapters": [{**saved["adapters"][0], "trouble": "no device"}]}
    assert compared(saved, unusable) == ()  # type: ignore[arg-type]  # it is a matrix


def probing(monkeypatch: pytest.MonkeyPatch, saved: MatrixDocument, *found: MatrixDocument) -> list[list[Part]]:
    """Let what is saved, and what is found at each time, be this; return what is asked for."""
    asked: list[list[Part]] = []
    left = list(found)

    def probed(parts: Iterable[Part], *, at_once: int = 1) -> MatrixDocument:
        asked.append(list(parts))
        return left.pop(0)

    monkeypatch.setattr(update_matrix, "_probed", probed)
    monkeypatch.setattr(update_matrix, "load_matrix", lambda _path: json.loads(json.dumps(saved)))
    return asked


def test_a_cell_that_differs_is_probed_once_more_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    saved = document(silence="demonstrated", flush="demonstrated")
    other = document(silence="demonstrated", flush="not_testable_here")
    asked = probing(monkeypatch, saved, other, document(flush="demonstrated"))
    assert main(["--check", "--only", "sound_card"]) == 0
    assert asked[1] == [Part("carrier", "", ("flush",))]


def test_what_a_busy_machine_may_have_spoilt_is_doubted() -> None:
    found = document(silence="demonstrated", flush="failed", marks="not_testable_here", interruption="not_declared")
    assert doubtful(found) == [("carrier", "flush"), ("carrier", "marks")]


def test_a_cell_that_differs_each_time_is_told_with_what_was_seen(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    saved, other = document(flush="demonstrated"), document(flush="failed")
    probing(monkeypatch, saved, other, other, other)
    assert main(["--check", "--only", "sound_card"]) == 1
    told = capsys.readouterr().out
    assert "is not what calls show: carrier:flush: shown -> FAILED: flush is failed" in told
    assert "python -m tools.update_matrix" in told
