"""How exactly latencies are measured on a clean line."""

from __future__ import annotations

import pytest

from tests.measure.accuracy import SOURCES, p95, response_errors, stop_errors

EVENTS = 200


@pytest.mark.parametrize(("source", "limit_ms"), [("tones", 2), ("speech-like noise", 2), ("recorded speech", 10)])
def test_response_latency_is_exact(source: str, limit_ms: float) -> None:
    errors = response_errors(SOURCES[source], EVENTS)
    assert len(errors) == EVENTS
    assert p95(errors) <= limit_ms


@pytest.mark.parametrize("source", SOURCES)
def test_stop_latency_is_exact(source: str) -> None:
    errors = stop_errors(SOURCES[source], EVENTS)
    assert len(errors) == EVENTS
    assert p95(errors) <= 10
