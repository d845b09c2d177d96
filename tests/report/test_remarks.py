"""Remarks on how a call came about."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from voiceharness.report.console import call_text
from voiceharness.report.document import call_document
from voiceharness.report.html.sections import verdict_header
from voiceharness.report.remarks import remarks
from voiceharness.scenario.result import CallResult

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voiceharness.line.record import Value

__all__: list[str] = []


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({}, []),
        ({"lost_workers": 1}, ["made again: the worker that had it was lost"]),
        ({"lost_workers": 2}, ["made again: the worker that had it was lost, 2 times"]),
        ({"worker": "tcp://127.0.0.1:5"}, ["made on worker tcp://127.0.0.1:5"]),
    ],
)
def test_what_only_a_few_calls_have_is_said_in_words(facts: Mapping[str, Value], said: list[str]) -> None:
    call = call_document(CallResult("asks", "in_process", "passed", 1, facts=facts))
    assert list(remarks(call)) == said
    for line in said:
        assert f"    {line}\n" in call_text(call)
        assert line in str(verdict_header(call))
