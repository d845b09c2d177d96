"""Repeated calls as text."""

from __future__ import annotations

from tests.report.calls import answered_call, made_up
from voiceharness.report.document import call_document
from voiceharness.report.repeats import repeats
from voiceharness.report.repeats_text import repeats_text

__all__: list[str] = []


def test_it_tells_how_often_a_scenario_passed_and_how_it_scatters() -> None:
    calls = [answered_call(), answered_call(at_most=0.1), answered_call(), made_up("passed", scenario="once")]
    assert repeats_text(repeats(map(call_document, calls))).splitlines() == [
        "flaky: ask and interrupt (in_process): 2 of 3 passed (95 % interval 0.21 to 0.94): response_latency 1 times",
        "    response_latency.mean median 0.501 s, 0.501 to 0.501, standard deviation 0.000 s (n 3)",
        "    response_latency.maximum median 0.501 s, 0.501 to 0.501, standard deviation 0.000 s (n 3)",
        "    stop_latency.mean median 0.200 s, 0.200 to 0.200, standard deviation 0.000 s (n 3)",
        "    stop_latency.maximum median 0.200 s, 0.200 to 0.200, standard deviation 0.000 s (n 3)",
    ]


def test_what_was_called_once_is_not_told() -> None:
    assert repeats_text(repeats([call_document(answered_call())])) == ""


def test_a_latency_that_no_call_has_is_left_out() -> None:
    calls = [call_document(made_up("not_called")) for _ in range(2)]
    text = repeats_text(repeats(calls))
    assert text == "made up: not_called (in_process): 0 of 2 passed (95 % interval 0.00 to 0.66)\n"
