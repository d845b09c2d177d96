"""A result as a document, against its published schema."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import jsonschema
import numpy as np
import pytest

from tests.report.calls import SUITE_OUTCOMES, answered_call, broken_call, made_up, silent_call
from voiceharness.audio.edges import Span
from voiceharness.errors import CallRejectedError, ConnectError
from voiceharness.line.record import CallRecord, TimelineEvent
from voiceharness.measure.finding import finding
from voiceharness.report.document import call_document, schema
from voiceharness.report.serialization import from_json, json_bytes
from voiceharness.scenario.result import Trust

if TYPE_CHECKING:
    from voiceharness.scenario.result import CallResult, Outcome


def crash() -> None:
    raise ZeroDivisionError("division by zero")


def caused_error() -> ConnectError:
    error = ConnectError("cannot reach the agent")
    try:
        crash()
    except ZeroDivisionError as cause:
        error.__cause__ = cause
    return error


def valid(result: CallResult) -> None:
    """Check the document as a reader of the file sees it."""
    document = from_json(json_bytes(call_document(result)))
    jsonschema.validate(document, schema("call"), cls=jsonschema.Draft202012Validator)


@pytest.mark.parametrize("name", ["call", "suite"])
def test_the_schemas_are_schemas(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema(name))


def test_a_call_is_described_as_the_schema_says() -> None:
    result = answered_call(at_most=0.1)
    found = finding("dead_air", Span(100, 200), 0.5, "s", "nobody spoke", severity="warning")
    valid(replace(result, findings=(found,), trust=Trust(("late",), 12.5, 80.0, 1)))
    valid(silent_call())


@pytest.mark.parametrize("outcome", SUITE_OUTCOMES)
def test_every_outcome_is_described_as_the_schema_says(outcome: Outcome) -> None:
    valid(made_up(outcome, error=ConnectError("nobody there")))


def test_a_document_with_another_field_is_refused_by_the_schema() -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**call_document(silent_call()), "surprise": 1}, schema("call"))


def test_figures_are_those_of_python() -> None:
    result = answered_call()
    document = call_document(result)
    assert result.metrics is not None
    assert document["metrics"] == result.metrics.to_json()
    assert [step["label"] for step in document["steps"]] == [step.label for step in result.steps]
    assert document["explanation"] == result.explain()


def test_an_error_is_told_with_what_caused_it_and_where() -> None:
    assert call_document(broken_call(caused_error()))["error"] == {
        "type": "ConnectError",
        "message": "cannot reach the agent",
        "where": "",
        "causes": [
            {
                "type": "ZeroDivisionError",
                "message": "division by zero",
                "where": f"test_document.py:{crash.__code__.co_firstlineno + 1} in crash",
            }
        ],
    }


def test_a_broken_protocol_is_told() -> None:
    nothing = np.zeros(0, np.int16)
    fault = TimelineEvent(0, "protocol_fault", {"kind": "bad_frame", "detail": "not base64"})
    result = made_up("protocol_violation", record=CallRecord(8000, nothing, nothing, (fault,)))
    assert call_document(result)["protocol_faults"] == [{"at": 0, "kind": "bad_frame", "detail": "not base64"}]
    assert call_document(result)["explanation"] == "protocol fault bad_frame: not base64"
    valid(result)


def test_neither_numbers_nor_secrets_are_told() -> None:
    error = CallRejectedError("486 from sip:+15550101234@127.0.0.1 for 5550109999 with hunter22", code=486)
    document = call_document(broken_call(error), secrets=["hunter22", "5550109999"])
    assert document["error"] is not None
    assert document["error"]["message"] == "486 from sip:…34@127.0.0.1 for [secret] with [secret]"
    assert "hunter22" not in document["explanation"]
