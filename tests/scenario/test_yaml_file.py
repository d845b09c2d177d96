"""Scenario files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from voiceharness.errors import ScenarioError
from voiceharness.scenario.checks import NoFault, ResponseLatency
from voiceharness.scenario.place import Place
from voiceharness.scenario.scenario import LineProfile, Scenario
from voiceharness.scenario.steps import Hear, Say
from voiceharness.scenario.yaml_file import load_scenario, load_scenarios, parse_scenarios
from voiceharness.scenario.yaml_nodes import MAX_BYTES

if TYPE_CHECKING:
    from pathlib import Path

__all__: list[str] = []

LINE_FIELDS = ("delay", "profile", "noise", "noise_kind", "echo", "echo_delay", "loss", "burst", "jitter")

FULL = """
name: book a table
description: A whole errand.
tags: [smoke, booking]
direction: be_dialled
connect_timeout: 20s
max_duration: 1min
seed: 7
rate: 16000
line: {delay: 150ms}
limits:
  response_latency: {p95: 1.5s}
  no_fault:
voice: heart
synthesizer: hibari
transcriber: moonshine
adapter: in_process
options: {target: "package.module:agent", retries: 2}
steps:
  - hear: {within: 3s}
  - say: I'd like to book
"""


def error_of(text: str) -> str:
    with pytest.raises(ScenarioError) as caught:
        parse_scenarios(text, file="a.yaml")
    return str(caught.value)


def test_yaml_and_python_give_equal_scenarios() -> None:
    assert parse_scenarios(FULL) == (
        Scenario(
            "book a table",
            steps=[Hear(within=3), Say("I'd like to book")],
            description="A whole errand.",
            tags=["smoke", "booking"],
            direction="be_dialled",
            connect_timeout=20,
            max_duration=60,
            seed=7,
            rate=16000,
            line=LineProfile(delay=0.15),
            limits=[ResponseLatency(p95=1.5), NoFault()],
            voice="heart",
            synthesizer="hibari",
            transcriber="moonshine",
            adapter="in_process",
            options={"target": "package.module:agent", "retries": 2},
        ),
    )


def test_a_scenario_knows_where_it_stands() -> None:
    (scenario,) = parse_scenarios(FULL, file="a.yaml")
    assert scenario.place == Place("a.yaml", 2, 1)
    assert [step.place for step in scenario.steps] == [Place("a.yaml", 20, 5), Place("a.yaml", 21, 5)]


def test_a_file_may_hold_a_list() -> None:
    first, second = parse_scenarios("- {name: a, steps: [hear]}\n- {name: b, steps: [hangup]}\n")
    assert (first.name, second.name) == ("a", "b")


def test_scenarios_may_share_defaults_and_override_them() -> None:
    text = (
        "defaults: {seed: 7, tags: [x]}\nscenarios:\n- {name: a, steps: [hear]}\n- {name: b, steps: [hear], seed: 8}\n"
    )
    first, second = parse_scenarios(text)
    assert (first.seed, first.tags) == (7, ("x",))
    assert (second.seed, second.tags) == (8, ("x",))


def test_a_file_is_loaded_and_sounds_are_found_beside_it(tmp_path: Path) -> None:
    (tmp_path / "hello.wav").write_bytes(b"")
    file = tmp_path / "call.yaml"
    file.write_text("name: a\nsteps: [say: {file: hello.wav}]\n", encoding="utf-8")
    scenario = load_scenario(file)
    assert scenario.steps == (Say(file=str(tmp_path / "hello.wav")),)
    assert load_scenarios(str(file)) == (scenario,)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError) as caught:
        load_scenarios(tmp_path / "none.yaml")
    assert str(caught.value) == f"{tmp_path / 'none.yaml'}: cannot read the file: No such file or directory"
    assert isinstance(caught.value.__cause__, FileNotFoundError)


def test_a_folder_is_no_scenario_file(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="cannot read the file: Is a directory"):
        load_scenarios(tmp_path)


def test_a_huge_file_is_not_read_whole(tmp_path: Path) -> None:
    file = tmp_path / "huge.yaml"
    file.write_bytes(b"#" * (MAX_BYTES + 1))
    with pytest.raises(ScenarioError, match=r"huge\.yaml:1:1: the file has more than 1000000 bytes"):
        load_scenarios(file)


def test_half_a_character_is_pointed_to() -> None:
    """Case B47."""
    assert error_of("name: \ud800") == "a.yaml:1:7: the file is not UTF-8 (byte 0xed)"


def test_one_scenario_is_not_several(tmp_path: Path) -> None:
    file = tmp_path / "two.yaml"
    file.write_text("- {name: a, steps: [hear]}\n- {name: b, steps: [hear]}\n", encoding="utf-8")
    with pytest.raises(ScenarioError) as caught:
        load_scenario(file)
    assert str(caught.value) == f"{file}: one scenario is expected, but there are 2: a, b"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hello", "1:1: expected a scenario (name, steps, ...) or a list of them"),
        ("[]", "1:1: expected a scenario (name, steps, ...) or a list of them"),
        ("- hello", "1:3: a scenario is a mapping (name, steps, ...), not 'hello'"),
        ("scenarios: 3", "1:12: expected a scenario (name, steps, ...) or a list of them"),
        (
            "scenarios: [{name: a, steps: [hear]}]\nname: b",
            "2:1: 'name' cannot stand beside scenarios; put it under defaults",
        ),
        ("scenarios: [{name: a, steps: [hear]}]\ndefaults: 3", "2:11: defaults takes a mapping, not '3'"),
        (
            "scenarios: [{name: a, steps: [hear]}]\ndefaults: {steps: [hear]}",
            "2:12: steps is each scenario's own, and cannot stand under defaults",
        ),
        (
            "scenarios: [{name: a, steps: [hear]}]\ndefaults: {sed: 3}",
            "2:12: scenario has no 'sed'; did you mean 'seed'?",
        ),
        ("name: a", "1:1: scenario needs steps"),
        ("steps: [hear]", "1:1: scenario needs name"),
        ("name: a\nsteps:", "2:7: steps takes a list, not nothing"),
        ("name: a\nsteps: []", "1:1: a scenario needs at least one step"),
        ("name: a\nsteps: [hangup, hear]", "2:17: step 2 (hear) comes after hangup: the call is over"),
        ("name: a\nstep: [hear]", "2:1: scenario has no 'step'; did you mean 'steps'?"),
        ("name: a\nsteps: [hear]\nsteps: [say]", "3:1: 'steps' is given twice; first in line 2"),
        ("name: a\nsteps: [hear]\ntags: smoke", "3:7: tags takes a list, not 'smoke'"),
        ("name: a\nsteps: [hear]\ntags: [smoke, [x]]", "3:15: tags takes text, not a list"),
        ("name: a\nsteps: [hear]\nseed: 1.5", "3:7: seed: '1.5' is not a whole number"),
        ("name: a\nsteps: [hear]\nrate: 44100", "3:7: rate cannot be '44100'; it takes 8000, 16000 or 48000 (hertz)"),
        (
            "name: a\nsteps: [hear]\nmax_duration: 0",
            "3:15: max_duration cannot be '0'; it takes a duration above zero such as 800ms or 1.2s",
        ),
        (
            "name: a\nsteps: [hear]\nline: mo",
            f"3:7: line takes a mapping ({', '.join(LINE_FIELDS)}), not 'mo'",
        ),
        ("name: a\nsteps: [hear]\noptions: fast", "3:10: options takes a mapping, not 'fast'"),
        (
            "base: &base {within: 1s}\nname: a\nsteps: [{hear: {<<: *base}}]",
            "3:17: merge keys (<<) are not read here; write the fields out, or what scenarios share under defaults",
        ),
        (
            f"name: a\nsteps: [hear]\nseed: {'9' * 5000}",
            f"3:7: seed takes a whole number of at least 0, not '{'9' * 59}…'",
        ),
        (
            f"name: a\nsteps: [{{wait: {'soon' * 5000}}}]",
            f"2:16: seconds takes a duration such as 800ms or 1.2s, not '{('soon' * 15)[:59]}…'",
        ),
        ("name: a\nsteps: [hear]\nline: {dely: 1s}", "3:8: line has no 'dely'; did you mean 'delay'?"),
        (
            "name: a\nsteps: [hear]\nlimits: {dtmf: 1}",
            '3:16: digits must stand in quotes: "1" (without them, YAML readers take 012 for the octal number 10)',
        ),
        (
            "name: a\nsteps: [hear]\noptions: {to: +15550100123}",
            "3:15: +15550100123 may be a number or digits; put digits in quotes, or write a plain number",
        ),
        ("name: a\nsteps: [line: reject]", "2:9: line: reject goes with direction: be_dialled, not dial"),
        (
            "- {name: a, steps: [hear]}\n- {name: a, steps: [hear]}",
            "2:3: a scenario named 'a' comes earlier in this file",
        ),
    ],
)
def test_an_error_has_its_line_and_column(text: str, message: str) -> None:
    assert error_of(text) == f"a.yaml:{message}"
