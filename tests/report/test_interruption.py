"""Calls that were going on when their run was stopped."""

from __future__ import annotations

from tests.report.calls import made_up
from voiceharness.errors import RunInterruptedError, WorkerError
from voiceharness.report.document import call_document
from voiceharness.report.interruption import shown_outcome, was_interrupted

__all__: list[str] = []


def test_only_what_the_stop_of_the_run_cut_short_was_interrupted() -> None:
    stopped = call_document(made_up("harness_fault", error=RunInterruptedError("stopped")))
    assert was_interrupted(stopped)
    assert shown_outcome(stopped) == "interrupted"
    for other in (made_up("harness_fault", error=WorkerError("died")), made_up("passed")):
        assert not was_interrupted(call_document(other))
        assert shown_outcome(call_document(other)) == other.outcome
