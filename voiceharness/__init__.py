"""voiceharness: a test harness for phone voice agents with real audio.

The front door: what a test needs to write a scenario, run it against an agent and read the result. Importing this
package loads nothing else; each name is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voiceharness.agent import AgentCall, PhoneAgent
    from voiceharness.audio.chunk import AudioChunk
    from voiceharness.errors import VoiceHarnessError
    from voiceharness.scenario.checks import (
        Answered,
        Dtmf,
        Ended,
        LongestSilence,
        NoFault,
        Overlap,
        ResponseLatency,
        StopLatency,
        Tone,
        Transcript,
    )
    from voiceharness.scenario.many import run_calls
    from voiceharness.scenario.result import CallFailed, CallResult
    from voiceharness.scenario.run import SpeechEngines, run_call, run_scenario
    from voiceharness.scenario.scenario import LineProfile, Scenario
    from voiceharness.scenario.steps import Check, Hangup, Hear, Interrupt, Line, Press, Say, Silence, Wait
    from voiceharness.scenario.triggers import at_random, at_time, said, seconds, words
    from voiceharness.scenario.yaml_dump import dump_scenario
    from voiceharness.scenario.yaml_file import load_scenarios

__all__ = [
    "AgentCall",
    "Answered",
    "AudioChunk",
    "CallFailed",
    "CallResult",
    "Check",
    "Dtmf",
    "Ended",
    "Hangup",
    "Hear",
    "Interrupt",
    "Line",
    "LineProfile",
    "LongestSilence",
    "NoFault",
    "Overlap",
    "PhoneAgent",
    "Press",
    "ResponseLatency",
    "Say",
    "Scenario",
    "Silence",
    "SpeechEngines",
    "StopLatency",
    "Tone",
    "Transcript",
    "VoiceHarnessError",
    "Wait",
    "at_random",
    "at_time",
    "dump_scenario",
    "load_scenarios",
    "run_call",
    "run_calls",
    "run_scenario",
    "said",
    "seconds",
    "words",
]

_HOMES: Final[Mapping[str, tuple[str, ...]]] = {
    "agent": ("AgentCall", "PhoneAgent"),
    "audio.chunk": ("AudioChunk",),
    "errors": ("VoiceHarnessError",),
    "scenario.checks": (
        *("Answered", "Dtmf", "Ended", "LongestSilence", "NoFault", "Overlap", "ResponseLatency", "StopLatency"),
        *("Tone", "Transcript"),
    ),
    "scenario.many": ("run_calls",),
    "scenario.result": ("CallFailed", "CallResult"),
    "scenario.run": ("SpeechEngines", "run_call", "run_scenario"),
    "scenario.scenario": ("LineProfile", "Scenario"),
    "scenario.steps": ("Check", "Hangup", "Hear", "Interrupt", "Line", "Press", "Say", "Silence", "Wait"),
    "scenario.triggers": ("at_random", "at_time", "said", "seconds", "words"),
    "scenario.yaml_dump": ("dump_scenario",),
    "scenario.yaml_file": ("load_scenarios",),
}


def __getattr__(name: str) -> object:
    """Load a public name from its home (PEP 562)."""
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)
