"""Calling again what did not pass."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.report.calls import made_up
from voiceharness.errors import OptionError, RunInterruptedError
from voiceharness.report.limits import SuiteLimits
from voiceharness.report.runs import SUITE_FILE
from voiceharness.report.serialization import json_bytes
from voiceharness.report.suite import MissingCall, SuiteCall, suite_document
from voiceharness.scenario.identity import scenario_fingerprint
from voiceharness.scenario.scenario import Scenario
from voiceharness.scenario.steps import Wait
from voiceharness.suite.job import Job, save_result
from voiceharness.suite.plan import PlannedCall
from voiceharness.suite.rerun import bring_evidence, forget_evidence, rerun_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voiceharness.report.cells import Cell
    from voiceharness.scenario.result import Outcome

__all__: list[str] = []


def planned(out: Path, name: str, *, seconds: float = 0.5, seed: int = 3) -> PlannedCall:
    cell: Cell = {"file": "calls.yaml", "adapter": "ours", "line": "mobile", "seed": seed, "repeat": 1}
    return PlannedCall(Job(Scenario(name, [Wait(seconds)], seed=seed), out / name), cell)


def saved(call: PlannedCall, outcome: Outcome) -> SuiteCall:
    scenario = call.job.scenario
    facts = {"scenario": scenario_fingerprint(scenario)}
    result = made_up(outcome, scenario=scenario.name, seed=scenario.seed, facts=facts)
    assert call.cell is not None
    return {**save_result(call.job, result), "cell": call.cell}


def write(out: Path, calls: list[SuiteCall], missing: list[MissingCall] | None = None) -> None:
    document = suite_document("nightly", calls, limits=SuiteLimits(), missing=missing or [])
    out.mkdir(exist_ok=True)
    (out / SUITE_FILE).write_bytes(json_bytes(document))


def missing(call: PlannedCall) -> MissingCall:
    assert call.cell is not None
    return {"scenario": call.job.scenario.name, "file": None, "folder": str(call.job.folder), "cell": call.cell}


def again(calls: Sequence[PlannedCall]) -> list[str]:
    return [call.job.folder.name for call in calls]


def test_only_what_did_not_pass_is_made_again_beside_its_earlier_evidence(tmp_path: Path) -> None:
    calls = [planned(tmp_path, name) for name in ("a", "b", "c")]
    write(tmp_path, [saved(calls[0], "passed"), saved(calls[1], "failed"), saved(calls[2], "passed")])
    rerun = rerun_of(calls, tmp_path, tmp_path)
    assert again(list(rerun.again)) == ["b-again"]
    assert sorted(rerun.kept) == [0, 2]
    assert rerun.kept[0].get("made") == "earlier"
    assert rerun.before == {1: [{"outcome": "failed", "folder": str(tmp_path / "b")}]}
    assert again(rerun.in_order(calls)) == ["a", "b-again", "c"]


def test_an_interrupted_call_is_made_again_as_one_that_never_was(tmp_path: Path) -> None:
    call = planned(tmp_path, "b")
    stopped = made_up("harness_fault", scenario="b", seed=3, error=RunInterruptedError("stopped"))
    assert call.cell is not None
    write(tmp_path, [{**save_result(call.job, stopped), "cell": call.cell}])
    rerun = rerun_of([call], tmp_path, tmp_path)
    assert again(list(rerun.again)) == ["b"]
    assert rerun.before == {}


def test_an_earlier_rerun_is_remembered_and_its_folder_never_taken(tmp_path: Path) -> None:
    call = planned(tmp_path, "b")
    write(tmp_path, [saved(call, "failed")])
    second = rerun_of([call], tmp_path, tmp_path)
    made: SuiteCall = {**saved(second.again[0], "not_called"), "before": second.before[0]}
    write(tmp_path, [made])
    third = rerun_of([call], tmp_path, tmp_path)
    assert again(list(third.again)) == ["b-again-2"]
    assert [attempt["outcome"] for attempt in third.before[0]] == ["failed", "not_called"]


@pytest.mark.parametrize("change", ["seed", "steps", "never made"])
def test_what_has_no_earlier_call_that_is_the_same_is_made(change: str, tmp_path: Path) -> None:
    call, other = planned(tmp_path, "a"), planned(tmp_path, "b")
    write(tmp_path, [saved(other, "passed"), *([] if change == "never made" else [saved(call, "passed")])])
    now = planned(tmp_path, "a", seed=4 if change == "seed" else 3, seconds=0.7 if change == "steps" else 0.5)
    assert [each.job.scenario.name for each in rerun_of([other, now], tmp_path, tmp_path).again] == ["a"]


def test_a_call_is_known_wherever_it_stands_in_the_plan(tmp_path: Path) -> None:
    calls = [planned(tmp_path, name) for name in ("a", "b")]
    write(tmp_path, [saved(calls[0], "passed"), saved(calls[1], "passed")])
    assert list(rerun_of([planned(tmp_path, "new"), *reversed(calls)], tmp_path, tmp_path).kept) == [1, 2]


def test_what_was_skipped_as_unsupported_is_no_earlier_call(tmp_path: Path) -> None:
    call = planned(tmp_path, "a")
    write(tmp_path, [saved(call, "unsupported")])
    rerun = rerun_of([call], tmp_path, tmp_path)
    assert again(list(rerun.again)) == ["a"]
    assert rerun.before == {}


def test_of_a_run_that_was_killed_whole_evidence_counts(tmp_path: Path) -> None:
    calls = [planned(tmp_path, name) for name in ("whole", "cut", "never")]
    saved(calls[0], "passed")
    saved(calls[1], "passed")
    (calls[1].job.folder / "result.json").write_text("{}")
    write(tmp_path, [], [missing(call) for call in calls])
    rerun = rerun_of(calls, tmp_path, tmp_path)
    assert list(rerun.kept) == [0]
    assert again(list(rerun.again)) == ["cut", "never"]


def test_what_a_killed_rerun_was_to_make_is_not_lost(tmp_path: Path) -> None:
    call = planned(tmp_path, "a")
    write(tmp_path, [saved(call, "failed")])
    rerun = rerun_of([call], tmp_path, tmp_path)
    write(tmp_path, [], [{**missing(rerun.again[0]), "before": rerun.before[0]}])
    next_one = rerun_of([call], tmp_path, tmp_path)
    assert again(list(next_one.again)) == ["a-again"]
    assert next_one.before == rerun.before


def test_evidence_that_is_forgotten_is_not_whole(tmp_path: Path) -> None:
    call = planned(tmp_path, "a")
    saved(call, "passed")
    forget_evidence([call, planned(tmp_path, "never made")])
    write(tmp_path, [], [missing(call)])
    assert rerun_of([call], tmp_path, tmp_path).kept == {}


def test_evidence_is_brought_to_another_folder_wherever_the_earlier_run_lies_now(tmp_path: Path) -> None:
    made = [planned(tmp_path / "first", name) for name in ("a", "b")]
    write(tmp_path / "first", [saved(made[0], "passed"), saved(made[1], "failed")])
    earlier = Path(shutil.move(tmp_path / "first", tmp_path / "moved"))
    out = tmp_path / "out"
    calls = [replace(call, job=replace(call.job, folder=out / call.job.folder.name)) for call in made]
    rerun = rerun_of(calls, earlier, out)
    assert not out.exists()
    bring_evidence(rerun, earlier, out)
    assert rerun.kept[0]["folder"] == str(out / "a")
    assert (out / "a" / "result.json").exists()
    assert (out / "b" / "result.json").exists()
    assert again(list(rerun.again)) == ["b-again"]


def test_a_folder_without_a_run_of_a_suite_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="no run in"):
        rerun_of([], tmp_path, tmp_path)
    (tmp_path / SUITE_FILE).write_bytes(json_bytes(suite_document("plain", [])))
    with pytest.raises(OptionError, match="holds no run of a suite file"):
        rerun_of([], tmp_path, tmp_path)


def test_the_run_of_another_suite_is_refused_by_name(tmp_path: Path) -> None:
    call = planned(tmp_path, "a")
    write(tmp_path, [saved(call, "failed")])
    with pytest.raises(OptionError, match="holds a run of the suite 'nightly', not of 'weekly'"):
        rerun_of([call], tmp_path, tmp_path, suite="weekly")
    assert len(rerun_of([call], tmp_path, tmp_path, suite="nightly").again) == 1


def test_a_run_none_of_whose_calls_is_asked_for_is_refused(tmp_path: Path) -> None:
    write(tmp_path, [saved(planned(tmp_path, "a"), "failed")])
    with pytest.raises(OptionError, match="none of the calls that are asked for is among the 1 of the run in"):
        rerun_of([planned(tmp_path, "b")], tmp_path, tmp_path)


def test_a_call_whose_evidence_could_not_be_saved_is_made_again(tmp_path: Path) -> None:
    calls = [planned(tmp_path, "a"), planned(tmp_path, "b")]
    write(tmp_path, [{**saved(calls[0], "passed"), "unsaved": "disk full"}, saved(calls[1], "passed")])
    assert again(rerun_of(calls, tmp_path, tmp_path).again) == ["a-again"]


def test_what_an_earlier_run_left_and_cannot_be_marked_is_an_error(tmp_path: Path) -> None:
    call = planned(tmp_path, "a")
    (call.job.folder / "manifest.json").mkdir(parents=True)
    with pytest.raises(OptionError, match=r"cannot remove .*manifest\.json"):
        forget_evidence([call])


def test_there_is_nothing_to_forget_where_a_file_is_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    forget_evidence([planned(tmp_path, "a")])
