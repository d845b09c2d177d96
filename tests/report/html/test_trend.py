"""How a suite has fared."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from voiceharness.report.html.trend import trend_section

if TYPE_CHECKING:
    from voiceharness.report.runs import PastRun

__all__: list[str] = []


def run(number: int, *, latency: float | None = 0.5, **counts: int) -> PastRun:
    outcomes: Any = counts
    return {
        "format": "voiceharness-run/1",
        "at": f"2026-11-{number:02d}T03:00:00+00:00",
        "exit_code": 0,
        "calls": sum(counts.values()),
        "counts": outcomes,
        "response_latency": latency,
        "stop_latency": None,
    }


def heights(drawn: str, kind: str) -> list[float]:
    found = re.findall(rf'height="([\d.]+)" class="{kind}"', drawn)
    return [float(height) for height in found]


def test_one_run_is_no_trend() -> None:
    assert trend_section([]) is None
    assert trend_section([run(1, passed=3)]) is None


def test_columns_are_as_high_as_the_counts_and_all_other_outcomes_are_failures() -> None:
    drawn = str(trend_section([run(1, passed=2, failed=1, not_called=1), run(2, passed=3, unsupported=1)]))
    assert heights(drawn, "passed") == [45.0, 67.5]
    assert heights(drawn, "failed") == [45.0, 0.0]
    assert heights(drawn, "skipped") == [0.0, 22.5]


def test_the_line_passes_over_runs_without_a_latency() -> None:
    drawn = str(trend_section([run(1, passed=1), run(2, latency=None, passed=1), run(3, latency=1.0, passed=1)]))
    assert drawn.count("<circle") == 2
    assert "1.00 s median response_latency" in drawn


def test_no_latency_at_all_draws_no_line() -> None:
    assert "<polyline" not in str(trend_section([run(day, latency=None, passed=1) for day in (1, 2)]))


def test_only_the_latest_runs_are_drawn() -> None:
    drawn = str(trend_section([run(day % 28 + 1, passed=1) for day in range(100)]))
    assert drawn.count("<circle") == 60


def test_the_same_stands_in_a_table() -> None:
    told = str(trend_section([run(1, passed=2), run(2, latency=0.75, failed=1)]))
    assert "1 failed" in told
    assert "0.750 s" in told
