"""The examples in the repository can be used as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from voiceharness.scenario.yaml_dump import dump_scenarios
from voiceharness.scenario.yaml_file import load_scenarios, parse_scenarios

__all__: list[str] = []

EXAMPLES = Path(__file__).parents[2] / "examples"

pytestmark = pytest.mark.checkout


def test_there_is_one_for_each_main_use() -> None:
    assert {file.stem for file in EXAMPLES.glob("*.yaml")} >= {"greeting_and_booking", "barge_in", "keypad"}


def test_every_example_is_valid_and_survives_writing() -> None:
    for file in sorted(EXAMPLES.glob("*.yaml")):
        scenarios = load_scenarios(file)
        assert parse_scenarios(dump_scenarios(scenarios)) == scenarios


def test_the_interruptions_of_the_example_are_bounded_by_a_limit() -> None:
    scenarios = load_scenarios(EXAMPLES / "barge_in.yaml")
    assert len(scenarios) == 3
    assert all([limit.kind for limit in scenario.limits] == ["stop_latency"] for scenario in scenarios)
    assert all(scenario.seed == 7 for scenario in scenarios)
