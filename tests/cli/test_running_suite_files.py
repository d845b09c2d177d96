"""``voiceharness run`` with a suite file: its grid, its limits, and calling again only what failed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.cli.conftest import GREETING, Cli
from voiceharness.cli.output import Progress
from voiceharness.errors import OptionError

__all__: list[str] = []

AGENTS = "tests.cli.agents"
ROOT = Path(__file__).parents[2]
SUITE = f"""\
suite: nightly
scenarios: ["*.yaml"]
adapters:
  - {{adapter: in_process, agent: "{AGENTS}:answering"}}
  - {{adapter: in_process, label: mute, agent: "{AGENTS}:silent"}}
lines: [own, {{label: far, delay: 50ms}}]
seeds: [1, 2]
"""


def written(cli: Cli, out: str = "voiceharness-out") -> Any:  # Any: a JSON document
    return json.loads((cli.folder / out / "suite.json").read_text("utf-8"))


def outcomes(document: Any) -> list[str]:
    return [each["call"]["outcome"] for each in document["calls"]]


def test_every_call_of_the_grid_is_made_and_told_by_its_cell(cli: Cli) -> None:
    cli.write("nightly.yaml", SUITE)
    ended = cli("run", "nightly.yaml", "--junit", "junit.xml")
    assert ended.code == 1
    assert "✓ passed: greeting (in_process, far, seed 2, " in ended.out
    assert "✗ failed: greeting (mute, own, seed 1, " in ended.out
    assert ended.out.splitlines()[-3] == "8 calls: 4 passed, 4 failed"
    assert "greeting (in_process" not in ended.out.partition("8 calls")[2]
    assert ended.err.splitlines()[0] == "[1/8] greeting (in_process, own, seed 1)"
    folders = sorted(folder.name for folder in (cli.folder / "voiceharness-out").iterdir() if folder.is_dir())
    assert folders[0] == "001-greeting-in-process-own-seed-1"
    assert folders[-1] == "008-greeting-mute-far-seed-2"
    names = [case.get("name") for case in ElementTree.parse("junit.xml").iter("testcase")]
    assert names[0] == "greeting [in_process, own, seed 1]"
    page = (cli.folder / "voiceharness-out" / "index.html").read_text("utf-8")
    assert 'id="grid"' in page


def test_side_by_side_and_again_the_calls_are_the_same(cli: Cli) -> None:
    cli.write("nightly.yaml", SUITE)
    alone, beside = cli("run", "nightly.yaml", "--json"), cli("run", "nightly.yaml", "--jobs", "2", "--json")
    assert alone.json == beside.json


def test_what_is_skipped_is_told_as_unsupported(cli: Cli) -> None:
    cli.write("hold.yaml", "name: hold\nsteps:\n  - line: hold\n")
    cli.write("nightly.yaml", f"suite: n\nscenarios: ['*.yaml']\nadapters: [{{agent: '{AGENTS}:answering'}}]\n")
    ended = cli("run", "nightly.yaml", "--json")
    assert ended.code == 0
    assert outcomes(ended.json) == ["passed", "unsupported"]
    assert (cli.folder / "voiceharness-out" / "002-hold-in-process-seed-0" / "result.json").exists()


def test_a_broken_limit_of_all_calls_fails_the_suite_and_says_who_broke_it(cli: Cli) -> None:
    limits = "limits: {all_calls: {longest_call: 100ms}}\n"
    cli.write("nightly.yaml", SUITE.replace("  - {adapter: in_process, label: mute", "#") + limits)
    ended = cli("run", "nightly.yaml")
    assert ended.code == 1
    assert "4 calls: 4 passed" in ended.out
    assert "✗ limit broken: longest_call: at most 0.1 s: " in ended.out
    assert "    1. greeting (in_process, own, seed 1): " in ended.out


def test_so_many_calls_may_fail(cli: Cli) -> None:
    cli.write("nightly.yaml", SUITE + "limits: {all_calls: {failed: 50%}}\n")
    ended = cli("run", "nightly.yaml")
    assert ended.code == 0
    assert "✓ limit held: failed: 4 of 8 calls failed; at most 50% may" in ended.out


def test_a_limit_of_each_call_is_judged_in_each(cli: Cli) -> None:
    limits = "limits: {each_call: {response_latency: 1ms}}\n"
    cli.write("nightly.yaml", SUITE.replace("  - {adapter: in_process, label: mute", "#") + limits)
    assert outcomes(cli("run", "nightly.yaml", "--json").json) == ["failed"] * 4


# Again


def test_only_what_failed_is_called_again_and_the_document_tells_of_all(cli: Cli) -> None:
    cli.write("nightly.yaml", SUITE)
    cli("run", "nightly.yaml")
    cli.write("nightly.yaml", SUITE.replace(f'agent: "{AGENTS}:silent"', f'agent: "{AGENTS}:answering"'))
    listed = cli("run", "nightly.yaml", "--failed", "--list")
    assert listed.out.splitlines()[0] == "001  greeting  in_process, own, seed 1 (kept: it passed)"
    assert listed.out.splitlines()[-1] == "8 calls, 4 kept"
    ended = cli("run", "nightly.yaml", "--failed")
    assert ended.code == 0
    assert ended.err.splitlines()[:4] == [
        "[1/4] greeting (mute, own, seed 1)",
        "[2/4] greeting (mute, own, seed 2)",
        "[3/4] greeting (mute, far, seed 1)",
        "[4/4] greeting (mute, far, seed 2)",
    ]
    assert ended.out.splitlines()[-1] == "8 calls: 8 passed; 4 kept from the earlier run"
    document = written(cli)
    assert [each["made"] for each in document["calls"]] == ["earlier"] * 4 + ["now"] * 4
    assert document["calls"][4]["before"] == [
        {"outcome": "failed", "folder": str(Path("voiceharness-out", "005-greeting-mute-own-seed-1"))}
    ]
    home = cli.folder / "voiceharness-out"
    assert (home / "005-greeting-mute-own-seed-1" / "result.json").exists()
    assert (home / "005-greeting-mute-own-seed-1-again" / "result.json").exists()


def test_a_second_time_there_is_nothing_to_call_again(cli: Cli) -> None:
    cli.write("nightly.yaml", SUITE.replace("  - {adapter: in_process, label: mute", "#"))
    cli("run", "nightly.yaml")
    ended = cli("run", "nightly.yaml", "--failed", "--json")
    assert ended.code == 0
    assert [each["made"] for each in ended.json["calls"]] == ["earlier"] * 4
    assert ended.err == ""


def test_an_earlier_run_elsewhere_is_merged_into_a_new_folder(cli: Cli) -> None:
    cli.write("nightly.yaml", SUITE)
    cli("run", "nightly.yaml", "--out", "first")
    before = (cli.folder / "first" / "suite.json").read_bytes()
    ended = cli("run", "nightly.yaml", "--failed", "first", "--out", "second")
    assert ended.code == 1
    document = written(cli, "second")
    assert len(document["calls"]) == 8
    assert all((cli.folder / each["folder"] / "result.json").exists() for each in document["calls"])
    assert {Path(each["folder"]).parts[0] for each in document["calls"]} == {"second"}
    assert (cli.folder / "first" / "suite.json").read_bytes() == before


def test_a_scenario_that_was_changed_is_called_again(cli: Cli) -> None:
    cli.write("nightly.yaml", SUITE.replace("  - {adapter: in_process, label: mute", "#"))
    cli("run", "nightly.yaml")
    cli.write("greeting.yaml", f"{GREETING}  - wait: 1s\n")
    ended = cli("run", "nightly.yaml", "--failed", "--json")
    assert [each["made"] for each in ended.json["calls"]] == ["now"] * 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["greeting.yaml", "--failed"], "--failed goes with a suite file"),
        (["nightly.yaml", "--failed"], "no run in voiceharness-out"),
        (["nightly.yaml", "--failed", "."], "no run in .: cannot read suite.json"),
        (["nightly.yaml", "greeting.yaml"], "nightly.yaml is a suite file, which is run alone"),
        (["nightly.yaml", "--adapter", "sip"], "no adapter of the suite is called 'sip'"),
    ],
)
def test_wrong_usage_is_told_before_any_call(arguments: list[str], message: str, cli: Cli) -> None:
    cli.write("nightly.yaml", SUITE)
    ended = cli("run", *arguments)
    assert ended.code == 2
    assert message in ended.err
    assert not (cli.folder / "voiceharness-out").exists()


def test_a_secret_of_the_environment_reaches_neither_files_nor_the_console(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = (
        f"{{adapter: unreachable, agent: '{AGENTS}:silent', options: {{goodbye: '${{GOODBYE}}', rate: '${{RATE}}'}}}}"
    )
    cli.write("nightly.yaml", f"suite: n\nscenarios: ['*.yaml']\nadapters: [{entry}]\n")
    monkeypatch.setenv("GOODBYE", "open-sesame")
    monkeypatch.setenv("RATE", "8000")
    ended = cli("run", "nightly.yaml", "--junit", "j.xml")
    files = b"".join(file.read_bytes() for file in cli.folder.rglob("*") if file.is_file())
    for text in (ended.out, ended.err, files.decode("utf-8", "replace")):
        assert "open-sesame" not in text
    assert "must be float, not '[secret]'" in ended.out
    monkeypatch.delenv("RATE")
    unset = cli("run", "nightly.yaml")
    assert unset.code == 2
    assert "nightly.yaml:3:108: the variable RATE is not set" in unset.err
    assert cli("run", "nightly.yaml", "--list").code == 0


def test_a_folder_is_run_without_the_suite_files_in_it(cli: Cli) -> None:
    cli.write("nightly.yaml", SUITE)
    assert cli("run", ".", "--list").out.splitlines()[-1] == "1 call"


@pytest.mark.parametrize(
    ("how", "code", "missing"), [("interrupting", 130, 1), ("terminating", 130, 1), ("killing", -signal.SIGKILL, 4)]
)
def test_what_a_run_did_not_come_to_is_called_by_the_next(how: str, code: int, missing: int, cli: Cli) -> None:
    entries = [f'{{adapter: in_process, label: {name}, agent: "{AGENTS}:{name}"}}' for name in ("answering", how)]
    cli.write("nightly.yaml", f"suite: n\nscenarios: ['*.yaml']\nadapters: [{', '.join(entries)}]\nseeds: [1, 2]\n")
    command = [sys.executable, "-m", "voiceharness", "run", "nightly.yaml"]
    environment = {"PYTHONPATH": str(ROOT), "PATH": os.defpath, "PYTHONIOENCODING": "utf-8"}
    ended = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert ended.returncode == code
    document = written(cli)
    assert document["exit_code"] != 0
    assert len(document["missing"]) == missing
    assert document["counts"] == ({} if how == "killing" else {"passed": 2})
    told = [line.partition(":")[0] for line in ended.stdout.decode("utf-8").splitlines() if not line.startswith(" ")]
    stopped = ["‼ interrupted", "‼ not made", "4 calls"]
    assert told == ["✓ passed", "✓ passed", *([] if how == "killing" else stopped)]
    assert (cli.folder / "voiceharness-out" / "index.html").exists() == (how != "killing")
    listed = cli("run", "nightly.yaml", "--failed", "--list")
    kept = [line.endswith("(kept: it passed)") for line in listed.out.splitlines()[:-1]]
    assert kept == [True, True, False, False]


def test_scenarios_of_one_name_in_two_files_are_told_apart_everywhere(cli: Cli) -> None:
    cli.write("other.yaml", GREETING)
    cli.write("nightly.yaml", SUITE.replace("lines:", "# lines:").replace("seeds: [1, 2]", "seeds: [1]"))
    listed = cli("run", "nightly.yaml", "--list")
    assert "003  greeting  other.yaml, in_process, seed 1" in listed.out
    ended = cli("run", "nightly.yaml")
    assert "✓ passed: greeting (greeting.yaml, in_process, seed 1, " in ended.out
    assert "✗ failed: greeting (other.yaml, mute, seed 1, " in ended.out
    assert "[3/4] greeting (other.yaml, in_process, seed 1)" in ended.err
    assert written(cli)["repeats"] == []
    plain = cli("run", "greeting.yaml", "other.yaml", "--agent", f"{AGENTS}:answering", "--repeat", "2")
    assert "greeting (other.yaml) (in_process): 2 of 2 passed" in plain.out
    assert cli("show", "voiceharness-out").out.startswith("✓ passed: greeting (greeting.yaml, in_process, ")


def test_calls_are_told_in_the_order_of_the_plan_as_soon_as_they_end(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli.write("nightly.yaml", SUITE)
    heard: list[str] = []
    monkeypatch.setattr("voiceharness.cli.running.tell", lambda text: heard.append(text.split(", ")[2].strip()))
    monkeypatch.setattr(Progress, "call", lambda _self, name: heard.append(f"begins {name}"))
    cli("run", "nightly.yaml")
    begun = [place for place, what in enumerate(heard) if what.startswith("begins")]
    assert begun == list(range(0, 16, 2))
    assert [heard[place + 1] for place in begun] == ["seed 1", "seed 2"] * 4


@pytest.mark.parametrize("engine", ["ray://host", "dask://127.0.0.1:1"])
def test_what_an_earlier_run_left_is_kept_where_no_call_can_be_made(
    engine: str, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("voiceharness.suite.dask_engine.DaskEngine.make_calls", _refuse)
    cli.write("nightly.yaml", "suite: nightly\nscenarios: [greeting.yaml]\nseeds: [1, 2]\n")
    cli("run", "nightly.yaml", "--agent", "tests.cli.agents:answering")
    before = contents(cli)
    refused = cli("run", "nightly.yaml", "--agent", "tests.cli.agents:answering", "--engine", engine)
    assert refused.code == 2
    assert contents(cli) == before


def _refuse(*_arguments: object) -> None:
    raise OptionError("no dask scheduler answers")


def contents(cli: Cli) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in (cli.folder / "voiceharness-out").rglob("*") if file.is_file()}


def test_an_interrupt_before_the_first_call_leaves_an_earlier_run_as_it_was(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.write("nightly.yaml", "suite: nightly\nscenarios: [greeting.yaml]\nseeds: [1, 2]\n")
    for name in ("nightly.yaml", "greeting.yaml"):
        cli("run", name, "--agent", "tests.cli.agents:answering")
        before = contents(cli)
        with monkeypatch.context() as patched:
            patched.setattr("voiceharness.suite.dask_engine.DaskEngine.make_calls", _interrupt)
            ended = cli(
                "run", name, "--agent", "tests.cli.agents:answering", "--engine", "dask://127.0.0.1:1", "--json"
            )
        assert (ended.code, ended.json["exit_code"]) == (130, 130)
        assert contents(cli) == before


def _interrupt(*_arguments: object) -> None:
    raise KeyboardInterrupt
