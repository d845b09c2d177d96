"""Several calls together."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from referencing import Registry

from tests.report.calls import SUITE_OUTCOMES, made_up, silent_call
from voiceharness.report.document import call_document, schema
from voiceharness.report.suite import SuiteCall, suite_document, suite_exit_code

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
