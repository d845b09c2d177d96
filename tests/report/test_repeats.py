"""Repeated calls: medians, spread, flakes."""

from __future__ import annotations

import pytest

from tests.report.calls import answered_call, made_up
from voiceharness.errors import CallError, RunInterruptedError
from voiceharness.report.document import call_document
from voiceharness.report.repeats import repeats, spread

__all__: list[str] = []


def test_one_outlier_does_not_make_the_spread() -> None:
    figures = spread([1.0, 1.1, 0.9, 1.0, 50.0])
    assert (figures.n, figures.missing, figures.minimum, figures.maximum) == (5, 0, 0.9, 50.0)
    assert figures.median == 1.0
    assert figures.deviation == pytest.approx(0.148, abs=0.001)
    assert figures.error == pytest.approx(1.2533 * 0.14826 / 5**0.5, abs=1e-4)


@pytest.mark.parametrize("figures", [[], [1.0], [1.0, 5.0], [None, 1.0]])
def test_the_spread_of_few_figures_is_unknown(figures: list[float | None]) -> None:
    found = spread(figures)
    assert found.deviation is None
    assert found.error == 0
    assert found.n + found.missing == len(figures)


def test_calls_are_put_together_by_scenario_and_adapter() -> None:
    calls = [made_up("passed", scenario=name, adapter=adapter) for name, adapter in ("ax", "bx", "ax", "ay")]
    found = repeats(map(call_document, calls))
    assert [(each.scenario, each.adapter, each.n) for each in found] == [("a", "x", 2), ("b", "x", 1), ("a", "y", 1)]


def test_a_scenario_that_passes_sometimes_is_flaky() -> None:
    passed, failed = answered_call(), answered_call(at_most=0.1)
    (found,) = repeats(map(call_document, [passed, failed, passed, passed]))
    assert found.flaky
    assert found.outcomes == {"passed": 3, "failed": 1}
    assert found.reasons == {"response_latency": 1}
    assert found.rate == 0.75
    assert (found.low, found.high) == pytest.approx((0.3006, 0.9544), abs=1e-4)  # Wilson's interval of 3 in 4


@pytest.mark.parametrize("outcome", ["passed", "failed"])
def test_what_always_ends_alike_is_not_flaky(outcome: str) -> None:
    (found,) = repeats([call_document(made_up(outcome, scenario="s")) for _ in range(3)])
    assert not found.flaky


def test_an_interrupted_call_counts_for_nothing() -> None:
    stopped = call_document(made_up("harness_fault", error=RunInterruptedError("stopped")))
    (repeated,) = repeats([call_document(made_up("passed")), stopped])
    assert (repeated.n, repeated.rate, repeated.flaky) == (1, 1.0, False)
    assert repeats([stopped]) == ()


def test_an_error_is_a_reason() -> None:
    (found,) = repeats([call_document(made_up("not_called", error=CallError("no answer")))])
    assert found.reasons == {"CallError": 1}


def test_figures_of_repeats_are_those_of_their_documents() -> None:
    call = call_document(answered_call())
    assert call["metrics"] is not None
    (found,) = repeats([call, call, call_document(made_up("not_called", scenario=call["scenario"]))])
    latency = found.figures["response_latency.maximum"]
    assert latency.median == call["metrics"]["response_latency"]["maximum"]
    assert (latency.n, latency.missing) == (2, 1)
