"""The same agents over another transport: what it carries is found there as well."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from voiceharness.doubles.faulty import FAULTS, clean_scenario, healthy_agent
from voiceharness.scenario.run import run_scenario
from voiceharness_adapters.twilio import Twilio
from voiceharness_adapters.twilio.agent_app import TwilioAgentApp

if TYPE_CHECKING:
    from voiceharness.agent import PhoneAgent
    from voiceharness.measure.finding import FindingKind
    from voiceharness.scenario.result import CallResult
    from voiceharness.scenario.scenario import Scenario

NOT_CARRIED: set[FindingKind] = {
    "aliasing",  # the stream runs at 8 kHz
    "claimed_speaking_but_silent",
    "dtmf_doubled",
    "dtmf_false",
    "dtmf_late",
    "dtmf_lost",
    "hangup_undetected",  # the carrier closes the stream at once
    "history_missing_words",
    "history_unheard_words",
    "lost_first_words",  # items have no names
    "swapped_bytes",  # noise, behind mu-law
    "wrong_truncation",
}
"""Faults that need claims, digits, names or bytes that a media stream does not carry."""


def call(agent: PhoneAgent, scenario: Scenario) -> CallResult:
    """Call an agent over a media stream, in this process."""
    app = TwilioAgentApp(agent)
    return run_scenario(scenario, lambda: Twilio("https://agent.example.test/voice", app=app))


@pytest.mark.parametrize("kind", sorted(FAULTS.keys() - NOT_CARRIED))
def test_a_planted_fault_is_found_in_a_media_stream(kind: FindingKind) -> None:
    fault = FAULTS[kind]
    result = call(fault.agent(seed=2), fault.scenario(seed=2))
    assert result.error is None
    assert {found.kind for found in result.findings} == {kind}


@pytest.mark.parametrize("seed", [4, 9, 17])
def test_clean_calls_over_a_media_stream_have_no_findings(seed: int) -> None:
    result = call(healthy_agent(seed, keys=False), clean_scenario(seed))
    assert result.findings == ()
    assert result.passed, result.explain()
