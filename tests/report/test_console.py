"""Calls as text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.report.calls import SUITE_OUTCOMES, answered_call, broken_call, made_up, silent_call
from tests.report.suites import cell, missing_call
from tests.report.suites import suite_call as placed
from voiceharness.errors import AgentCrashedError, RunInterruptedError
from voiceharness.report.console import call_text, limits_text, suite_text, verdict_line
from voiceharness.report.document import call_document
from voiceharness.report.limits import SuiteLimits, judge_suite
from voiceharness.report.suite import suite_document
from voiceharness.scenario.result import Trust

if TYPE_CHECKING:
    from voiceharness.report.suite import Attempt, SuiteCall
    from voiceharness.scenario.result import Outcome


def test_a_failed_call_says_what_was_wanted_where_and_what_was_measured() -> None:
    lines = call_text(call_document(answered_call(at_most=0.1))).splitlines()
    assert lines[0] == "✗ failed: ask and interrupt (in_process, 5.200 s)"
    assert lines[1].startswith("    response_latency: wanted an answer after at most 0.1 s")
    assert lines[1].endswith("[step 4, at 5.000 s]")


def test_names_and_figures_are_those_of_the_document() -> None:
    document = call_document(answered_call())
    metrics = document["metrics"]
    assert metrics is not None
    text = call_text(document)
    for name in ("response_latency", "stop_latency"):
        maximum = metrics[name]["maximum"]
        assert f"maximum {maximum:.3f} s (n {metrics[name]['n']}" in text.partition(name)[2]
    assert f"duration {metrics['duration']:.3f} s" in text
    assert f"double_talk {metrics['double_talk']:.3f} s" in text


def test_steps_are_shown_on_demand() -> None:
    document = call_document(silent_call())
    assert "✓ 1. say" in call_text(document, steps=True)
    assert "✗ 2. hear" in call_text(document, steps=True)
    assert "1. say" not in call_text(document)


def test_a_run_that_is_not_trustworthy_says_so_first() -> None:
    result = made_up("harness_fault", trust=Trust(("frames left 30 ms late",)), error=AgentCrashedError("crashed"))
    assert call_text(call_document(result)).splitlines()[1].strip() == "not trustworthy: frames left 30 ms late"


def test_the_cause_of_an_error_is_shown() -> None:
    error = AgentCrashedError("the agent raised")
    error.__cause__ = ZeroDivisionError("division by zero")
    assert "caused by ZeroDivisionError: division by zero" in call_text(call_document(broken_call(error)))


@pytest.mark.parametrize("outcome", SUITE_OUTCOMES)
def test_every_verdict_can_be_written_in_ascii(outcome: Outcome) -> None:
    assert verdict_line(call_document(made_up(outcome)), ascii_only=True).isascii()


def test_nothing_of_what_was_said_reaches_the_terminal_as_a_control_character() -> None:
    """Case B47."""
    text = call_text(call_document(made_up("passed", scenario="\x1b[2J \x00 \ud800 😀")))
    assert text.splitlines()[0] == "✓ passed: �[2J � � 😀 (in_process)"


def test_a_suite_counts_its_outcomes_and_names_the_evidence_of_what_did_not_pass() -> None:
    results = [silent_call(), made_up("passed"), made_up("unsupported")]
    document = suite_document(
        "s",
        [{"file": None, "folder": f"out/{index}", "call": call_document(each)} for index, each in enumerate(results)],
    )
    text = suite_text(document)
    assert text.splitlines()[-1] == "3 calls: 1 passed, 1 failed, 1 unsupported"
    assert "evidence: out/0" in text
    assert "evidence: out/1" not in text


def test_a_suite_file_tells_cells_reruns_missing_calls_and_limits() -> None:
    kept: SuiteCall = {**placed(made_up("passed", scenario="a"), cell("ours", "mobile")), "made": "earlier"}
    attempt: Attempt = {"outcome": "failed", "folder": "out/001"}
    again: SuiteCall = {
        **placed(made_up("failed", scenario="b"), cell("ours", "mobile"), "out/b"),
        "made": "now",
        "before": [attempt, attempt],
    }
    first: SuiteCall = {**placed(made_up("passed", scenario="c"), cell("ours", "mobile")), "made": "now"}
    limits = SuiteLimits(failed=0, longest_call=1.0, total_duration=1.0)
    calls = [kept, again, first, placed(answered_call(), cell("ours"))]
    document = suite_document("s", calls, limits=limits)
    document["missing"] = [missing_call("d", cell("ours"))]
    duration = document["calls"][3]["call"]["metrics"] or pytest.fail("it was answered")
    assert suite_text(document, ascii_only=True).splitlines() == [
        "+ passed: a (ours, mobile, seed 0) [kept]",
        "x failed: b (ours, mobile, seed 0) [made again; before: failed, failed]",
        "    evidence: out/b",
        "+ passed: c (ours, mobile, seed 0) [made now]",
        f"+ passed: ask and interrupt (ours, seed 0, {duration['duration']:.3f} s)",
        "! not made: d (ours, seed 0)",
        "x limit broken: failed: 1 of 4 calls failed; at most 0 may, so 1 too many",
        "    2. b (ours, mobile, seed 0)",
        *(
            line.format(f"{duration['duration']:.3f}", f"{duration['duration'] - 1:.3f}")
            for kind in ("longest_call", "total_duration")
            for line in (
                f"x limit broken: {kind}: at most 1 s: {{0}} s (n 1), {{1}} s too long",
                "    4. ask and interrupt (ours, seed 0): {0} s",
            )
        ),
        "5 calls: 3 passed, 1 failed, 1 not made; 1 kept from the earlier run",
    ]


def test_limits_can_be_told_without_the_calls() -> None:
    calls = [placed(silent_call(), cell("ours"))]
    judged = judge_suite(SuiteLimits(failed=0, longest_call=60.0), calls)
    assert limits_text(judged, ascii_only=True) == (
        "x limit broken: failed: 1 of 1 calls failed; at most 0 may, so 1 too many\n"
        "    1. silence (ours, seed 0)\n"
        "+ limit held: longest_call: at most 60 s: 1.500 s (n 1)\n"
    )


def test_an_interrupted_call_is_told_as_that_and_no_limit_is_judged() -> None:
    stopped = made_up("harness_fault", scenario="a", error=RunInterruptedError("interrupted: stopped"))
    calls = [placed(stopped, cell("ours"), "out/a"), placed(made_up("failed", scenario="b"), cell("ours"))]
    assert suite_text(suite_document("s", calls, limits=SuiteLimits(failed=0)), ascii_only=True).splitlines() == [
        "! interrupted: a (ours, seed 0)",
        "    interrupted: stopped",
        "    evidence: out/a",
        "x failed: b (ours, seed 0)",
        "o limit not judged: failed: the run was interrupted",
        "2 calls: 1 failed, 1 interrupted",
    ]


def test_of_many_calls_that_break_a_limit_the_first_are_named() -> None:
    calls = [placed(made_up("failed", scenario=f"s{n}"), cell("ours")) for n in range(12)]
    text = suite_text(suite_document("s", calls, limits=SuiteLimits(failed=0)))
    assert text.count(". s") == 10
    assert "    and 2 more" in text


def test_a_call_whose_evidence_could_not_be_saved_says_why_and_names_no_folder() -> None:
    call: SuiteCall = {
        **placed(silent_call(), folder="out/001"),
        "unsaved": "cannot save the call in out/001: disk full",
    }
    lines = suite_text(suite_document("s", [call])).splitlines()
    assert "    not saved: cannot save the call in out/001: disk full" in lines
    assert not any("evidence:" in line for line in lines)
