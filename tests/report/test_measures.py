"""Figures that can be compared, and what a change of them means."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.report.calls import answered_call, made_up
from voiceharness.errors import OptionError
from voiceharness.measure.finding import Finding
from voiceharness.report.document import call_document
from voiceharness.report.measures import MEASURES, Measure, call_figures, family, measure_for, parse_tolerances

__all__: list[str] = []


def test_every_figure_belongs_to_a_family_that_is_compared() -> None:
    assert {family(name) for name in call_figures(call_document(answered_call()))} == set(MEASURES)


def test_figures_have_the_values_and_names_of_the_result() -> None:
    result = answered_call()
    metrics, figures = result.metrics, call_figures(call_document(result))
    assert metrics is not None
    assert figures["response_latency.maximum"] == metrics.response_latency.maximum
    assert figures["exchanges[0].latency"] == metrics.exchanges[0].latency
    assert figures["barge_ins[0].stop_latency"] == metrics.barge_ins[0].stop_latency
    assert figures["duration"] == metrics.duration
    assert figures["failures"] == len(result.failures)


def test_faults_are_counted_in_all_and_by_kind_and_warnings_are_not() -> None:
    late, early = (Finding("dead_air", severity, 0, 8, 1.0, "s", "") for severity in ("fault", "warning"))
    figures = call_figures(call_document(replace(answered_call(), findings=(late, late, early))))
    assert (figures["findings"], figures["findings[dead_air]"]) == (2, 2)


def test_a_call_that_was_not_answered_has_no_times() -> None:
    assert call_figures(call_document(made_up("not_called"))) == {"failures": 0, "findings": 0}


def test_the_larger_tolerance_holds() -> None:
    measure = Measure("lower", absolute=0.05, relative=0.1)
    assert measure.tolerance(0.2) == 0.05
    assert measure.tolerance(2.0) == 0.2


def test_one_unanswered_turn_more_is_always_something() -> None:
    assert measure_for("response_latency.missing", MEASURES).tolerance(5.0) == 0
    assert measure_for("response_latency.mean", MEASURES).tolerance(0.0) == 0.05


@pytest.mark.parametrize(
    ("amount", "absolute", "relative"),
    [("80ms", 0.08, 0), ("0.5s", 0.5, 0), ("2", 2, 0), ("20%", 0, 0.2)],
)
def test_tolerances_are_read_with_their_units(amount: str, absolute: float, relative: float) -> None:
    measures = parse_tolerances([f"stop_latency={amount}"])
    assert measures["stop_latency"] == Measure("lower", absolute, relative)
    assert measures["response_latency"] == MEASURES["response_latency"]


@pytest.mark.parametrize(
    "setting", ["stop_latency", "stop_latency=", "stop_latency=5h", "latency=5ms", "=5", "duration=-1"]
)
def test_a_tolerance_that_means_nothing_is_refused(setting: str) -> None:
    with pytest.raises(OptionError, match="families are response_latency"):
        parse_tolerances([setting])
