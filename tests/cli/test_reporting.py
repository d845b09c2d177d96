"""Pages on the command line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.report.calls import answered_call
from tests.report.html.test_suite_page import saved
from tests.report.test_transcribing import Attentive
from voiceharness.cli.reporting import write_pages
from voiceharness.errors import OptionError
from voiceharness.report.artefacts import load_document, save_call
from voiceharness.report.runs import call_folder, load_suite
from voiceharness.report.saved_shape import misfit
from voiceharness.report.transcribing import transcribe_call

if TYPE_CHECKING:
    from voiceharness.audio.chunk import AudioChunk
    from voiceharness.speech.transcription import Transcript

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
    tmp_path: Path, capsys: pytest.CaptureFixture[str], attentive: str
) -> None:
    saved(tmp_path / "suite")
    save_call(answered_call(), tmp_path / "call")
    for folder, call in ((tmp_path / "suite", tmp_path / "suite" / "000"), (tmp_path / "call", tmp_path / "call")):
        assert write_pages(folder=folder, transcriber=attentive, as_json=False) == 0
        assert "heard: from " in (call / "call.html").read_text("utf-8")
    assert capsys.readouterr().err == ""


@pytest.fixture
def attentive(monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a transcriber that understands everything."""
    monkeypatch.setattr("voiceharness.cli.reporting.make_transcriber", {"attentive": Attentive()}.__getitem__)
    return "attentive"


def words_in_suite(folder: Path) -> list[int]:
    return [len(each["call"]["agent_words"]) for each in load_suite(folder)["calls"]]


def agree(folder: Path) -> bool:
    """Tell whether the suite of a folder tells of its calls what their own results do."""
    return all(each["call"] == load_document(call_folder(folder, each) or "") for each in load_suite(folder)["calls"])


def test_the_suite_tells_what_the_transcriber_understood_as_the_calls_do(tmp_path: Path, attentive: str) -> None:
    saved(tmp_path)
    before = load_suite(tmp_path)
    write_pages(folder=tmp_path, transcriber=attentive, as_json=False)
    assert words_in_suite(tmp_path) == [2, 2, 0, 0]
    assert agree(tmp_path)
    assert load_suite(tmp_path)["calls"][0]["call"]["facts"]["transcriber"] == "attentive 1"
    after = load_suite(tmp_path)
    assert {name for name, value in after.items() if value != before[name]} == {"calls"}  # type: ignore[literal-required]  # any of its names
    assert not misfit(after, "suite")


def test_a_suite_that_fell_behind_its_calls_gets_their_words_at_last(tmp_path: Path, attentive: str) -> None:
    saved(tmp_path)
    transcribe_call(tmp_path / "000", Attentive())
    assert words_in_suite(tmp_path) == [0, 0, 0, 0]
    write_pages(folder=tmp_path, transcriber=attentive, as_json=False)
    assert agree(tmp_path)


def test_a_call_of_a_suite_that_is_done_alone_is_told_of_in_the_suite(
    tmp_path: Path, attentive: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved(tmp_path)
    monkeypatch.chdir(tmp_path / "001")
    write_pages(folder=Path(), transcriber=attentive, as_json=False)
    assert words_in_suite(tmp_path) == [0, 2, 0, 0]
    assert agree(tmp_path)
    assert 'href="../index.html"' in (tmp_path / "001" / "call.html").read_text("utf-8")


@pytest.mark.parametrize("content", ["{}", "[", '{"format": "voiceharness-suite/1", "calls": 4}'])
def test_a_call_beside_which_lies_no_suite_of_its_own_is_done_all_the_same(
    content: str, tmp_path: Path, attentive: str
) -> None:
    save_call(answered_call(), tmp_path / "call")
    (tmp_path / "suite.json").write_text(content)
    assert write_pages(folder=tmp_path / "call", transcriber=attentive, as_json=False) == 0
    assert (tmp_path / "suite.json").read_text() == content
    assert "../index.html" not in (tmp_path / "call" / "call.html").read_text("utf-8")


def test_what_a_run_left_that_was_killed_is_not_mixed_with_the_suite_of_an_earlier_one(
    tmp_path: Path, attentive: str, capsys: pytest.CaptureFixture[str]
) -> None:
    saved(tmp_path)
    save_call(answered_call(at_most=0.1), tmp_path / "000")
    write_pages(folder=tmp_path, transcriber=attentive, as_json=False)
    assert words_in_suite(tmp_path) == [0, 2, 0, 0]
    assert f"suite.json tells of another call than {tmp_path / '000'}" in capsys.readouterr().err


def test_calls_that_cannot_be_read_do_not_keep_the_others_from_it(
    tmp_path: Path, attentive: str, capsys: pytest.CaptureFixture[str]
) -> None:
    saved(tmp_path)
    (tmp_path / "000" / "recording.wav").write_bytes(b"")
    (tmp_path / "002" / "result.json").write_bytes(b"{")
    assert write_pages(folder=tmp_path, transcriber=attentive, as_json=False) == 0
    assert words_in_suite(tmp_path) == [0, 2, 0, 0]
    told = capsys.readouterr().err
    assert "recording.wav: not a WAV file" in told
    assert "result.json is damaged" in told


def test_an_interruption_leaves_files_that_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted(Attentive):
        """Stops at the second call."""

        understood = 0

        def transcribe(self, audio: AudioChunk) -> Transcript:
            self.understood += 1
            if self.understood > 2:
                raise KeyboardInterrupt
            return super().transcribe(audio)

    monkeypatch.setattr("voiceharness.cli.reporting.make_transcriber", {"interrupted": Interrupted()}.__getitem__)
    saved(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        write_pages(folder=tmp_path, transcriber="interrupted", as_json=False)
    assert words_in_suite(tmp_path) == [2, 0, 0, 0]
    assert agree(tmp_path)


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


@pytest.mark.parametrize(("suite", "page"), [(True, "index.html"), (False, "call.html")])
def test_a_folder_that_cannot_be_written_is_refused_before_a_transcriber_is_asked(
    suite: bool, page: str, tmp_path: Path
) -> None:
    if suite:
        saved(tmp_path).unlink()
    else:
        save_call(answered_call(), tmp_path)
    (tmp_path / page).mkdir()
    with pytest.raises(OptionError, match=f"cannot write .*{page}: Is a directory"):
        write_pages(folder=tmp_path, transcriber="nobody", as_json=False)
