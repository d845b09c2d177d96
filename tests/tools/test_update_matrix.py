"""The matrix in docs/ is made, not written, and says what calls in virtual time show."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from tools.update_matrix import PAGE, SAVED, main, page_of
from voiceharness.cli.supervision import run_command
from voiceharness.matrix import differences, exit_code, load_matrix

if TYPE_CHECKING:
    from pathlib import Path

__all__: list[str] = []

pytestmark = pytest.mark.checkout


def test_the_page_is_that_of_the_saved_matrix() -> None:
    assert PAGE.read_text(encoding="utf-8") == page_of(load_matrix(SAVED))


def test_no_declaration_of_ours_is_false() -> None:
    assert exit_code(load_matrix(SAVED)) == 0


@pytest.mark.parametrize("adapter", ["in_process", "realtime", "twilio"])
def test_what_is_saved_is_what_calls_show(adapter: str) -> None:
    assert main(["--check", "--only", adapter]) == 0


@pytest.mark.realtime
def test_what_is_saved_of_sip_is_what_short_calls_show(tmp_path: Path) -> None:
    if find_spec("pjsua2") is None:
        pytest.skip("not installed: pjsua2")
    cells = ["direction:dial", "direction:be_dialled", "dtmf_from_agent:rfc4733", "flush", "marks", "interruption"]
    run_command(["matrix", "--out", str(tmp_path), *(f"--only=sip:{cell}" for cell in cells)])
    probed, saved = load_matrix(tmp_path / "matrix.json"), load_matrix(SAVED)
    (entry,) = (each for each in saved["adapters"] if each["adapter"] == "sip")
    known = [cell for cell in entry["cells"] if cell["capability"] in cells]
    assert differences({**saved, "adapters": [{**entry, "cells": known}]}, probed) == ()
