"""The page of a suite, as a document and in a browser."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.report.calls import answered_call, made_up, silent_call
from tests.report.html.showcase import ATTACK
from tests.report.suites import cell, missing_call, suite_call
from voiceharness.errors import CallError, OptionError
from voiceharness.report.artefacts import save_call
from voiceharness.report.document import call_document
from voiceharness.report.html.call_page import write_call_page
from voiceharness.report.html.suite_page import SUITE_PAGE, suite_page, write_suite_page
from voiceharness.report.limits import SuiteLimits
from voiceharness.report.runs import SUITE_FILE, remember_run
from voiceharness.report.serialization import json_bytes
from voiceharness.report.suite import SuiteCall, suite_document

if TYPE_CHECKING:
    from pathlib import Path

    from tests.browser import Browser, Page
    from voiceharness.scenario.result import CallResult

__all__: list[str] = []


def results() -> list[CallResult]:
    nobody = made_up("not_called", scenario="nobody home", error=CallError("no answer in 30 s"))
    return [answered_call(), answered_call(at_most=0.1), silent_call(), nobody]


def saved(folder: Path, *, runs: int = 1) -> Path:
    calls: list[SuiteCall] = []
    for number, result in enumerate(results()):
        home = save_call(result, folder / f"{number:03d}")
        write_call_page(home, suite_page="../index.html")
        calls.append({"file": None, "folder": str(home), "call": call_document(result)})
    suite = suite_document("nightly", calls)
    (folder / SUITE_FILE).write_bytes(json_bytes(suite))
    for _ in range(runs):
        remember_run(folder, suite)
    return write_suite_page(folder)


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Page:
    return browser.open(saved(tmp_path))


def scenarios(page: Page) -> list[str]:
    found = page.run(
        "return rowsInOrder();"
        "function rowsInOrder() {"
        "  const shown = [...document.querySelectorAll('#calls-table tbody tr')].filter((row) => !row.hidden);"
        "  return shown.map((row) => row.querySelector('th').firstChild.textContent);"
        "}"
    )
    return [str(name) for name in found]


def test_every_call_is_a_row_with_the_figures_of_its_document(tmp_path: Path) -> None:
    text = saved(tmp_path).read_text("utf-8")
    metrics = call_document(answered_call())["metrics"]
    assert metrics is not None
    assert text.count('data-outcome="') == 4
    assert f'data-value="{metrics["response_latency"]["maximum"]}"' in text
    assert "CallError: no answer in 30 s" in text


def test_rows_lead_to_pages_below_the_folder_wherever_it_was_moved(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    saved(tmp_path / "here")
    moved = (tmp_path / "here").rename(tmp_path / "there")
    text = write_suite_page(moved).read_text("utf-8")
    assert 'href="000/call.html"' in text
    assert (moved / "000" / "call.html").exists()


def test_a_call_without_a_page_has_no_link() -> None:
    calls: list[SuiteCall] = [{"file": None, "folder": None, "call": call_document(silent_call())}]
    assert "<a " not in suite_page(suite_document("s", calls), [None])


def test_repeats_are_told_with_their_spread_and_flakes(tmp_path: Path) -> None:
    text = saved(tmp_path).read_text("utf-8")
    assert "1 of 2" in text
    assert "flaky" in text
    assert "9% to 91%" in text


def test_a_first_run_has_no_trend_and_a_second_has(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    assert 'id="trend"' not in saved(tmp_path / "one").read_text("utf-8")
    text = saved(tmp_path / "two", runs=2).read_text("utf-8")
    assert 'id="trend"' in text
    assert text.count("<circle") == 2


def test_a_run_without_calls_has_a_page(tmp_path: Path) -> None:
    (tmp_path / SUITE_FILE).write_bytes(json_bytes(suite_document("none", [])))
    assert write_suite_page(tmp_path).name == SUITE_PAGE


def test_a_folder_without_a_suite_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="no run in"):
        write_suite_page(tmp_path)


def test_the_search_and_the_boxes_choose_what_is_shown(page: Page) -> None:
    assert len(scenarios(page)) == 4
    page.click("#search")
    page.press(*"nobody")
    assert scenarios(page) == ["nobody home"]
    assert page.run("return document.getElementById('shown').textContent") == "1 of 4 shown"
    page.press(*["Backspace"] * len("nobody"))
    page.click("[name=outcome][value=failed]")
    assert sorted(scenarios(page)) == ["ask and interrupt", "nobody home"]


def test_a_heading_sorts_and_what_has_no_figure_comes_last(page: Page) -> None:
    page.click("th:nth-child(5) button")
    assert scenarios(page) == ["silence", "ask and interrupt", "ask and interrupt", "nobody home"]
    page.click("th:nth-child(5) button")
    assert scenarios(page) == ["ask and interrupt", "ask and interrupt", "silence", "nobody home"]
    assert page.run("return document.querySelectorAll('th[aria-sort=descending]').length") == 1


def test_a_row_leads_to_its_call_and_back(page: Page) -> None:
    arrived = "return [location.pathname.split('/').at(-1), document.querySelector('h1').textContent.trim()]"
    page.follow("#calls-table tbody a")
    assert page.run(arrived) == ["call.html", "ask and interrupt passed"]
    page.follow(".top a")
    assert page.run(arrived)[0] == SUITE_PAGE
    assert page.complaints == []
    assert page.external_requests == []


def test_hostile_names_stay_names(browser: Browser, tmp_path: Path) -> None:
    call = call_document(made_up("failed", scenario=ATTACK, adapter=ATTACK, error=CallError(ATTACK)))
    calls: list[SuiteCall] = [{"file": ATTACK, "folder": ATTACK, "call": call}] * 2
    (tmp_path / SUITE_FILE).write_bytes(json_bytes(suite_document(ATTACK, calls)))
    page = browser.open(write_suite_page(tmp_path))
    assert page.run("return window.attacked") is None
    assert page.run("return document.querySelectorAll('#calls-table tbody tr').length") == 2
    assert page.external_requests == []


def test_nothing_is_wider_than_a_narrow_screen(browser: Browser, tmp_path: Path) -> None:
    page = browser.open(saved(tmp_path, runs=3), width=360, height=700)
    assert page.run("return document.documentElement.scrollWidth") <= 360


def test_the_history_is_plain_lines(tmp_path: Path) -> None:
    saved(tmp_path, runs=2)
    lines = (tmp_path / "history.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line)["calls"] for line in lines] == [4, 4]


def saved_suite_file(folder: Path) -> Path:
    failed: SuiteCall = {
        **suite_call(silent_call(), cell("ours", "mobile"), str(save_call(silent_call(), folder / "002-again"))),
        "made": "now",
        "before": [{"outcome": "failed", "folder": str(save_call(silent_call(), folder / "002"))}],
    }
    kept: SuiteCall = {
        **suite_call(answered_call(), cell("ours"), str(save_call(answered_call(), folder / "001"))),
        "made": "earlier",
    }
    for name in ("001", "002", "002-again"):
        write_call_page(folder / name, suite_page="../index.html")
    suite = suite_document(
        "nightly", [kept, failed], limits=SuiteLimits(failed=0), missing=[missing_call("c", cell("x"))]
    )
    (folder / SUITE_FILE).write_bytes(json_bytes(suite))
    return write_suite_page(folder)


def test_a_suite_file_has_its_grid_and_its_limits_first_and_says_what_is_kept(tmp_path: Path) -> None:
    text = saved_suite_file(tmp_path).read_text("utf-8")
    assert text.index('id="grid"') < text.index('id="limits"') < text.index('id="calls"')
    assert "1 kept from the earlier run" in text
    assert "1 not made" in text
    assert 'made again; before: <a href="002/call.html">failed</a>' in text
    assert '<td data-value="ours, mobile">' in text


def test_the_grid_of_a_suite_file_leads_to_the_call_that_failed(browser: Browser, tmp_path: Path) -> None:
    page = browser.open(saved_suite_file(tmp_path))
    assert page.complaints == []
    page.follow("#grid-table a[href='002-again/call.html']")
    assert page.run("return document.querySelector('h1').textContent.trim()") == "silence failed"


def test_a_suite_file_without_pages_of_earlier_calls_has_no_dead_links(tmp_path: Path) -> None:
    saved_suite_file(tmp_path)
    (tmp_path / "002" / "call.html").unlink()
    assert "before: <a>failed</a>" in write_suite_page(tmp_path).read_text("utf-8")
