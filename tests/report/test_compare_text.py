"""A comparison as text."""

from __future__ import annotations

from tests.report.calls import answered_call, made_up
from voiceharness.report.compare import compare_runs
from voiceharness.report.compare_text import comparison_text
from voiceharness.report.document import call_document

__all__: list[str] = []


def test_it_says_what_is_worse_by_how_much_and_from_how_many_calls() -> None:
    good, bad = call_document(answered_call()), call_document(answered_call(at_most=0.1))
    bad["facts"]["scenario"] = good["facts"]["scenario"]  # another limit makes another scenario
    text = comparison_text(compare_runs([good], [bad]), ascii_only=True)
    assert text.splitlines() == [
        "x worse: ask and interrupt (in_process; n 1 and 1)",
        "    worse: passed 1.000 to 0.000 (-1.000)",
        "    worse: failures 0.000 to 1.000 (+1.000, allowed 0.000)",
        "1 scenarios: 1 worse",
    ]


def test_what_cannot_be_compared_says_why() -> None:
    one, other = (call_document(made_up("passed", scenario="s", seed=seed)) for seed in (1, 2))
    assert "not comparable: seed: 1 and 2" in comparison_text(compare_runs([one], [other]))


def test_everything_is_told_on_demand() -> None:
    call = call_document(answered_call())
    assert "same: double_talk" in comparison_text(compare_runs([call], [call]), everything=True)
    assert "double_talk" not in comparison_text(compare_runs([call], [call]))


def test_a_flaky_side_tells_its_reasons() -> None:
    passed, failed = call_document(answered_call()), call_document(answered_call(at_most=0.1))
    failed["facts"]["scenario"] = passed["facts"]["scenario"]
    text = comparison_text(compare_runs([passed], [passed, failed]))
    assert "flaky in new: 1 of 2 passed (95 % interval 0.09 to 0.91): response_latency 1 times" in text


def test_hostile_names_stay_on_their_line() -> None:
    call = call_document(made_up("passed", scenario="a\x1b[31m"))
    assert "\x1b" not in comparison_text(compare_runs([call], [call]))
