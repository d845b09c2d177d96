"""Names of the cells of a suite."""

from __future__ import annotations

from tests.report.calls import silent_call
from tests.report.suites import cell, suite_call
from voiceharness.report.cells import call_name, cell_text, labelled, variant

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
