"""Names of the cells of a suite."""

from __future__ import annotations

from tests.report.calls import silent_call
from tests.report.suites import cell, missing_call, suite_call
from voiceharness.report.cells import (
    call_name,
    cell_text,
    labelled,
    place_text,
    shared_names_of,
    told_apart,
    variant,
)
from voiceharness.report.limits import SuiteLimits
from voiceharness.report.repeats import repeats
from voiceharness.report.suite import suite_document

__all__: list[str] = []


def test_a_cell_is_named_by_what_differs() -> None:
    assert variant(cell("ours")) == "ours"
    assert variant(cell("ours", "mobile")) == "ours, mobile"
    assert cell_text(cell("ours", seed=3)) == "ours, seed 3"
    assert cell_text({**cell("ours", "mobile", seed=3), "repeat": 2}) == "ours, mobile, seed 3, repeat 2"


def test_a_call_is_named_by_its_scenario_and_cell() -> None:
    assert call_name(suite_call(silent_call())) == "silence (in_process)"
    assert call_name(suite_call(silent_call(), cell("ours", seed=2))) == "silence (ours, seed 2)"


def test_the_same_call_over_another_variant_is_another() -> None:
    plain, placed = suite_call(silent_call()), suite_call(silent_call(), cell("ours", "mobile"))
    assert labelled(plain) == plain["call"]
    assert labelled(placed) == {**placed["call"], "adapter": "ours, mobile"}


def test_scenarios_that_share_their_name_are_told_apart_by_their_files() -> None:
    calls = [suite_call(silent_call(), {**cell("ours"), "file": file}) for file in ("a.yaml", "b.yaml", "b.yaml")]
    assert [each["scenario"] for each in told_apart(calls)] == [
        "silence (a.yaml)",
        "silence (b.yaml)",
        "silence (b.yaml)",
    ]
    assert [each["scenario"] for each in told_apart(calls[1:])] == ["silence", "silence"]
    assert [each.n for each in repeats(told_apart(calls))] == [1, 2]


def test_the_names_that_files_share_are_found_among_all_calls_of_a_suite() -> None:
    suite = suite_document("s", [suite_call(silent_call(), {**cell("ours"), "file": "a.yaml"})], limits=SuiteLimits())
    assert shared_names_of(suite) == frozenset()
    suite["missing"] = [missing_call("silence", {**cell("ours"), "file": "b.yaml"})]
    assert shared_names_of(suite) == {"silence"}
    assert place_text("silence", "a.yaml", "ours", {"silence"}) == "a.yaml, ours"
    assert place_text("another", "a.yaml", "ours", {"silence"}) == "ours"
