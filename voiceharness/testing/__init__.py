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
from voiceharness.testing.check import check_adapter
from voiceharness.testing.rules import RULES

__all__ = [
    "RULES",
    "CallLog",
    "CrashingAgent",
    "DoubleAgent",
    "EchoAgent",
    "ScriptedPhoneAgent",
    "SilentAgent",
    "TalkOverAgent",
    "TurnTakingAgent",
    "check_adapter",
    "paced",
]
