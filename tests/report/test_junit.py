"""A suite as JUnit XML."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from tests.report.calls import SUITE_OUTCOMES, answered_call, made_up, silent_call
from tests.report.suites import cell, missing_call
from tests.report.suites import suite_call as placed
from tests.report.test_suite import suite_call
from voiceharness.errors import ConnectError, RunInterruptedError
from voiceharness.report.junit import junit_bytes
from voiceharness.report.limits import SuiteLimits
from voiceharness.report.suite import suite_document
from voiceharness.scenario.checks import ResponseLatency

if TYPE_CHECKING:
    from voiceharness.report.suite import SuiteCall
    from voiceharness.scenario.result import CallResult, Outcome


def cases(*results: CallResult) -> list[ElementTree.Element]:
    return list(parsed(*results).iter("testcase"))


def parsed(*results: CallResult) -> ElementTree.Element:
    calls = [suite_call(result, "calls/greeting.yaml", "out/greeting") for result in results]
    return ElementTree.fromstring(junit_bytes(suite_document("suite", calls)))


@pytest.mark.parametrize(
    ("outcome", "tag"),
    list(zip(SUITE_OUTCOMES, [None, "failure", "error", "skipped", "error", "error", "error"], strict=True)),
)
def test_unmet_expectations_are_failures_and_what_broke_is_an_error(outcome: Outcome, tag: str | None) -> None:
    """Case B58."""
    (case,) = cases(made_up(outcome))
    verdicts = [child for child in case if child.tag in ("failure", "error", "skipped")]
    assert [child.tag for child in verdicts] == ([tag] if tag else [])
    assert [child.get("type") for child in verdicts] == ([outcome] if tag else [])


def test_a_failure_is_of_the_kind_of_the_expectation() -> None:
    failure = cases(silent_call())[0].find("failure")
    assert failure is not None
    assert failure.get("type") == "no_answer"
    assert str(failure.get("message")).startswith("no_answer: in_process: no speech of the agent")


def test_totals_count_each_verdict() -> None:
    root = parsed(answered_call(), silent_call(), made_up("not_called"), made_up("unsupported"))
    counts = {name: root.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "4", "failures": "1", "errors": "1", "skipped": "1"}
    seconds = sum(result.metrics.duration for result in (answered_call(), silent_call()) if result.metrics)
    assert root.get("time") == f"{seconds:.3f}"


def test_a_case_has_its_file_its_evidence_and_its_figures() -> None:
    (case,) = cases(answered_call())
    assert case.get("classname") == "greeting"
    assert case.get("file") == "calls/greeting.yaml"
    properties = {each.get("name"): each.get("value") for each in case.iter("property")}
    assert properties == {"adapter": "in_process", "outcome": "passed", "seed": "7", "evidence": "out/greeting"}
    assert "response_latency p50 0.501 s" in str(case.findtext("system-out"))


def test_the_xml_stays_well_formed_whatever_was_said() -> None:
    """Case B47."""
    text = "café €5 — ¿qué? 你好 😀 مرحبا"
    (case,) = cases(made_up("failed", scenario=f"{text}\x00\x1b\ud800", error=ConnectError(f"]]> & {text}\x0c")))
    assert case.get("name") == f"{text}\ufffd\ufffd\ufffd"
    assert f"ConnectError: ]]> & {text}\ufffd" in str(case.findtext("failure"))


def test_calls_of_a_suite_file_are_told_apart_by_their_cells() -> None:
    again: SuiteCall = {
        **placed(made_up("passed", scenario="a"), cell("ours", "mobile", seed=2)),
        "made": "now",
        "before": [{"outcome": "failed", "folder": None}],
    }
    root = ElementTree.fromstring(junit_bytes(suite_document("nightly", [again], limits=SuiteLimits())))
    (case,) = root.iter("testcase")
    assert case.get("name") == "a [ours, mobile, seed 2]"
    properties = {each.get("name"): each.get("value") for each in case.iter("property")}
    told = {name: properties[name] for name in ("label", "line", "made", "before")}
    assert told == {"label": "ours", "line": "mobile", "made": "now", "before": "failed"}


def test_an_interrupted_call_is_an_error_of_that_name_and_its_limits_are_skipped() -> None:
    calls = [placed(made_up("harness_fault", scenario="a", error=RunInterruptedError("stopped")), cell("ours"))]
    root = ElementTree.fromstring(junit_bytes(suite_document("n", calls, limits=SuiteLimits(failed=0))))
    (error,), (skipped,) = root.iter("error"), root.iter("skipped")
    assert error.get("type") == "interrupted"
    assert skipped.get("message") == "the run was interrupted"


def test_limits_of_all_calls_and_calls_that_were_not_made_are_cases_too() -> None:
    limits = SuiteLimits(failed=0, longest_call=99.0, response_latency=ResponseLatency(p95=1.0))
    calls = [placed(made_up("failed", scenario="a"), cell("ours")), placed(answered_call(), cell("ours"))]
    document = suite_document("nightly", calls, limits=limits)
    document["missing"] = [missing_call("b", cell("ours"))]
    root = ElementTree.fromstring(junit_bytes(document))
    counts = {name: root.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "6", "failures": "2", "errors": "1", "skipped": "1"}
    found = {
        case.get("name"): [child.tag for child in case if child.tag != "system-out"] for case in root.iter("testcase")
    }
    assert found["b [ours, seed 0]"] == ["error"]
    assert found["limit failed"] == ["failure"]
    assert found["limit longest_call"] == []
    assert found["limit response_latency.p95"] == ["skipped"]
    broken = next(root.iterfind(".//testcase[@name='limit failed']/failure"))
    assert broken.get("message") == "1 of 2 calls failed; at most 0 may, so 1 too many"
    assert str(broken.text).endswith("1. a (ours, seed 0)")


def test_a_call_whose_evidence_could_not_be_saved_says_why() -> None:
    call: SuiteCall = {**placed(made_up("passed"), folder="out/001"), "unsaved": "disk full"}
    root = ElementTree.fromstring(junit_bytes(suite_document("s", [call])))
    properties = {each.get("name"): each.get("value") for each in root.iter("property")}
    assert properties["unsaved"] == "disk full"
