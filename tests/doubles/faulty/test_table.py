"""Every fault can be planted and is found, and nothing is found where none was planted."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.doubles.faulty.calls import call
from voiceharness.doubles.faulty import FAULTS, clean_scenario, faulty_agent, healthy_agent, scenario_for
from voiceharness.errors import OptionError
from voiceharness.impairment.path import PROFILES
from voiceharness.measure.finding import FINDING_KINDS, MEDIA_KINDS
from voiceharness.scenario.line_profile import LineProfile

if TYPE_CHECKING:
    from voiceharness.measure.finding import FindingKind
    from voiceharness.scenario.line_profile import ProfileName


def test_there_is_a_switch_for_every_kind_of_fault_but_those_of_packets() -> None:
    assert set(FAULTS) == set(FINDING_KINDS) - MEDIA_KINDS


@pytest.mark.parametrize("kind", FAULTS)
def test_a_planted_fault_is_found_and_no_other(kind: FindingKind) -> None:
    result = call(faulty_agent(kind, seed=1), scenario_for(kind, seed=1))
    assert result.error is None
    assert {found.kind for found in result.findings} == {kind}


@pytest.mark.parametrize("kind", FAULTS)
def test_the_twin_without_the_fault_passes(kind: FindingKind) -> None:
    fault = FAULTS[kind]
    result = call(fault.healthy_twin(seed=1), fault.scenario(seed=1))
    assert result.findings == ()
    assert result.passed, result.explain()


@pytest.mark.parametrize("seed", range(10))
def test_clean_calls_have_no_findings(seed: int) -> None:
    result = call(healthy_agent(seed), clean_scenario(seed, 16000 if seed % 5 == 4 else 8000))
    assert result.findings == ()
    assert result.passed, result.explain()


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("seed", range(2))
def test_what_a_bad_line_does_is_not_held_against_the_agent(profile: ProfileName, seed: int) -> None:
    result = call(healthy_agent(seed), clean_scenario(seed, line=LineProfile(profile=profile)))
    assert result.findings == ()
    assert result.passed, result.explain()


@pytest.mark.parametrize(
    ("kind", "profile"),
    [
        ("no_flush_on_barge_in", "good"),
        ("audio_after_flush", "bad_wifi"),
        ("wrong_law", "mobile"),
        ("dead_air", "speakerphone"),
        ("wrong_rate", "bad_wifi"),
    ],
)
def test_a_fault_is_found_on_a_bad_line_too(kind: FindingKind, profile: ProfileName) -> None:
    scenario = FAULTS[kind].scenario(seed=1)
    on_line = type(scenario)(scenario.name, scenario.steps, seed=1, line=LineProfile(profile=profile))
    assert kind in {found.kind for found in call(faulty_agent(kind, seed=1), on_line).findings}


def test_the_same_seed_is_the_same_call() -> None:
    first, second = (call(healthy_agent(3), clean_scenario(3)).record for _ in range(2))
    assert first is not None
    assert second is not None
    assert first.agent.tobytes() == second.agent.tobytes()
    assert first.events == second.events


def test_other_seeds_are_other_calls() -> None:
    assert len({clean_scenario(seed).steps for seed in range(10)}) == 10


def test_every_fault_says_what_the_agent_does() -> None:
    assert all(re.fullmatch(r"[A-Z].*\.", fault.summary) for fault in FAULTS.values())
    assert len({fault.summary for fault in FAULTS.values()}) == len(FAULTS)


def test_a_fault_that_cannot_be_planted_is_refused_with_those_that_can() -> None:
    with pytest.raises(OptionError, match="no fault 'rudeness' can be planted; there are no_flush_on_barge_in, "):
        faulty_agent("rudeness")  # type: ignore[arg-type] # on purpose
    with pytest.raises(OptionError):
        scenario_for("rudeness")  # type: ignore[arg-type] # on purpose
