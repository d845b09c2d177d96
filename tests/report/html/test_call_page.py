"""The page of a call as a document: what stands in it, without a browser."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from typing import TYPE_CHECKING

import pytest

from tests.report.calls import broken_call, made_up
from tests.report.html.showcase import noisy, showcase_call
from voiceharness.errors import CallError, OptionError
from voiceharness.report.artefacts import PAGE, altered_files, load_document, save_call
from voiceharness.report.html.call_page import write_call_page
from voiceharness.scenario.result import Trust

if TYPE_CHECKING:
    from pathlib import Path

    from voiceharness.scenario.result import CallResult

__all__: list[str] = []

MEGABYTE = 1_000_000


def written(result: CallResult, folder: Path) -> str:
    return write_call_page(save_call(result, folder)).read_text("utf-8")


def shown(page: str) -> str:
    """The text that a reader sees."""
    body = re.sub(r"<(script|style).*?</\1>", "", page, flags=re.DOTALL)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", body)))


def test_a_page_stands_beside_the_evidence_and_tells_the_same_each_time(tmp_path: Path) -> None:
    folder = save_call(showcase_call(), tmp_path)
    page = write_call_page(folder)
    first = shown(page.read_text("utf-8"))
    assert page == folder / PAGE
    assert shown(write_call_page(folder).read_text("utf-8")) == first


def test_the_page_is_in_the_manifest_and_goes_with_the_call(tmp_path: Path) -> None:
    folder = save_call(showcase_call(), tmp_path)
    page = write_call_page(folder)
    assert '"call.html"' in (folder / "manifest.json").read_text("utf-8")
    assert altered_files(write_call_page(folder).parent) == ()
    page.write_text("other")
    assert altered_files(folder) == ("call.html",)
    save_call(made_up("passed"), tmp_path)
    assert not page.exists()


def test_every_file_beside_the_page_is_linked(tmp_path: Path) -> None:
    page = written(replace(showcase_call(), artefacts={"trace of sip.txt": b"INVITE"}), tmp_path)
    assert [f'href="{name}"' in page for name in ("recording.wav", "timeline.json", "result.json")] == [True] * 3
    assert 'href="trace%20of%20sip.txt"' in page


@pytest.mark.parametrize("call", [showcase_call, lambda: noisy(showcase_call())], ids=["speech", "noise"])
def test_a_minute_takes_less_than_a_megabyte(call: object, tmp_path: Path) -> None:
    assert callable(call)
    assert len(written(call(), tmp_path).encode()) < MEGABYTE


def test_figures_are_those_of_the_saved_result(tmp_path: Path) -> None:
    page = shown(written(showcase_call(), tmp_path))
    call = load_document(tmp_path)
    assert call["metrics"] is not None
    for figures in (call["metrics"]["response_latency"], call["metrics"]["stop_latency"]):
        values = (figures["minimum"], figures["mean"], figures["p50"]["value"])
        assert " ".join(f"{value:.3f} s" for value in values if value is not None) in page
        assert f"needs n {figures['p95']['needed']}" in page
    assert f"double_talk {call['metrics']['double_talk']:.3f}" in page
    assert f"seed {call['seed']}" in page


def test_expectations_steps_and_findings_are_told_in_full(tmp_path: Path) -> None:
    page = shown(written(showcase_call(), tmp_path))
    call = load_document(tmp_path)
    for check in call["checks"]:
        assert check["wanted"] in page
        assert check["explanation"] in page
    for step in call["steps"]:
        assert f"{step['label']} {step['outcome']}" in page
    for finding in call["findings"]:
        assert finding["explanation"] in page


def test_what_cannot_be_trusted_is_said_before_anything_else(tmp_path: Path) -> None:
    late = replace(showcase_call(), trust=Trust(("user frames left 31.0 ms late on average",), 31.0, 80.0))
    page = shown(written(late, tmp_path))
    assert page.index("not trustworthy") < page.index("31.0 ms late") < page.index("wanted an answer")


def test_a_call_that_was_never_answered_has_a_page_without_sound(tmp_path: Path) -> None:
    error = CallError("nobody answered")
    error.__cause__ = OSError("connection refused")
    page = written(broken_call(error), tmp_path)
    assert "nobody answered" in shown(page)
    assert "caused by OSError: connection refused" in shown(page)
    assert "<audio" not in page
    assert "recording.wav" not in page


def test_a_call_that_ended_at_once_has_a_page(tmp_path: Path) -> None:
    assert "made up: passed" in written(made_up("passed"), tmp_path)


def test_nothing_is_loaded_from_elsewhere_and_only_the_packaged_script_may_run(tmp_path: Path) -> None:
    page = written(showcase_call(hostile=True), tmp_path)
    assert "default-src &#x27;none&#x27;" in page
    assert "unsafe" not in page
    links = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert [link for link in links if not re.match(r"data:|[a-z]+\.(?:wav|json)$", link)] == []
    assert page.count("<script") == 2


def test_no_style_is_inline_because_the_policy_forbids_it(tmp_path: Path) -> None:
    assert " style=" not in re.sub(r"<script.*?</script>", "", written(showcase_call(), tmp_path), flags=re.DOTALL)


def test_a_folder_without_a_call_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="no saved call"):
        write_call_page(tmp_path)
