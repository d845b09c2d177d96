"""The grid and the limits of a suite file on its page."""

from __future__ import annotations

from tests.report.calls import made_up
from tests.report.suites import cell, missing_call, suite_call
from voiceharness.errors import RunInterruptedError
from voiceharness.report.html.grid import grid_section, limits_section
from voiceharness.report.limits import SuiteLimits
from voiceharness.report.suite import SuiteDocument, suite_document

__all__: list[str] = []


def document() -> SuiteDocument:
    calls = [
        suite_call(made_up("passed", scenario="a"), cell("ours")),
        suite_call(made_up("passed", scenario="a"), cell("ours", "mobile", seed=1)),
        suite_call(made_up("failed", scenario="a"), cell("ours", "mobile", seed=2)),
        suite_call(made_up("unsupported", scenario="b"), cell("ours")),
    ]
    whole = suite_document("nightly", calls, limits=SuiteLimits(failed=0, longest_call=9.0))
    return {**whole, "missing": [missing_call("b", cell("theirs"))]}


def test_scenarios_are_rows_and_adapters_with_lines_are_columns() -> None:
    grid = str(grid_section(document(), ["1/call.html", "2/call.html", "3/call.html", None]))
    for column in ("ours", "ours, mobile", "theirs"):
        assert f'<th scope="col">{column}</th>' in grid
    assert grid.count('<th scope="row">') == 2
    assert "1 of 2" in grid
    assert "not made" in grid


def test_a_badge_leads_to_the_first_call_that_did_not_pass() -> None:
    grid = str(grid_section(document(), ["1/call.html", "2/call.html", "3/call.html", None]))
    assert 'href="3/call.html"' in grid
    assert 'href="2/call.html"' not in grid


def test_calls_without_cells_have_no_grid() -> None:
    assert grid_section(suite_document("plain", [suite_call(made_up("passed"))]), [None]) is None


def test_scenarios_of_one_name_in_two_files_are_told_apart() -> None:
    calls = [suite_call(made_up("passed", scenario="a"), {**cell("ours"), "file": f"{n}.yaml"}) for n in (1, 2)]
    grid = str(grid_section(suite_document("s", calls, limits=SuiteLimits()), [None, None]))
    assert "a (1.yaml)" in grid
    assert "a (2.yaml)" in grid


def test_an_interrupted_call_is_shown_as_that() -> None:
    calls = [suite_call(made_up("harness_fault", scenario="a", error=RunInterruptedError("stopped")), cell("ours"))]
    grid = str(grid_section(suite_document("s", calls, limits=SuiteLimits()), ["1/call.html"]))
    assert "interrupted</span>" in grid
    assert "harness_fault" not in grid


def test_limits_are_told_with_who_broke_them() -> None:
    text = str(limits_section(document().get("limits", ())))
    assert "1 of 3 calls failed; at most 0 may, so 1 too many" in text
    assert "a (ours, mobile, seed 2)" in text
    assert "not judged" in text
    assert limits_section(()) is None
