"""Pages on the command line."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.report.calls import answered_call
from tests.report.html.test_suite_page import saved
from tests.report.test_transcribing import Attentive
from voiceharness.cli.reporting import write_pages
from voiceharness.errors import OptionError
from voiceharness.report.artefacts import save_call

if TYPE_CHECKING:
    from pathlib import Path

__all__: list[str] = []


def test_a_call_gets_its_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_call(answered_call(), tmp_path)
    assert write_pages(folder=tmp_path, transcriber=None, as_json=False) == 0
    assert capsys.readouterr().out.strip() == str(tmp_path / "call.html")
    assert (tmp_path / "call.html").exists()


def test_a_suite_gets_its_page_and_one_for_each_call(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved(tmp_path)
    for page in tmp_path.rglob("*.html"):
        page.unlink()
    assert write_pages(folder=tmp_path, transcriber=None, as_json=True) == 0
    pages = json.loads(capsys.readouterr().out)["pages"]
    assert pages == [*(str(tmp_path / f"{n:03d}" / "call.html") for n in range(4)), str(tmp_path / "index.html")]


def test_a_transcriber_tells_first_what_agents_said_that_sent_no_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("voiceharness.cli.reporting.make_transcriber", {"attentive": Attentive()}.__getitem__)
    saved(tmp_path / "suite")
    save_call(answered_call(), tmp_path / "call")
    for folder, call in ((tmp_path / "suite", tmp_path / "suite" / "000"), (tmp_path / "call", tmp_path / "call")):
        assert write_pages(folder=folder, transcriber="attentive", as_json=False) == 0
        assert "heard: from " in (call / "call.html").read_text("utf-8")
    assert capsys.readouterr().err == ""


def test_a_transcriber_that_nobody_knows_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    save_call(answered_call(), tmp_path)
    with pytest.raises(OptionError, match="there is no transcriber named 'nobody'"):
        write_pages(folder=tmp_path, transcriber="nobody", as_json=False)
    assert not (tmp_path / "call.html").exists()


def test_a_call_whose_evidence_is_gone_goes_without(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved(tmp_path)
    shutil.rmtree(tmp_path / "001")
    assert write_pages(folder=tmp_path, transcriber=None, as_json=False) == 0
    assert "no saved call" in capsys.readouterr().err
    assert 'href="001/' not in (tmp_path / "index.html").read_text("utf-8")


def test_a_folder_with_nothing_in_it_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError):
        write_pages(folder=tmp_path, transcriber=None, as_json=False)
