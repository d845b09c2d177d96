"""Calls with an attendant, in virtual time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voiceharness.scenario.run import run_scenario
from voiceharness_adapters.in_process import InProcess

if TYPE_CHECKING:
    from voiceharness.agent import PhoneAgent
    from voiceharness.scenario.result import CallResult
    from voiceharness.scenario.scenario import Scenario

__all__ = ["call"]


def call(agent: PhoneAgent, scenario: Scenario) -> CallResult:
    """Call an agent in this process."""
    return run_scenario(scenario, lambda: InProcess(agent, rate=scenario.rate))
