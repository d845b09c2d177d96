"""Calls within pytest: each runs in virtual time, so a call of twenty seconds takes a fraction of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from voiceharness import Hangup, Hear, Interrupt, Press, ResponseLatency, Say, Scenario, StopLatency, seconds
from voiceharness.demo.agent import AppointmentLine

if TYPE_CHECKING:
    from voiceharness.pytest_plugin import VoiceCall

LINE = AppointmentLine()  # one for all calls: it loads its speech engines once
pytestmark = pytest.mark.voiceharness(agent=LINE)

BOOKING = Scenario(
    "books an appointment",
    [
        Hear("help you today", within=3.0),
        Say("Hi, I would like to book an appointment."),
        Hear("which day"),
        Say("Tuesday would be great, please."),
        Hear("member number"),
        Press("4821"),
        Hear("booked for Tuesday"),
    ],
    limits=[ResponseLatency(at_most=2.0)],
)
INTERRUPTION = Scenario(
    "interrupts the greeting",
    [Interrupt("Sorry, I need to book an appointment.", after=seconds(0.7)), Hear("which day"), Hangup()],
    limits=[StopLatency(at_most=0.9)],
)


def test_an_appointment_can_be_booked(voice_call: VoiceCall) -> None:
    voice_call(BOOKING).raise_for_failure()


@pytest.mark.parametrize("after", [0.5, 1.0, 1.5])
def test_the_line_stops_wherever_it_is_interrupted(voice_call: VoiceCall, after: float) -> None:
    scenario = Scenario(
        f"interrupts after {after} s",
        [Interrupt("Sorry, I need to book an appointment.", after=seconds(after)), Hear("which day"), Hangup()],
        limits=[StopLatency(at_most=0.9)],
    )
    voice_call(scenario).raise_for_failure()


def test_a_line_that_talks_on_is_found(voice_call: VoiceCall) -> None:
    call = voice_call(INTERRUPTION, agent=AppointmentLine("talks_on"))
    assert {found.kind for found in call.findings} == {"no_flush_on_barge_in"}
    assert "stop_latency" in {check.kind for check in call.failures}
