"""``voiceharness run``, and how its ways to end are told apart."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from tests.cli.conftest import GREETING, Cli
from tests.report.calls import made_up
from tests.report.disks import fill_up
from voiceharness.audio.wav import read_tracks
from voiceharness.errors import OptionError
from voiceharness.report.artefacts import load_call
from voiceharness.report.document import schema
from voiceharness.report.runs import load_suite
from voiceharness.scenario.result import Trust

if TYPE_CHECKING:
    from collections.abc import Callable

    from voiceharness.scenario.result import CallResult

AGENTS = "tests.cli.agents"
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("arguments", "code", "outcome", "junit"),
    [
        (["--agent", f"{AGENTS}:answering"], 0, "passed", None),
        (["--agent", f"{AGENTS}:silent"], 1, "failed", "failure"),
        (["--agent", f"{AGENTS}:broken"], 2, "bad_scenario", "error"),
        (["--adapter", "unreachable", "--agent", f"{AGENTS}:silent"], 3, "not_called", "error"),
        (["--agent", f"{AGENTS}:violating"], 6, "protocol_violation", "error"),
    ],
)
def test_every_way_to_end_has_its_code_its_outcome_and_its_junit_verdict(
    arguments: list[str], code: int, outcome: str, junit: str | None, cli: Cli
) -> None:
    """Case B58."""
    ended = cli("run", "greeting.yaml", *arguments, "--json", "--junit", "report/junit.xml")
    assert ended.code == code
    assert ended.json["exit_code"] == code
    assert [each["call"]["outcome"] for each in ended.json["calls"]] == [outcome]
    case = next(ElementTree.parse("report/junit.xml").iter("testcase"))
    assert [child.tag for child in case if child.tag in ("failure", "error", "skipped")] == ([junit] if junit else [])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "greeting.yaml", "--adaptor", "x"], "No such option"),
        (["run", "nowhere.yaml"], "does not exist"),
        (["run"], "Missing argument"),
        (["ruin"], "No such command"),
        (["run", "greeting.yaml", "--set", "rate"], "a setting is KEY=VALUE"),
        (["run", "greeting.yaml", "--adapter", "sipp", "--set", "a=b"], "there is no adapter 'sipp'"),
        (["run", "."], "there is no .yaml or .yml file"),
        (["run", "bad.yaml"], "bad.yaml:3:"),
        (["show", "."], "no saved call"),
    ],
)
def test_wrong_usage_never_has_the_code_of_an_agent_that_failed(arguments: list[str], message: str, cli: Cli) -> None:
    """Case B58."""
    if arguments == ["run", "."]:
        (cli.folder / "greeting.yaml").unlink()
    if "bad.yaml" in arguments:
        cli.write("bad.yaml", "name: bad\nsteps:\n  - shout: hello\n")
    ended = cli(*arguments)
    assert ended.code == 2
    assert message in ended.err
    assert not (cli.folder / "voiceharness-out").exists()


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["run", "--help"], ["adapters", "show", "--help"]])
def test_asking_for_help_is_success(arguments: list[str], cli: Cli) -> None:
    """Case B58."""
    ended = cli(*arguments)
    assert ended.code == 0
    assert ended.out


def test_an_error_before_any_call_is_a_document_too(cli: Cli) -> None:
    ended = cli("run", "nowhere.yaml", "--json")
    assert ended.json["exit_code"] == 2
    assert ended.json["error"]["type"] == "UsageError"


def test_an_unsupported_scenario_is_skipped_and_decides_only_if_nothing_else_ran(cli: Cli) -> None:
    """Case B58."""
    cli.write("hold.yaml", "name: hold\nsteps:\n  - line: hold\n")
    alone = cli("run", "hold.yaml", "--agent", f"{AGENTS}:answering")
    assert alone.code == 4
    assert "unsupported: hold" in alone.out
    both = cli("run", ".", "--agent", f"{AGENTS}:answering", "--json")
    assert both.code == 0
    assert both.json["counts"] == {"passed": 1, "unsupported": 1}


def test_the_evidence_of_each_call_is_saved_in_a_folder_of_its_name(cli: Cli) -> None:
    cli("run", "greeting.yaml", "--agent", f"{AGENTS}:answering", "--out", "out")
    folder = cli.folder / "out" / "001-greeting"
    assert len(read_tracks(folder / "recording.wav")) == 2
    assert list(load_call(folder).of_kind("agent_onset"))
    suite = json.loads((cli.folder / "out" / "suite.json").read_text())
    assert suite["calls"][0]["folder"] == str(Path("out", "001-greeting"))
    assert suite["format"] == schema("suite")["properties"]["format"]["const"]  # type: ignore[index,call-overload] # a JSON schema


def test_phone_numbers_reach_neither_files_nor_standard_output(cli: Cli) -> None:
    ended = cli("run", "greeting.yaml", "--adapter", "unreachable", "--agent", f"{AGENTS}:silent", "--junit", "j.xml")
    files = b"".join(file.read_bytes() for file in (cli.folder / "voiceharness-out").rglob("*") if file.is_file())
    for text in (ended.out, (cli.folder / "j.xml").read_text(), files.decode("utf-8", "replace")):
        assert "nobody answers at sip:…34@127.0.0.1" in text
        assert "5550101234" not in text


def test_the_same_seed_gives_the_same_bytes(cli: Cli) -> None:
    for out in ("one", "two"):
        cli("run", "greeting.yaml", "--agent", f"{AGENTS}:answering", "--seed", "5", "--out", out)
    for name in ("recording.wav", "timeline.json", "result.json"):
        first, second = ((cli.folder / out / "001-greeting" / name).read_bytes() for out in ("one", "two"))
        assert first == second, name
    assert json.loads((cli.folder / "one" / "001-greeting" / "result.json").read_text())["seed"] == 5


def test_progress_goes_to_standard_error(cli: Cli) -> None:
    cli.write("second.yaml", GREETING.replace("name: greeting", "name: second"))
    ended = cli("run", ".", "--agent", f"{AGENTS}:answering")
    assert ended.err.splitlines()[:2] == ["[1/2] greeting", "[2/2] second"]
    assert ended.out.splitlines()[-1] == "2 calls: 2 passed"


def test_one_call_that_breaks_the_harness_does_not_take_the_others_with_it(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.write("second.yaml", GREETING.replace("name: greeting", "name: second"))
    monkeypatch.setattr("voiceharness.registry.target.run_call", _raise_on_greeting)
    ended = cli("run", ".", "--agent", f"{AGENTS}:answering", "--json")
    assert ended.code == 5
    assert [each["call"]["outcome"] for each in ended.json["calls"]] == ["harness_fault", "not_called"]


async def _raise_on_greeting(scenario, adapter, **_options):  # type: ignore[no-untyped-def] # stands in for run_call
    from voiceharness.errors import ConnectError

    raise ZeroDivisionError("oops") if scenario.name == "greeting" else ConnectError("nobody")


def test_a_run_that_cannot_be_trusted_is_judged_on_demand_only(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def untrusted(
        _target: object, _scenario: object, *, keep: Callable[[CallResult], None], **_options: object
    ) -> None:
        keep(made_up("harness_fault", trust=Trust(("frames left 30 ms late",))))

    monkeypatch.setattr("voiceharness.registry.target.Target.call", untrusted)
    refused, judged = cli("run", "greeting.yaml"), cli("run", "greeting.yaml", "--allow-untrusted")
    assert (refused.code, judged.code) == (5, 0)
    for ended in (refused, judged):
        assert ended.out.splitlines()[1].strip() == "not trustworthy: frames left 30 ms late"


@pytest.mark.realtime
def test_ctrl_c_saves_the_evidence_of_the_call_and_ends_with_130(cli: Cli) -> None:
    command = [sys.executable, "-m", "voiceharness", "run", "greeting.yaml", "--real", "--agent", f"{AGENTS}:waiting"]
    process = subprocess.Popen(
        command, env={"PYTHONPATH": str(ROOT), "PATH": ""}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    with process:
        assert process.stderr is not None
        while "agent answered" not in process.stderr.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "evidence: " in output
    record = load_call(cli.folder / "voiceharness-out" / "001-greeting")
    assert list(record.of_kind("answered"))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--junit", "greeting.yaml/j.xml"), "cannot write greeting.yaml/j.xml: Not a directory"),
        (("--junit", "new/" + "x" * 300), "File name too long"),
        (("--out", "greeting.yaml/out"), "cannot write greeting.yaml/out/suite.json: Not a directory"),
        (("--out", "taken"), "cannot write taken/suite.json: Is a directory"),
        (("--out", "used"), "cannot write used/001-greeting/.manifest.json.part: Not a directory"),
    ],
)
@pytest.mark.parametrize("suite", [False, True])
def test_a_place_that_cannot_be_written_is_refused_before_the_first_call(
    options: tuple[str, ...], told: str, suite: bool, cli: Cli
) -> None:
    cli.write("nightly.yaml", "suite: nightly\nscenarios: [greeting.yaml]\n")
    (cli.folder / "taken" / "suite.json").mkdir(parents=True)
    (cli.folder / "used").mkdir()
    for name in ("001-greeting", "001-greeting-in-process-seed-0"):
        (cli.folder / "used" / name).touch()
    before = sorted(cli.folder.rglob("*"))
    ended = cli("run", "nightly.yaml" if suite else "greeting.yaml", "--agent", f"{AGENTS}:answering", *options)
    assert ended.code == 2
    assert (told if "001" not in told or not suite else "manifest.json.part: Not a directory") in ended.err
    assert "Nothing was begun" in ended.err
    assert ended.out == ""
    assert sorted(cli.folder.rglob("*")) == before


def test_a_call_that_nobody_can_make_leaves_no_empty_files(cli: Cli) -> None:
    ended = cli("run", "greeting.yaml", "--agent", f"{AGENTS}:answering", "--engine", "ray://x", "--junit", "new/j.xml")
    assert ended.code == 2
    assert [path for path in cli.folder.rglob("*") if path.is_file() and path.suffix not in (".wav", ".yaml")] == []


@pytest.mark.parametrize(
    ("full", "written"),
    [
        ("j.xml", {"suite.json", "history.jsonl", "index.html", "recording.wav", "manifest.json"}),
        (".suite.json.part", {"j.xml", "recording.wav", "manifest.json"}),
        ("recording.wav", {"suite.json", "history.jsonl", "index.html", "j.xml", "result.json"}),
    ],
)
@pytest.mark.parametrize("as_json", [False, True])
def test_what_can_still_be_written_is_and_the_rest_is_told(
    full: str, written: set[str], as_json: bool, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.write("second.yaml", GREETING.replace("name: greeting", "name: second"))
    fill_up(monkeypatch, lambda path: path.name == full)
    json_option = ("--json",) if as_json else ()
    ended = cli("run", ".", "--agent", f"{AGENTS}:answering", "--junit", "j.xml", *json_option)
    assert ended.code == 2
    assert "No space left on device" in ended.err
    assert written <= {path.name for path in cli.folder.rglob("*")}
    if as_json:
        assert ended.json["exit_code"] == 2
        assert ended.json["counts"] == {"passed": 2}
        assert all(("unsaved" in each) == (full == "recording.wav") for each in ended.json["calls"])
    else:
        assert "2 calls: 2 passed" in ended.out


@pytest.mark.parametrize("jobs", [(), ("--jobs", "2")])
def test_calls_are_saved_though_nobody_reads_of_them(
    jobs: tuple[str, ...], cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(_text: str) -> None:
        raise OptionError("cannot write to standard output: No space left on device")

    cli.write("second.yaml", GREETING.replace("name: greeting", "name: second"))
    monkeypatch.setattr("voiceharness.cli.running.tell", gone)
    ended = cli("run", ".", "--agent", f"{AGENTS}:answering", *jobs)
    assert ended.code == 2
    assert "OptionError: cannot write to standard output" in ended.err
    calls = load_suite(cli.folder / "voiceharness-out")["calls"]
    assert [each["call"]["outcome"] for each in calls][:1] == ["passed"]


def test_a_folder_in_which_files_cannot_be_replaced_is_refused_though_they_can_be_written(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("run", "greeting.yaml", "--agent", f"{AGENTS}:answering")
    opened = os.open

    def only_what_is_there(path: str, flags: int, *mode: int, **options: int) -> int:
        if flags & os.O_CREAT and not Path(path).exists():
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, flags, *mode, **options)

    monkeypatch.setattr(os, "open", only_what_is_there)
    ended = cli("run", "greeting.yaml", "--agent", f"{AGENTS}:answering")
    assert ended.code == 2
    assert "cannot write voiceharness-out/.suite.json.part: Permission denied" in ended.err


@pytest.mark.parametrize("option", ["--adapter", "--agent"])
def test_an_option_that_holds_one_value_is_not_given_two(option: str, cli: Cli, tmp_path: Path) -> None:
    """The second would take the place of the first without a word."""
    ended = cli("run", str(tmp_path), option, "in_process", option, "twilio")
    assert ended.code == 2
    assert "give one, not in_process and twilio" in ended.err
