"""Finished runs, and their history."""

from __future__ import annotations

import json
from statistics import median
from typing import TYPE_CHECKING

import pytest

from tests.report.calls import answered_call, made_up
from tests.report.suites import cell
from tests.report.suites import suite_call as placed
from voiceharness.errors import OptionError
from voiceharness.report.artefacts import save_call
from voiceharness.report.document import call_document
from voiceharness.report.runs import (
    HISTORY_FILE,
    SUITE_FILE,
    call_folder,
    load_calls,
    load_history,
    load_suite,
    remember_run,
    repeat_additions,
    save_suite,
)
from voiceharness.report.serialization import json_bytes
from voiceharness.report.suite import suite_document

if TYPE_CHECKING:
    from pathlib import Path

    from voiceharness.report.suite import SuiteDocument
    from voiceharness.scenario.result import CallResult

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


def saved_with_folders(folder: Path, *results: CallResult) -> SuiteDocument:
    suite = suite_document("s", [placed(each, folder=f"elsewhere/{n}") for n, each in enumerate(results)])
    save_suite(folder, suite)
    return suite


def test_a_suite_is_saved_in_a_folder_that_is_made_for_it(tmp_path: Path) -> None:
    suite = saved_with_folders(tmp_path / "a" / "b", answered_call())
    assert load_suite(tmp_path / "a" / "b") == suite


def test_a_suite_that_cannot_be_saved_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OptionError, match=r"cannot write .*suite\.json"):
        save_suite(tmp_path / "file", suite_document("s", []))


@pytest.mark.parametrize(
    ("folder", "name"), [("out/001", "001"), ("out\\001", "001"), ("/far/001/", "001"), ("", None), (None, None)]
)
def test_the_folder_of_a_call_is_found_where_the_suite_is_now(
    folder: str | None, name: str | None, tmp_path: Path
) -> None:
    assert call_folder(tmp_path, placed(answered_call(), folder=folder)) == (None if name is None else tmp_path / name)


def test_what_was_added_to_results_is_repeated_in_their_suite(tmp_path: Path) -> None:
    before = saved_with_folders(tmp_path, answered_call(), answered_call())
    result = call_document(answered_call())
    result["agent_words"] = [{"turn": 0, "text": "hello", "by": "transcriber"}]
    result["facts"] = {**result["facts"], "transcriber": "one 1"}
    assert repeat_additions(tmp_path, {tmp_path / "1": result}) == ()
    first, second = before["calls"]
    assert load_suite(tmp_path) == {**before, "calls": [first, {**second, "call": result}]}


def test_a_result_of_another_call_is_not_mixed_in(tmp_path: Path) -> None:
    before = saved_with_folders(tmp_path, answered_call(), answered_call(), answered_call())
    other_verdict, other_facts, other_words = (call_document(answered_call()) for _ in range(3))
    other_verdict["seed"] += 1
    other_facts["facts"] = {**other_facts["facts"], "python": "2.7"}
    assert other_facts["facts"] != call_document(answered_call())["facts"]
    other_words["agent_words"] = [{"turn": 0, "text": "hello", "by": "transcriber"}]
    results = {tmp_path / "0": other_verdict, tmp_path / "1": other_words}
    assert repeat_additions(tmp_path, results) == (tmp_path / "0",)
    assert load_suite(tmp_path)["calls"][0] == before["calls"][0]
    other_words["agent_words"] = [{"turn": 0, "text": "goodbye", "by": "transcriber"}]
    assert repeat_additions(tmp_path, {tmp_path / "1": other_words, tmp_path / "7": other_verdict}) == (tmp_path / "1",)
    known = {**before["calls"][2]["call"]["facts"], "python": "3.11"}
    save_suite(tmp_path, suite_document("s", [{"file": None, "folder": "0", "call": {**other_facts, "facts": known}}]))
    assert repeat_additions(tmp_path, {tmp_path / "0": other_facts}) == (tmp_path / "0",)


def test_a_suite_that_has_nothing_new_to_tell_is_not_written(tmp_path: Path) -> None:
    saved_with_folders(tmp_path, answered_call())
    inode = (tmp_path / SUITE_FILE).stat().st_ino
    assert repeat_additions(tmp_path, {tmp_path / "0": load_suite(tmp_path)["calls"][0]["call"]}) == ()
    assert (tmp_path / SUITE_FILE).stat().st_ino == inode


@pytest.mark.parametrize(
    "damage",
    [
        {"at": None},
        {"calls": "4"},
        {"counts": []},
        {"counts": {"passed": None}},
        {"response_latency": "fast"},
        {"stop_latency": float("nan")},
        {"exit_code": {}},
    ],
)
def test_a_line_of_the_history_that_is_damaged_is_passed_over(damage: dict[str, object], tmp_path: Path) -> None:
    remember_run(tmp_path, saved(tmp_path))
    file = tmp_path / HISTORY_FILE
    (run,) = load_history(tmp_path)
    lines = [json.dumps({**run, **damage}), json.dumps({name: run[name] for name in run if name not in damage})]  # type: ignore[literal-required]  # any of its names
    file.write_text("\n".join([*lines, "[" * 100_000, json.dumps(run), "4", ""]))
    assert load_history(tmp_path) == [run]
