"""``voiceharness validate``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

HOLD = "name: hold\nsteps:\n  - line: hold\n"
BAD = "name: bad\nsteps:\n  - shout: hello\n"


def test_a_good_file_is_told_with_what_it_needs(cli: Cli) -> None:
    ended = cli("validate", "greeting.yaml")
    assert (ended.code, ended.out) == (0, "ok: greeting (in_process; needs direction:dial)\n")


def test_every_error_of_every_file_is_told_with_its_place(cli: Cli) -> None:
    cli.write("bad.yaml", BAD)
    cli.write("worse.yaml", "name: [\n")
    ended = cli("validate", ".")
    assert ended.code == 2
    assert "bad.yaml:3:" in ended.out
    assert "worse.yaml:" in ended.out
    assert "ok: greeting" in ended.out


def test_what_the_adapter_lacks_is_told(cli: Cli) -> None:
    cli.write("hold.yaml", HOLD)
    ended = cli("validate", "hold.yaml", "--json")
    assert ended.code == 4
    (entry,) = ended.json["scenarios"]
    assert entry["missing"] == ["call_control:hold"]
    assert entry["requires"] == ["direction:dial", "call_control:hold"]
    assert cli("validate", "hold.yaml").out == "unsupported: hold: in_process lacks call_control:hold\n"


def test_nothing_is_called(cli: Cli) -> None:
    cli("validate", "greeting.yaml")
    assert not (cli.folder / "voiceharness-out").exists()


def test_a_suite_file_is_told_with_what_it_comes_to(cli: Cli) -> None:
    cli.write("hold.yaml", HOLD)
    cli.write("nightly.yaml", "suite: nightly\nscenarios: ['*.yaml']\nlines: [own, mobile]\n")
    ended = cli("validate", "nightly.yaml")
    assert ended.code == 0
    assert ended.out.splitlines() == [
        "ok: suite nightly: 4 calls, 2 of them skipped",
        "unsupported: hold (in_process, own, seed 0): adapter 'in_process' does not support call_control:hold",
        "unsupported: hold (in_process, mobile, seed 0): adapter 'in_process' does not support call_control:hold",
    ]
    assert [entry["outcome"] for entry in cli("validate", "nightly.yaml", "--json").json["scenarios"]] == [
        "passed",
        "unsupported",
        "unsupported",
    ]


def test_a_suite_file_in_a_folder_is_checked_with_the_scenarios_there(cli: Cli) -> None:
    cli.write("nightly.yaml", "suite: nightly\nscenarios: [greeting.yaml]\nlines: [mobil]\n")
    ended = cli("validate", ".")
    assert ended.code == 2
    assert "ok: greeting" in ended.out
    assert "error: nightly.yaml:3:9: profile cannot be 'mobil'; did you mean 'mobile'?" in ended.out


def test_a_suite_file_of_an_adapter_that_cannot_be_used_is_an_error_with_its_place(cli: Cli) -> None:
    cli.write("nightly.yaml", "suite: n\nscenarios: [greeting.yaml]\nadapters: [{adapter: sipp}]\n")
    ended = cli("validate", "nightly.yaml")
    assert ended.code == 2
    assert ended.out.startswith("error: nightly.yaml:3:12: there is no adapter 'sipp'")


@pytest.mark.parametrize(
    ("adapter", "needs"), [("in_process", "an agent"), ("twilio", "the option 'url', or an agent")]
)
def test_an_adapter_that_reaches_nobody_is_an_error_with_its_place(adapter: str, needs: str, cli: Cli) -> None:
    cli.write("nightly.yaml", f"suite: n\nscenarios: [greeting.yaml]\nadapters: [{{adapter: {adapter}}}]\n")
    for command in (("validate", "nightly.yaml"), ("run", "nightly.yaml", "--list")):
        ended = cli(*command)
        assert ended.code == 2
        assert f"nightly.yaml:3:12: adapter '{adapter}' needs {needs}" in ended.out + ended.err


def test_an_agent_that_is_named_for_the_run_is_named_here_too(cli: Cli) -> None:
    cli.write("nightly.yaml", "suite: n\nscenarios: [greeting.yaml]\nadapters: [{adapter: in_process}]\n")
    ended = cli("validate", ".", "--agent", "tests.cli.agents:silent")
    assert ended.code == 0
    assert "ok: suite n: 1 call" in ended.out
    assert "ok: greeting (in_process; " in ended.out


def test_an_agent_that_cannot_be_loaded_or_served_is_an_error(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = cli("validate", "greeting.yaml", "--agent", "tests.cli.agents:nobody")
    assert ended.code == 2
    assert "nobody" in ended.err
    monkeypatch.setattr("voiceharness.cli.validating.hosting_adapters", frozenset)
    ended = cli("validate", "greeting.yaml", "--agent", "tests.cli.agents:silent")
    assert ended.code == 2
    assert "adapter 'in_process' has no host that could serve an agent" in ended.err


def test_variables_of_the_environment_need_not_be_set(cli: Cli) -> None:
    entry = "{agent: 'tests.cli.agents:silent', options: {goodbye: '${GOODBYE}'}}"
    cli.write("nightly.yaml", f"suite: n\nscenarios: [greeting.yaml]\nadapters: [{entry}]\n")
    assert cli("validate", "nightly.yaml").out == "ok: suite n: 1 call\n"


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("adapter: sipp", "there is no adapter 'sipp'"),
        ("options: {fluency: 3}", "adapter 'in_process' has no option 'fluency'; it has: "),
        ("synthesizer: loudspeaker", "there is no synthesizer named 'loudspeaker'; there are: "),
        ("transcriber: ear", "there is no transcriber named 'ear'; there are: "),
    ],
)
def test_a_scenario_that_names_what_there_is_none_of_is_an_error_with_its_place(
    line: str, wrong: str, cli: Cli
) -> None:
    cli.write("wrong.yaml", f"name: wrong\n{line}\nsteps: [hangup]\n")
    ended = cli("validate", "wrong.yaml", "greeting.yaml")
    assert ended.code == 2
    assert f"error: wrong.yaml:1:1: {wrong}" in ended.out
    assert "ok: greeting" in ended.out


def test_a_setting_that_the_adapter_does_not_have_is_an_error(cli: Cli) -> None:
    ended = cli("validate", "greeting.yaml", "--set", "fluency=3")
    assert ended.code == 2
    assert "adapter 'in_process' has no option 'fluency'" in ended.out


def test_an_agent_that_a_suite_file_names_is_loaded(cli: Cli) -> None:
    entry = "{adapter: in_process, agent: 'tests.cli.agents:nobody'}"
    cli.write("nightly.yaml", f"suite: n\nscenarios: [greeting.yaml]\nadapters: [{entry}]\n")
    ended = cli("validate", "nightly.yaml")
    assert ended.code == 2
    assert "error: nightly.yaml:3:12: agent 'tests.cli.agents:nobody' cannot be loaded" in ended.out
    assert cli("validate", "nightly.yaml", "--agent", "tests.cli.agents:silent").code == 0
