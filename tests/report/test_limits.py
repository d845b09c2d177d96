"""Limits of all calls of a suite."""

from __future__ import annotations

import pytest

from tests.report.calls import answered_call, made_up, silent_call
from tests.report.suites import cell, suite_call
from voiceharness.errors import ScenarioError
from voiceharness.report.limits import LimitDocument, SuiteLimits, judge_suite
from voiceharness.report.suite import SuiteCall, suite_document
from voiceharness.scenario.checks import ResponseLatency, StopLatency

__all__: list[str] = []

ANSWERED, SILENT = answered_call(), silent_call()


def calls(*outcomes: str) -> list[SuiteCall]:
    return [suite_call(made_up(each, scenario=f"call {n}"), cell("ours", seed=n)) for n, each in enumerate(outcomes)]


def judged(limits: SuiteLimits, given: list[SuiteCall]) -> LimitDocument:
    (verdict,) = judge_suite(limits, given)
    return verdict


@pytest.mark.parametrize(
    ("allowed", "outcomes", "verdict", "measured"),
    [
        (0, ["passed"], "held", 0),
        (0, ["passed", "failed"], "broken", 1),
        (1, ["passed", "failed"], "held", 1),
        (0.5, ["passed", "failed"], "held", 0.5),
        (0.5, ["passed", "failed", "not_called"], "broken", 2 / 3),
        (0.5, ["failed", "unsupported", "unsupported", "passed"], "held", 0.5),
        (0.05, ["passed"] * 19 + ["failed"], "held", 0.05),
        (0.05, ["passed"] * 18 + ["failed"], "broken", 1 / 19),
        (1.0, [], "held", 0.0),
    ],
)
def test_so_many_calls_may_fail_or_such_a_share(
    allowed: float, outcomes: list[str], verdict: str, measured: float
) -> None:
    found = judged(SuiteLimits(failed=allowed), calls(*outcomes))
    assert found["verdict"] == verdict
    assert found["measured"] == pytest.approx(measured)
    assert found["unit"] == ("share" if isinstance(allowed, float) else "calls")


def test_too_many_failures_are_told_by_number_and_name() -> None:
    found = judged(SuiteLimits(failed=1), calls("passed", "failed", "failed", "not_called"))
    assert found["explanation"] == "3 of 4 calls failed; at most 1 may, so 2 too many"
    assert [each["number"] for each in found["calls"]] == [2, 3, 4]
    assert found["calls"][0]["call"] == "call 1 (ours, seed 1)"


@pytest.mark.parametrize(
    ("outcomes", "allowed", "code"),
    [
        (["passed", "failed"], None, 1),
        (["passed", "failed"], 1, 0),
        (["passed", "failed", "failed"], 1, 1),
        (["passed", "not_called"], 1, 0),
        (["passed", "protocol_violation"], 0.5, 0),
        (["failed", "unsupported"], 1, 0),
        (["passed", "harness_fault"], 1, 5),
        (["passed", "bad_scenario"], 1, 2),
        (["failed", "not_called"], 1, 3),
    ],
)
def test_allowed_failures_do_not_fail_the_suite_and_faults_of_ours_are_never_allowed(
    outcomes: list[str], allowed: float | None, code: int
) -> None:
    document = suite_document("s", calls(*outcomes), limits=SuiteLimits(failed=allowed))
    assert document["exit_code"] == code


def test_latencies_are_pooled_and_those_who_made_them_are_told() -> None:
    latency = ANSWERED.metrics.response_latency.maximum if ANSWERED.metrics else None
    assert latency is not None
    given = [suite_call(SILENT, cell("a")), suite_call(ANSWERED, cell("b")), suite_call(ANSWERED, cell("c"))]
    found = judged(SuiteLimits(response_latency=ResponseLatency(at_most=latency / 2)), given)
    assert (found["kind"], found["verdict"], found["n"]) == ("response_latency.at_most", "broken", 4)
    assert found["measured"] == latency
    assert f"{latency / 2:.3f} s too long" in found["explanation"]
    assert "3 of 7 turns were never answered" in found["explanation"]
    assert [(each["number"], each["value"]) for each in found["calls"]] == [(2, latency), (3, latency)]
    assert judged(SuiteLimits(response_latency=ResponseLatency(p50=latency)), given)["verdict"] == "held"


def test_stop_latencies_are_those_that_a_limit_of_one_call_judges() -> None:
    stop = ANSWERED.metrics.stop_latency if ANSWERED.metrics else None
    assert stop is not None
    found = judged(SuiteLimits(stop_latency=StopLatency(at_most=9.0)), [suite_call(ANSWERED)])
    assert (found["n"], found["measured"]) == (stop.n, stop.maximum)


def test_a_percentile_of_too_few_values_is_not_judged() -> None:
    found = judged(SuiteLimits(response_latency=ResponseLatency(p95=0.001)), [suite_call(ANSWERED)])
    assert found["verdict"] == "not_judged"
    assert "too few" in found["explanation"]
    assert judged(SuiteLimits(stop_latency=StopLatency(at_most=1)), [suite_call(SILENT)])["verdict"] == "not_judged"


def test_a_percentile_of_enough_values_is_judged() -> None:
    found = judged(SuiteLimits(response_latency=ResponseLatency(p95=0.001)), [suite_call(ANSWERED)] * 20)
    assert found["verdict"] == "broken"


def test_every_percentile_is_a_limit_of_its_own() -> None:
    limits = SuiteLimits(response_latency=ResponseLatency(at_most=9.0, p50=9.0, p95=9.0))
    kinds = [each["kind"] for each in judge_suite(limits, [suite_call(ANSWERED)])]
    assert kinds == ["response_latency.at_most", "response_latency.p50", "response_latency.p95"]


def test_calls_are_limited_in_their_length_and_in_all() -> None:
    longest = max(each.metrics.duration for each in (ANSWERED, SILENT) if each.metrics)
    total = sum(each.metrics.duration for each in (ANSWERED, SILENT) if each.metrics)
    given = [suite_call(ANSWERED), suite_call(SILENT)]
    alone, together = judge_suite(SuiteLimits(longest_call=longest, total_duration=longest), given)
    assert (alone["verdict"], alone["measured"]) == ("held", longest)
    assert together["verdict"] == "broken"
    assert together["measured"] == pytest.approx(total)


def test_a_call_that_cannot_be_trusted_lends_no_figures() -> None:
    untrusted = suite_call(ANSWERED)
    untrusted["call"]["outcome"] = "harness_fault"
    assert judged(SuiteLimits(longest_call=0.001), [untrusted])["verdict"] == "not_judged"


@pytest.mark.parametrize("allowed", [-1, 1.5, True, -0.1])
def test_an_allowance_is_a_number_of_calls_or_a_share(allowed: float) -> None:
    with pytest.raises(ScenarioError, match="all_calls: failed takes a whole number of calls, or a share"):
        SuiteLimits(failed=allowed)
