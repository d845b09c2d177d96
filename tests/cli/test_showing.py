"""``voiceharness show``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.report.calls import broken_call, silent_call
from voiceharness.errors import ConnectError
from voiceharness.report.artefacts import save_call
from voiceharness.report.document import call_document

if TYPE_CHECKING:
    from tests.cli.conftest import Cli


@pytest.fixture(autouse=True)
def saved(cli: Cli) -> None:
    """A saved call."""
    save_call(silent_call(), cli.folder / "call")


def test_a_call_is_shown_with_its_verdict_and_both_tracks(cli: Cli) -> None:
    ended = cli("show", "call", "--width", "60")
    assert ended.code == 0
    lines = ended.out.splitlines()
    assert lines[0] == "✗ failed: silence (in_process, 1.500 s)"
    assert any(line.startswith(("user  █", "user  ▇")) for line in lines)
    assert "agent" in lines
    assert ended.err == ""


def test_it_can_be_drawn_in_ascii_and_without_the_list(cli: Cli) -> None:
    ended = cli("show", "call", "--ascii", "--no-events", "--width", "60")
    assert ended.out.isascii()
    assert "step_started  step" not in ended.out


def test_it_can_be_printed_as_a_document(cli: Cli) -> None:
    assert cli("show", "call", "--json").json == {**call_document(silent_call()), "altered_files": []}


def test_evidence_that_was_changed_is_called_so(cli: Cli) -> None:
    result = cli.folder / "call" / "result.json"
    result.write_text(result.read_text().replace('"failed"', '"passed"'))
    assert "not as it was saved: result.json" in cli("show", "call").err


def test_a_call_that_was_never_answered_is_shown_without_a_picture(cli: Cli) -> None:
    save_call(broken_call(ConnectError("nobody there")), cli.folder / "none")
    assert cli("show", "none").out == "‼ not_called: made up: not_called (in_process)\n    ConnectError: nobody there\n"


def test_a_folder_of_calls_is_shown_as_a_suite(cli: Cli) -> None:
    cli("run", "greeting.yaml", "--agent", "tests.cli.agents:answering", "--out", "suite")
    assert cli("show", "suite").out.splitlines()[-1] == "1 call: 1 passed"
    assert cli("show", "suite", "--json").json["counts"] == {"passed": 1}


SUITE = {"format": "voiceharness-suite/1", "name": "s", "exit_code": 0, "counts": {}, "calls": [], "repeats": []}


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{", "suite.json is damaged"),
        ("null", "it holds no JSON object"),
        ("{}", "suite.json is not in the format voiceharness-suite/1"),
        (json.dumps({**SUITE, "calls": [4]}), "suite.json is damaged: calls[0] cannot be 4"),
        (json.dumps({**SUITE, "limits": [{"kind": "failed"}]}), "suite.json is damaged: limits[0].verdict is missing"),
        (json.dumps({**SUITE, "counts": {"passed": 1e999}}), "suite.json is damaged: Infinity is no number"),
    ],
)
@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_suite_that_cannot_be_used_is_named(content: str, told: str, options: tuple[str, ...], cli: Cli) -> None:
    cli.write("suite.json", content)
    ended = cli("show", ".", *options)
    assert ended.code == 2
    assert told in ended.err
