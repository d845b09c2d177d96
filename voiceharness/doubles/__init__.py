"""Agent doubles for tests, probes and users of the harness: agents that do exactly what they are told."""

from voiceharness.doubles.log import CallLog, LoggedItem
from voiceharness.doubles.plain import CrashingAgent, DoubleAgent, EchoAgent, SilentAgent
from voiceharness.doubles.probe_agent import ProbeAgent
from voiceharness.doubles.scripted_agent import Cue, ScriptedPhoneAgent, paced
from voiceharness.doubles.turn_taking import Endpointer, TalkOverAgent, TurnTakingAgent, UserSpeech

__all__ = [
    "CallLog",
    "CrashingAgent",
    "Cue",
    "DoubleAgent",
    "EchoAgent",
    "Endpointer",
    "LoggedItem",
    "ProbeAgent",
    "ScriptedPhoneAgent",
    "SilentAgent",
    "TalkOverAgent",
    "TurnTakingAgent",
    "UserSpeech",
    "paced",
]
