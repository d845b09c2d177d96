"""Percentiles with their estimator and sample size."""

from __future__ import annotations

import numpy as np
import pytest

from voiceharness.errors import OptionError
from voiceharness.measure.percentiles import describe, percentile


def test_percentiles_follow_the_stated_estimator() -> None:
    values = [0.31, 0.9, 0.2, 0.55, *(0.01 * index for index in range(40))]
    for p in (50, 90, 95):
        estimate = percentile(values, p)
        assert estimate.value == pytest.approx(float(np.percentile(values, p, method="linear")))
        assert (estimate.n, estimate.estimator) == (44, percentile([], 50).estimator)
        assert "type 7" in estimate.estimator


def test_too_few_values_give_no_percentile() -> None:
    estimate = percentile([0.1, 0.2, 0.3], 95)
    assert estimate.value is None
    assert (estimate.n, estimate.needed) == (3, 20)
    assert str(estimate) == "p95 needs 20 values, not 3"


@pytest.mark.parametrize(("p", "needed"), [(50, 2), (90, 10), (95, 20), (99, 100), (5, 20)])
def test_a_percentile_takes_one_expected_value_beyond_it(p: float, needed: int) -> None:
    assert percentile([0.5] * (needed - 1), p).value is None
    assert percentile([0.5] * needed, p).value == 0.5


def test_a_percentile_says_its_value_and_sample_size() -> None:
    assert str(percentile([0.2, 0.4], 50)) == "p50 0.300 (n=2)"


@pytest.mark.parametrize("p", [0, 100, -5])
def test_impossible_percentiles_are_refused(p: float) -> None:
    with pytest.raises(OptionError, match="between 0 and 100"):
        percentile([1.0], p)


def test_missing_figures_are_counted_and_change_nothing_else() -> None:
    distribution = describe([0.5, None, 0.7, None])
    assert (distribution.n, distribution.missing) == (2, 2)
    assert (distribution.minimum, distribution.maximum) == (0.5, 0.7)
    assert distribution.mean == pytest.approx(0.6)
    assert distribution.at(50) == pytest.approx(0.6)
    assert distribution.at(95) is None


def test_nothing_measured_gives_no_figures() -> None:
    distribution = describe([])
    assert (distribution.n, distribution.minimum, distribution.mean, distribution.at(50)) == (0, None, None, None)


def test_a_percentile_that_is_not_reported_is_named() -> None:
    with pytest.raises(OptionError, match=r"p99 is not reported.*p95"):
        describe([1.0]).at(99)
