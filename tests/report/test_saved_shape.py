"""Saved documents against the shapes that their readers rely on."""

from __future__ import annotations

from typing import Any

import pytest

from tests.report.calls import answered_call
from voiceharness.report.document import call_document
from voiceharness.report.saved_shape import misfit, misfit_of, published
from voiceharness.report.suite import SuiteCall, suite_document

__all__: list[str] = []


def suite_call() -> SuiteCall:
    return {"file": None, "folder": None, "call": call_document(answered_call())}


def saved_call() -> dict[str, Any]:
    return {**call_document(answered_call())}


def test_a_call_and_a_suite_as_they_are_written_fit() -> None:
    assert misfit(saved_call(), "call") is None
    assert misfit(suite_document("nightly", [suite_call()]), "suite") is None


@pytest.mark.parametrize("name", published("call")["required"])
def test_a_call_that_lacks_something_is_told_what(name: str) -> None:
    call = saved_call()
    del call[name]
    assert misfit(call, "call") == f"{name} is missing"


@pytest.mark.parametrize(
    ("name", "value", "wrong"),
    [
        ("seed", "zzz", "seed cannot be 'zzz'"),
        ("seed", True, "seed cannot be True"),
        ("outcome", 3, "outcome cannot be 3"),
        ("trust", None, "trust cannot be null"),
        ("checks", [{}], "checks[0].kind is missing"),
        ("steps", [3], "steps[0] cannot be 3"),
        ("error", {"type": "ValueError"}, "error.message is missing"),
        ("facts", {"a": []}, "facts.a cannot be a list"),
        ("explanation", {}, "explanation cannot be an object"),
        ("adapter", 10**60, f"adapter cannot be 1{'0' * 38}…"),
    ],
)
def test_a_value_of_another_kind_is_told_with_its_place(name: str, value: object, wrong: str) -> None:
    assert misfit({**saved_call(), name: value}, "call") == wrong


def test_a_call_in_a_suite_is_held_against_its_own_schema() -> None:
    suite: dict[str, Any] = {**suite_document("nightly", [suite_call()])}
    broken = {**suite["calls"][0], "call": {**saved_call(), "trust": 3}}
    assert misfit({**suite, "calls": [broken]}, "suite") == "calls[0].call.trust cannot be 3"


def test_what_a_newer_version_added_is_passed_over() -> None:
    assert misfit({**saved_call(), "mood": "good", "outcome": "splendid"}, "call") is None


def test_something_that_is_no_object_is_told() -> None:
    assert misfit_of([], {"type": "object"}) == "the whole cannot be a list"
