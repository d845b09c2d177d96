"""The public test kit: check an adapter of your own against the contract, and agents that do what they are told."""

from voiceharness.doubles import (
    CallLog,
    CrashingAgent,
    DoubleAgent,
    EchoAgent,
    ScriptedPhoneAgent,
    SilentAgent,
    TalkOverAgent,
    TurnTakingAgent,
    paced,
)
from voiceharness.doubles.faulty import (
    FAULTS,
    Attendant,
    Fault,
    Style,
    clean_scenario,
    faulty_agent,
    healthy_agent,
    scenario_for,
)
from voiceharness.testing.check import check_adapter
from voiceharness.testing.rules import RULES

__all__ = [
    "FAULTS",
    "RULES",
    "Attendant",
    "CallLog",
    "CrashingAgent",
    "DoubleAgent",
    "EchoAgent",
    "Fault",
    "ScriptedPhoneAgent",
    "SilentAgent",
    "Style",
    "TalkOverAgent",
    "TurnTakingAgent",
    "check_adapter",
    "clean_scenario",
    "faulty_agent",
    "healthy_agent",
    "paced",
    "scenario_for",
]
