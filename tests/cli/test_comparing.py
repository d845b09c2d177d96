"""Comparing runs on the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.report.calls import answered_call
from voiceharness.cli.comparing import compare_folders
from voiceharness.errors import OptionError
from voiceharness.report.artefacts import save_call

if TYPE_CHECKING:
    from pathlib import Path

__all__: list[str] = []


@pytest.fixture
def call(tmp_path: Path) -> Path:
    return save_call(answered_call(), tmp_path / "call")


def test_the_same_run_is_the_same(call: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compare_folders(base=call, new=call, tolerances=(), everything=False, as_json=False) == 0
    assert "1 scenarios: 1 same" in capsys.readouterr().out


def test_other_scenarios_are_refused_with_code_2(call: Path, tmp_path: Path) -> None:
    other = save_call(answered_call(at_most=0.1), tmp_path / "other")
    assert compare_folders(base=call, new=other, tolerances=(), everything=False, as_json=False) == 2


def test_programs_get_one_document(call: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compare_folders(base=call, new=call, tolerances=["stop_latency=1%"], everything=False, as_json=True)
    told = json.loads(capsys.readouterr().out)
    assert (told["format"], told["exit_code"]) == ("voiceharness-comparison/1", 0)


def test_a_tolerance_is_checked_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="a tolerance is FAMILY=AMOUNT"):
        compare_folders(base=tmp_path, new=tmp_path, tolerances=["x=1"], everything=False, as_json=False)
