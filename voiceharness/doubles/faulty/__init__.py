"""Agents with one planted fault each, and the same agent without any: to test what is to find them.

``FAULTS`` has an entry for every kind of finding but those of packets, which an agent has no hand in;
``faulty_agent(kind)`` and ``scenario_for(kind)`` are its short forms. ``healthy_agent(seed)`` and
``clean_scenario(seed)`` make calls in which nothing is to be found.
"""

from voiceharness.doubles.faulty.attendant import Attendant, Style
from voiceharness.doubles.faulty.scenarios import clean_scenario
from voiceharness.doubles.faulty.table import FAULTS, Fault, faulty_agent, healthy_agent, scenario_for

__all__ = [
    "FAULTS",
    "Attendant",
    "Fault",
    "Style",
    "clean_scenario",
    "faulty_agent",
    "healthy_agent",
    "scenario_for",
]
