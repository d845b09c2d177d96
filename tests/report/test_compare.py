"""A run against an earlier one."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any, cast

import jsonschema
import pytest
from referencing import Registry

from tests.report.calls import answered_call, made_up
from voiceharness.report.compare import Change, Verdict, compare_runs
from voiceharness.report.document import call_document, schema
from voiceharness.report.measures import parse_tolerances

if TYPE_CHECKING:
    from voiceharness.report.document import CallDocument

__all__: list[str] = []


def call(**changes: Any) -> CallDocument:
    """A document of a real call with some of its fields replaced; ``a__b__c`` reaches inside."""
    document: Any = copy.deepcopy(call_document(answered_call()))
    for path, value in changes.items():
        *way, last = path.split("__")
        place = document
        for name in way:
            place = place[int(name) if name.isdigit() else name]
        place[last] = value
    return cast("CallDocument", document)


def slower(by: float) -> CallDocument:
    maximum = cast("dict[str, Any]", call()["metrics"])["response_latency"]["maximum"]
    return call(metrics__response_latency__maximum=maximum + by)


def verdicts(base: list[CallDocument], new: list[CallDocument]) -> dict[str, Verdict]:
    (compared,) = compare_runs(base, new).scenarios
    return {change.name: change.verdict for change in compared.changes if change.verdict != "same"}


def change(name: str, base: list[CallDocument], new: list[CallDocument]) -> Change:
    (compared,) = compare_runs(base, new).scenarios
    return next(each for each in compared.changes if each.name == name)


def test_a_run_is_the_same_as_itself() -> None:
    comparison = compare_runs([call()], [call()])
    assert [each.verdict for each in comparison.scenarios] == ["same"]
    assert comparison.exit_code == 0


def test_a_change_within_the_tolerance_is_nothing() -> None:
    assert verdicts([call()], [slower(0.04)]) == {}


def test_a_slower_answer_is_worse_and_a_faster_one_better() -> None:
    assert verdicts([call()], [slower(0.4)]) == {"response_latency.maximum": "worse"}
    assert verdicts([slower(0.4)], [call()]) == {"response_latency.maximum": "better"}
    assert compare_runs([call()], [slower(0.4)]).exit_code == 1
    assert compare_runs([slower(0.4)], [call()]).exit_code == 0


def test_a_tolerance_of_the_user_holds() -> None:
    measures = parse_tolerances(["response_latency=500ms"])
    assert compare_runs([call()], [slower(0.4)], measures).exit_code == 0


def test_what_is_neither_better_nor_worse_is_a_change() -> None:
    assert verdicts([call()], [call(metrics__agent_talk=30.0)]) == {"agent_talk": "changed"}
    assert compare_runs([call()], [call(metrics__agent_talk=30.0)]).exit_code == 0


def test_a_figure_that_only_one_side_has_is_unknown_and_its_loss_is_counted() -> None:
    kept = call(metrics__response_latency__missing=0)
    lost = call(metrics__exchanges__0__latency=None, metrics__response_latency__missing=1)
    assert verdicts([kept], [lost]) == {"exchanges[0].latency": "unknown", "response_latency.missing": "worse"}


def test_a_difference_that_is_less_than_the_scatter_is_nothing() -> None:
    scattered = [slower(by) for by in (0.0, 0.3, 0.6, 0.9, 1.2)]
    shifted = [slower(by) for by in (0.2, 0.5, 0.8, 1.1, 1.4)]
    assert verdicts(scattered, shifted) == {}
    steady = [slower(0.6)] * 5
    assert verdicts(steady, [slower(0.8)] * 5) == {"response_latency.maximum": "worse"}


def test_medians_spread_and_sizes_of_both_sides_are_told() -> None:
    found = change("response_latency.maximum", [slower(by) for by in (0.0, 0.1, 0.2)], [slower(0.5)])
    assert (found.base.n, found.new.n) == (3, 1)
    assert found.change == pytest.approx(0.4)
    assert found.base.deviation == pytest.approx(0.14826)
    assert found.allowed == pytest.approx(2 * 1.2533 * 0.14826 / 3**0.5, rel=1e-3)


def test_a_scenario_that_always_passed_and_does_not_any_more_is_worse() -> None:
    assert verdicts([call()] * 5, [call()] * 4 + [call(outcome="failed")]) == {"passed": "worse"}


def test_a_flaky_scenario_is_worse_only_beyond_chance() -> None:
    failed = call(outcome="failed")
    assert verdicts([call()] * 8 + [failed] * 2, [call()] * 7 + [failed] * 3) == {}
    assert verdicts([call()] * 18 + [failed] * 2, [call()] * 8 + [failed] * 12) == {"passed": "worse"}


def test_a_new_fault_is_worse() -> None:
    fault = {"kind": "dead_air", "severity": "fault", "start": 0, "end": 1, "figure": 1, "unit": "s", "explanation": ""}
    assert verdicts([call()], [call(findings=[fault])]) == {"findings": "worse", "findings[dead_air]": "worse"}
    assert verdicts([call(findings=[fault])], [call()]) == {"findings": "better", "findings[dead_air]": "better"}


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"seed": 8}, "seed: 7 and 8"),
        ({"virtual": False}, "time: virtual and real"),
        ({"adapter": "sip"}, "adapter: in_process and sip"),
        ({"facts__scenario": "0123"}, "scenario: "),
        ({"facts__user_audio": "0123"}, "user_audio: "),
        ({"metrics__rate": 16000}, "rate: 8000 and 16000"),
        ({"metrics__barge_ins__0__via": "signal"}, "via of step 2: speech and signal"),
    ],
)
def test_calls_under_other_conditions_are_refused_by_name(changes: dict[str, Any], named: str) -> None:
    comparison = compare_runs([call()], [call(**changes)])
    (compared,) = comparison.scenarios
    assert compared.verdict == "refused"
    (refused,) = compared.refused
    assert str(refused).startswith(named)
    assert compared.changes == ()
    assert comparison.exit_code == 2


def test_a_call_that_was_not_made_again_is_refused_and_a_new_one_is_added() -> None:
    old, new = (call_document(made_up("passed", scenario=name)) for name in ("old", "new"))
    comparison = compare_runs([old], [new])
    assert [(each.scenario, each.verdict) for each in comparison.scenarios] == [("old", "refused"), ("new", "added")]


def test_an_interrupted_call_is_as_if_it_was_not_made() -> None:
    error = {"type": "RunInterruptedError", "message": "stopped", "where": "", "causes": []}
    stopped = call(outcome="harness_fault", error=error)
    assert compare_runs([call()], [stopped]).scenarios == compare_runs([call()], []).scenarios
    assert compare_runs([call(), stopped], [call()]).exit_code == 0


def test_a_call_that_broke_early_is_compared_as_far_as_it_is_known() -> None:
    broken = call(metrics=None, outcome="not_called", facts={})
    found = verdicts([call()], [broken])
    assert found["passed"] == "worse"
    assert found["response_latency.mean"] == "unknown"


def test_the_machine_form_is_as_its_schema_says() -> None:
    refused = call_document(made_up("passed", scenario="gone"))
    added = call_document(made_up("failed", scenario="added"))
    told = compare_runs([call(), refused], [slower(0.4), added]).to_json()
    known = [(str(schema(name)["$id"]), schema(name)) for name in ("call", "suite")]
    registry: Registry[Any] = Registry().with_contents(known)  # any schema
    jsonschema.Draft202012Validator(schema("comparison"), registry=registry).validate(told)
    assert [each["verdict"] for each in cast("list[Any]", told["scenarios"])] == ["worse", "refused", "added"]


def test_the_machine_form_has_verdicts_and_plain_values() -> None:
    told = compare_runs([call()], [slower(0.4)]).to_json()
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    (scenario,) = cast("list[Any]", told["scenarios"])
    assert (told["exit_code"], scenario["verdict"]) == (1, "worse")
    (worse,) = [each for each in scenario["changes"] if each["verdict"] == "worse"]
    assert worse["name"] == "response_latency.maximum"
    assert worse["new"]["n"] == 1
