"""Several calls together."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from referencing import Registry

from tests.report.calls import SUITE_OUTCOMES, answered_call, made_up, silent_call
from tests.report.suites import cell, missing_call
from tests.report.suites import suite_call as placed
from voiceharness.errors import RunInterruptedError
from voiceharness.report.document import call_document, schema
from voiceharness.report.limits import SuiteLimits
from voiceharness.report.saved_shape import misfit
from voiceharness.report.suite import SuiteCall, incomplete, suite_document, suite_exit_code
from voiceharness.scenario.checks import ResponseLatency

if TYPE_CHECKING:
    from voiceharness.scenario.result import CallResult, Outcome


def suite_call(result: CallResult, file: str | None = None, folder: str | None = None) -> SuiteCall:
    return {"file": file, "folder": folder, "call": call_document(result)}


@pytest.mark.parametrize(
    ("outcomes", "code"),
    [
        ([], 0),
        (["passed"], 0),
        (["passed", "unsupported"], 0),
        (["unsupported", "unsupported"], 4),
        (["unsupported", "failed"], 1),
        (["failed", "protocol_violation"], 6),
        (["protocol_violation", "not_called"], 3),
        (["not_called", "bad_scenario"], 2),
        (["bad_scenario", "harness_fault"], 5),
        (list(SUITE_OUTCOMES), 5),
    ],
)
def test_the_gravest_outcome_decides_in_whatever_order(outcomes: list[Outcome], code: int) -> None:
    """Case B58."""
    for order in [outcomes] if len(outcomes) > 3 else permutations(outcomes):
        assert suite_exit_code(order) == code


def test_a_suite_is_described_as_the_schema_says() -> None:
    document = suite_document("all", [suite_call(silent_call(), "a.yaml", "out/a"), suite_call(made_up("unsupported"))])
    registry: Registry[Any] = Registry().with_contents([(str(schema("call")["$id"]), schema("call"))])  # any schema
    jsonschema.Draft202012Validator(schema("suite"), registry=registry).validate(document)
    assert document["counts"] == {"failed": 1, "unsupported": 1}
    assert document["exit_code"] == 1
    assert document["repeats"] == []


def test_what_was_called_again_is_summed_up() -> None:
    document = suite_document(
        "all", [suite_call(silent_call()), suite_call(made_up("passed")), suite_call(silent_call())]
    )
    registry: Registry[Any] = Registry().with_contents([(str(schema("call")["$id"]), schema("call"))])  # any schema
    jsonschema.Draft202012Validator(schema("suite"), registry=registry).validate(document)
    (repeated,) = document["repeats"]
    assert isinstance(repeated, dict)
    assert (repeated["scenario"], repeated["n"], repeated["flaky"]) == ("silence", 2, False)


def test_a_suite_file_has_cells_limits_and_missing_calls() -> None:
    again: SuiteCall = {
        **placed(answered_call(), cell("a", "mobile")),
        "made": "now",
        "before": [{"outcome": "failed", "folder": "out/001"}],
    }
    limits = SuiteLimits(failed=1, response_latency=ResponseLatency(at_most=0.1, p95=0.1))
    missing = missing_call("never", cell("a"))
    document = suite_document("all", [again], limits=limits)
    document["missing"] = [missing]
    registry: Registry[Any] = Registry().with_contents([(str(schema("call")["$id"]), schema("call"))])  # any schema
    jsonschema.Draft202012Validator(schema("suite"), registry=registry).validate(document)
    assert [each["verdict"] for each in document.get("limits", ())] == ["held", "broken", "not_judged"]
    assert document.get("missing") == [missing]


def test_a_call_that_was_not_made_is_not_passed() -> None:
    passed = placed(made_up("passed"), cell("a"))
    assert suite_document("s", [passed], limits=SuiteLimits())["exit_code"] == 0
    document = suite_document("s", [passed], limits=SuiteLimits(failed=5), missing=[missing_call("b", cell("a"))])
    assert document["exit_code"] == 3


@pytest.mark.parametrize("missing", [False, True])
def test_of_an_interrupted_run_nothing_is_judged_that_is_of_all_calls(missing: bool) -> None:
    stopped = placed(made_up("harness_fault", error=RunInterruptedError("stopped")), cell("a"))
    calls = [
        placed(made_up("passed"), cell("a")),
        placed(made_up("passed"), cell("a")),
        *([] if missing else [stopped]),
    ]
    not_made = [missing_call("b", cell("a"))] if missing else []
    document = suite_document("s", calls, limits=SuiteLimits(failed=0, longest_call=1.0), missing=not_made)
    registry: Registry[Any] = Registry().with_contents([(str(schema("call")["$id"]), schema("call"))])  # any schema
    jsonschema.Draft202012Validator(schema("suite"), registry=registry).validate(document)
    assert document["exit_code"] == 3
    assert document["counts"] == {"passed": 2}
    assert [repeated["n"] for repeated in document["repeats"] if isinstance(repeated, dict)] == [2]
    told = {(each["verdict"], each["explanation"], each["n"]) for each in document.get("limits", ())}
    assert told == {("not_judged", "the run was interrupted", 0)}


def test_a_broken_limit_fails_calls_that_all_passed() -> None:
    document = suite_document("s", [placed(answered_call(), cell("a"))], limits=SuiteLimits(longest_call=0.1))
    assert document["exit_code"] == 1


def test_the_same_scenario_over_another_line_is_no_repeat() -> None:
    calls = [placed(made_up("passed", scenario="a"), cell("ours", line)) for line in ("own", "mobile", "mobile")]
    (repeated,) = suite_document("s", calls, limits=SuiteLimits())["repeats"]
    assert isinstance(repeated, dict)
    assert (repeated["adapter"], repeated["n"]) == ("ours, mobile", 2)


@pytest.mark.parametrize(("outcome", "code"), [("passed", 2), ("failed", 2), ("not_called", 2), ("harness_fault", 5)])
def test_a_call_whose_evidence_could_not_be_saved_keeps_its_verdict_and_tells(outcome: Outcome, code: int) -> None:
    unsaved: SuiteCall = {**suite_call(made_up(outcome)), "unsaved": "cannot save the call in out: disk full"}
    suite = suite_document("s", [suite_call(made_up("passed")), unsaved])
    assert suite["exit_code"] == code
    assert suite["counts"][outcome] == 1 + (outcome == "passed")
    assert not misfit(suite, "suite")
    registry: Registry[Any] = Registry().with_contents([(str(schema("call")["$id"]), schema("call"))])  # any schema
    jsonschema.Draft202012Validator(schema("suite"), registry=registry).validate(suite)


@pytest.mark.parametrize(("outcome", "code"), [("passed", 2), ("failed", 2), ("harness_fault", 5)])
def test_a_suite_of_which_a_file_could_not_be_written_has_the_code_of_wrong_use(outcome: Outcome, code: int) -> None:
    suite = suite_document("s", [suite_call(made_up(outcome))])
    assert incomplete(suite) == {**suite, "exit_code": code}
