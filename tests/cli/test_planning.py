"""The calls that a command line asks for, listed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

__all__: list[str] = []

SUITE = """\
suite: nightly
scenarios: ["*.yaml"]
adapters:
  - {adapter: in_process, agent: "tests.cli.agents:answering"}
  - {adapter: in_process, label: mute, agent: "tests.cli.agents:silent", resources: {trunk: 1}}
lines: [own, {label: far, delay: 50ms}]
seeds: [1, 2]
"""


@pytest.mark.parametrize(
    ("arguments", "calls"),
    [
        (["--adapter", "mute", "--seed", "7"], ["mute, own, 7", "mute, far, 7"]),
        (["--adapter", "mute", "--seed", "7", "--tag", "smoke"], []),
        (["--name", "gre*", "--adapter", "mute", "--seed", "7"], ["mute, own, 7", "mute, far, 7"]),
        (["--without-tag", "smoke", "--adapter", "mute", "--seed", "7"], ["mute, own, 7", "mute, far, 7"]),
    ],
)
def test_a_command_line_chooses_and_goes_before_the_file(arguments: list[str], calls: list[str], cli: Cli) -> None:
    cli.write("nightly.yaml", SUITE)
    ended = cli("run", "nightly.yaml", "--list", "--json", *arguments)
    if not calls:
        assert ended.code == 2
        assert "tags are nowhere given" in ended.err
    else:
        cells = [each["cell"] for each in ended.json["calls"]]
        assert [f"{each['adapter']}, {each['line']}, {each['seed']}" for each in cells] == calls
    assert not (cli.folder / "voiceharness-out").exists()


def test_a_list_tells_what_is_skipped_and_why_and_calls_nobody(cli: Cli) -> None:
    cli.write("hold.yaml", "name: hold\ntags: [odd]\nsteps:\n  - line: hold\n")
    cli.write("nightly.yaml", "suite: nightly\nscenarios: ['*.yaml']\n")
    ended = cli("run", "nightly.yaml", "--list")
    assert ended.code == 0
    assert ended.out.splitlines() == [
        "001  greeting  in_process, seed 0",
        "002  hold      in_process, seed 0  skipped: adapter 'in_process' does not support call_control:hold",
        "2 calls, 1 skipped",
    ]
    assert cli("run", ".", "--list", "--tag", "odd").out.splitlines() == [
        "001  hold  in_process, seed 0",
        "1 call",
    ]
    assert not (cli.folder / "voiceharness-out").exists()


def test_a_list_can_be_a_document(cli: Cli) -> None:
    cli.write("nightly.yaml", SUITE)
    listed = cli("run", "nightly.yaml", "--list", "--json").json
    assert (listed["format"], listed["name"], len(listed["calls"])) == ("voiceharness-plan/1", "nightly", 8)
    assert listed["calls"][-1] == {
        "number": 8,
        "scenario": "greeting",
        "file": "greeting.yaml",
        "tags": [],
        "adapter": "in_process",
        "cell": {"file": "greeting.yaml", "adapter": "mute", "line": "far", "seed": 2, "repeat": 1},
        "seed": 2,
        "direction": "dial",
        "resources": {"trunk": 1.0},
        "folder": "voiceharness-out/008-greeting-mute-far-seed-2",
        "kept": False,
        "skipped": None,
    }


def test_plain_files_are_listed_with_what_the_command_line_says(cli: Cli) -> None:
    assert cli("run", "greeting.yaml", "--list", "--seed", "5", "--repeat", "2").out.splitlines() == [
        "001  greeting  in_process, seed 5",
        "002  greeting  in_process, seed 5",
        "2 calls",
    ]


def test_a_run_of_too_many_calls_is_refused_at_once(cli: Cli) -> None:
    ended = cli("run", "greeting.yaml", "--agent", "tests.cli.agents:answering", "--repeat", "1000000000000", "--list")
    assert ended.code == 2
    assert "more than 100000 calls are asked for" in ended.err
