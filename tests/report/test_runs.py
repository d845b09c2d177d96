"""Finished runs, and their history."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

import pytest

from tests.report.calls import answered_call, made_up
from tests.report.suites import cell
from tests.report.suites import suite_call as placed
from voiceharness.errors import OptionError
from voiceharness.report.artefacts import save_call
from voiceharness.report.document import call_document
from voiceharness.report.runs import HISTORY_FILE, SUITE_FILE, load_calls, load_history, load_suite, remember_run
from voiceharness.report.serialization import json_bytes
from voiceharness.report.suite import suite_document

if TYPE_CHECKING:
    from pathlib import Path

    from voiceharness.report.suite import SuiteDocument

__all__: list[str] = []


def saved(folder: Path) -> SuiteDocument:
    calls = [call_document(answered_call()), call_document(made_up("not_called"))]
    suite = suite_document("s", [{"file": None, "folder": None, "call": call} for call in calls])
    (folder / SUITE_FILE).write_bytes(json_bytes(suite))
    return suite


def test_the_calls_of_a_run_are_found_by_its_folder_or_its_file(tmp_path: Path) -> None:
    suite = saved(tmp_path)
    wanted = [each["call"] for each in suite["calls"]]
    assert load_calls(tmp_path) == load_calls(tmp_path / SUITE_FILE) == wanted
    assert load_suite(tmp_path) == suite


def test_calls_of_a_suite_file_are_told_apart_by_what_they_were_made_over(tmp_path: Path) -> None:
    calls = [placed(made_up("passed"), cell("ours", line)) for line in ("own", "mobile")]
    (tmp_path / SUITE_FILE).write_bytes(json_bytes(suite_document("s", calls)))
    assert [call["adapter"] for call in load_calls(tmp_path)] == ["ours, own", "ours, mobile"]


def test_one_saved_call_is_a_run_of_one(tmp_path: Path) -> None:
    save_call(answered_call(), tmp_path)
    assert load_calls(tmp_path) == [call_document(answered_call())]


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"format": "other"}', b"\xff"])
def test_what_is_no_run_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / SUITE_FILE).write_bytes(content)
    with pytest.raises(OptionError, match=r"suite\.json"):
        load_calls(tmp_path)
    with pytest.raises(OptionError, match=r"suite\.json"):
        load_suite(tmp_path)


def test_an_empty_folder_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="no run in"):
        load_calls(tmp_path)


def test_a_history_grows_with_every_run(tmp_path: Path) -> None:
    assert load_history(tmp_path) == []
    suite = saved(tmp_path)
    remember_run(tmp_path, suite)
    remember_run(tmp_path, suite)
    first, second = load_history(tmp_path)
    assert (first["calls"], first["exit_code"], first["counts"]) == (2, 3, {"passed": 1, "not_called": 1})
    metrics = answered_call().metrics
    assert metrics is not None
    assert first["response_latency"] == median(latency for latency in metrics.latencies if latency is not None)
    assert first["at"] <= second["at"]


def test_a_line_that_was_never_finished_is_passed_over(tmp_path: Path) -> None:
    remember_run(tmp_path, saved(tmp_path))
    with (tmp_path / HISTORY_FILE).open("a", encoding="utf-8") as file:
        file.write('{"format": "voiceharness-run/1", "at": "20\n{}\n')
    remember_run(tmp_path, saved(tmp_path))
    assert len(load_history(tmp_path)) == 2


def test_a_folder_that_is_gone_cannot_remember(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="cannot add to"):
        remember_run(tmp_path / "gone", saved(tmp_path))
