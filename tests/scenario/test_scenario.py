"""Scenarios as values."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from voiceharness.capabilities import Requirement
from voiceharness.errors import ScenarioError
from voiceharness.scenario.checks import Ended, Overlap, ResponseLatency, Tone, Transcript
from voiceharness.scenario.place import Place
from voiceharness.scenario.scenario import LineProfile, Scenario
from voiceharness.scenario.steps import AnyStep, Check, Hangup, Hear, Interrupt, Line, Press, Say, Wait
from voiceharness.scenario.triggers import seconds, words

__all__: list[str] = []


def test_a_scenario_reads_well_in_python() -> None:
    scenario = Scenario(
        "book",
        steps=[
            Hear(within=3),
            Say("I'd like to book"),
            Interrupt("wait", after=seconds(0.8)),
            Press("1"),
            Hangup(),
            Check(Ended(by="user")),
        ],
        limits=[ResponseLatency(at_most=1.5)],
        line=LineProfile(delay=0.15),
    )
    assert scenario.steps[1] == Say("I'd like to book")
    assert isinstance(scenario.steps, tuple)
    assert pickle.loads(pickle.dumps(scenario)) == scenario


def test_a_call_is_always_bounded() -> None:
    assert Scenario("idle", [Wait(1)]).max_duration == 120.0
    with pytest.raises(ScenarioError, match="max_duration takes seconds, a number above 0"):
        Scenario("idle", [Wait(1)], max_duration=float("inf"))


def test_what_a_scenario_requires_is_known_without_dialling() -> None:
    steps: list[AnyStep] = [
        Press("1"),
        Interrupt("a", after=seconds(1), via="both"),
        Line("hold"),
        Press("2"),
        Line("resume"),
    ]
    assert Scenario("x", steps, direction="be_dialled").requires == (
        Requirement("direction", "be_dialled"),
        Requirement("dtmf"),
        Requirement("interruption"),
        Requirement("call_control", "hold"),
        Requirement("call_control", "resume"),
    )
    limits = (Ended(by="agent"), Overlap(at_most=1.0))
    assert Scenario("x", [Wait(1)], limits=limits).requires[1:] == (Requirement("tells_the_end"),)


@pytest.mark.parametrize(
    ("scenario", "needed"),
    [
        (Scenario("x", [Hear()]), False),
        (Scenario("x", [Wait(1), Hear(up_to=words(1))]), True),
        (Scenario("x", [Hear()], limits=[Transcript(lacks="sorry")]), True),
        (Scenario("x", [Hear()], limits=[Transcript(contains="book", by="user")]), False),
    ],
)
def test_a_scenario_knows_whether_it_needs_the_agents_words(scenario: Scenario, needed: bool) -> None:
    """Case B25."""
    assert scenario.needs_words is needed


def test_options_are_copied_and_take_part_in_equality() -> None:
    options = {"url": "ws://localhost"}
    scenario = Scenario("x", [Hear()], options=options)
    options["url"] = "changed"
    assert scenario.options == {"url": "ws://localhost"}
    assert scenario != Scenario("x", [Hear()])


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"steps": []}, "a scenario needs at least one step"),
        ({"steps": "hear"}, "scenario: steps takes a list, not 'hear'"),
        ({"steps": [Hangup(), Say("x")]}, "step 2 (say) comes after hangup: the call is over"),
        ({"steps": [Line("cancel"), Hear()]}, 'step 2 (hear) comes after line "cancel": the call is over'),
        (
            {"steps": [Hear(), Line("cancel")]},
            "line: cancel comes before the answer, so it must be the first step",
        ),
        ({"steps": [Line("reject")]}, "line: reject goes with direction: be_dialled, not dial"),
        ({"name": ""}, "scenario: name takes text, not ''"),
        ({"rate": 44100}, "scenario: rate takes 8000, 16000 or 48000 (hertz), not 44100"),
        ({"direction": "out"}, "scenario: direction takes dial or be_dialled, not 'out'"),
        ({"line": {"delay": 1}}, "scenario: line takes LineProfile, not {'delay': 1}"),
        ({"options": 3}, "scenario: options takes Mapping, not 3"),
        ({"limits": [ResponseLatency(1), ResponseLatency(p50=1)]}, "limits: response_latency is given twice"),
        ({"steps": [Check(Tone(4000))]}, "tone: a line at 8000 Hz carries tones below 4000 Hz, not 4000 Hz"),
        (
            {"limits": [Tone(9000)], "rate": 16000},
            "tone: a line at 16000 Hz carries tones below 8000 Hz, not 9000 Hz",
        ),
    ],
)
def test_a_scenario_that_cannot_be_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        Scenario(**{"name": "x", "steps": [Hear()], **fields})
    assert str(caught.value) == message


def test_an_error_about_a_step_points_to_the_step() -> None:
    steps: list[AnyStep] = [Hangup(), Say("x", place=Place("a.yaml", 4, 3))]
    with pytest.raises(ScenarioError) as caught:
        Scenario("x", steps, place=Place("a.yaml", 1, 1))
    assert str(caught.value) == "a.yaml:4:3: step 2 (say) comes after hangup: the call is over"


def test_a_tone_that_the_line_cannot_carry_is_pointed_to() -> None:
    steps: list[AnyStep] = [Wait(1), Check(Tone(5000), place=Place("a.yaml", 4, 3))]
    with pytest.raises(ScenarioError) as caught:
        Scenario("x", steps)
    assert str(caught.value) == "a.yaml:4:3: tone: a line at 8000 Hz carries tones below 4000 Hz, not 5000 Hz"
    assert Scenario("x", steps, rate=16000).rate == 16000


def test_rejecting_a_call_is_a_whole_scenario() -> None:
    scenario = Scenario("busy", [Line("reject"), Check(Ended())], direction="be_dialled")
    assert Requirement("call_control", "reject") in scenario.requires


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"noise_kind": "babble"}, "line: noise_kind goes with noise, which is not given"),
        ({"echo_delay": 0.3}, "line: echo_delay goes with echo, which is not given"),
        ({"profile": "mobile", "burst": 3.0}, "line: burst goes with loss, which is not given"),
    ],
)
def test_a_detail_of_a_fault_that_the_line_does_not_have_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ScenarioError, match=f"^{message}$"):
        LineProfile(**fields)
