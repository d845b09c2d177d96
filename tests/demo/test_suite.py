"""The demo's suite: every verdict is the true one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from voiceharness.capabilities import Requirement
from voiceharness.demo.suite import DEMO_CALLS, DemoCall, DemoVerdict, demo_scenarios, run_demo
from voiceharness.scenario.result import CallResult
from voiceharness.scenario.yaml_dump import dump_scenario
from voiceharness.scenario.yaml_file import parse_scenarios

if TYPE_CHECKING:
    from collections.abc import Iterator

    from voiceharness.scenario.result import Outcome
    from voiceharness.scenario.scenario import Scenario


@pytest.fixture(scope="module")
def verdicts() -> list[DemoVerdict]:
    return list(run_demo())


def test_a_healthy_line_passes_and_every_planted_fault_is_found_for_its_own_reason(verdicts: list[DemoVerdict]) -> None:
    assert [verdict.explanation for verdict in verdicts if not verdict.as_expected] == []
    assert [verdict.result.passed for verdict in verdicts] == [True] * 6 + [False] * 5


def test_every_call_ran_in_virtual_time_and_left_a_recording(verdicts: list[DemoVerdict]) -> None:
    for verdict in verdicts:
        assert verdict.result.virtual
        assert verdict.result.record is not None
        assert verdict.result.record.agent.any()


def test_the_line_that_never_stops_was_heard_on_long_after_the_user_spoke(verdicts: list[DemoVerdict]) -> None:
    """A true fault, by the figures: the healthy line stopped within 0.9 s, the faulty one did not."""
    healthy, faulty = (verdicts[index].result.metrics for index in (1, 6))
    assert healthy is not None
    assert faulty is not None
    assert (healthy.barge_ins[0].stop_latency or 9) < 0.9 < (faulty.barge_ins[0].stop_latency or 0)


def test_a_disturbed_call_is_made_again_and_then_says_nothing_of_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes: Iterator[Outcome] = iter(["harness_fault", "passed", "not_called", "harness_fault", "harness_fault"])
    asked = list[str]()

    def disturbed(_target: object, scenario: Scenario, **_: object) -> CallResult:
        asked.append(scenario.name)
        return CallResult(scenario.name, "busy", next(outcomes))

    monkeypatch.setattr("voiceharness.registry.target.Target.call", disturbed)
    calls = run_demo()
    assert next(calls).as_expected
    verdict = next(calls)
    assert (verdict.as_expected, verdict.explanation[:30]) == (False, "this says nothing of the line:")
    assert asked == ["books an appointment"] * 2 + ["interrupts the greeting"] * 3


def test_only_the_call_whose_line_hangs_up_needs_to_be_told_of_it() -> None:
    needs = [scenario.name for scenario in demo_scenarios() if Requirement("tells_the_end") in scenario.requires]
    assert needs == ["changes its mind"]


def test_every_call_of_the_demo_names_a_scenario_and_each_fault_is_planted_once() -> None:
    names = {scenario.name for scenario in demo_scenarios()}
    assert {call.scenario for call in DEMO_CALLS} == names
    faults = [call.fault for call in DEMO_CALLS if call.fault]
    assert len(faults) == len(set(faults)) == 5
    assert all(isinstance(call, DemoCall) and bool(call.found_by) == bool(call.fault) for call in DEMO_CALLS)


def test_its_scenarios_are_ordinary_files() -> None:
    for scenario in demo_scenarios():
        assert parse_scenarios(dump_scenario(scenario)) == (scenario,)
