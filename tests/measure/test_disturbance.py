"""What the harness did to a line is never held against the agent."""

from __future__ import annotations

import numpy as np
import pytest

from tests.measure.calls import Call, noise, speechlike, tone
from tests.measure.verdicts import kinds
from voiceharness.audio import g711
from voiceharness.measure.disturbance import MADE_BY, Disturbance
from voiceharness.measure.finding import FINDING_KINDS


def lost(call: Call, at: float, seconds: float = 0.02) -> Call:
    """Let a frame be lost on its way to the user."""
    samples = call.samples(seconds)
    return call.note(at, "impaired", kind="loss", direction="to_user", frame=0, samples=samples, detail="")


def on_a_line(call: Call, kind: str, direction: str) -> Call:
    return call.note(0, "impaired", kind=kind, direction=direction, frame=None, detail="")


def test_what_was_lost_or_late_is_excused_where_it_was() -> None:
    """Case B27."""
    call = lost(lost(Call(5), 1.0), 1.02).note(3, "stall", duration=0.5)
    found = Disturbance.of(call.record())
    assert [(span.onset / 8000, span.offset / 8000) for span in found.spans] == [(1.0, 1.04), (3.0, 3.6)]
    assert found.excuses(8100, 8101)
    assert found.excuses(7900, 8001)
    assert not found.excuses(7900, 8000)
    assert not found.excuses(8320, 8400)


def test_what_was_lost_on_the_way_to_the_agent_excuses_nothing_of_its_sound() -> None:
    call = Call(5).note(1, "impaired", kind="loss", direction="to_agent", frame=8000, samples=160, detail="")
    assert Disturbance.of(call.record()) == Disturbance((), frozenset())


@pytest.mark.parametrize(("direction", "found"), [("to_user", []), ("to_agent", ["noise_instead_of_speech"])])
def test_noise_that_the_harness_made_is_not_the_agents(direction: str, found: list[str]) -> None:
    assert kinds(on_a_line(Call(4).agent(1, noise(2, -10)), "noise", direction)) == found


def test_faults_that_a_line_cannot_make_are_found_on_it_as_ever() -> None:
    """A codec on the line does not make one law into another."""
    wrong = np.frombuffer(g711.decode(g711.encode(tone(997, 1).tobytes(), "alaw"), "mulaw"), "<i2")
    assert kinds(on_a_line(Call(3).agent(1, wrong), "codec", "to_user")) == ["wrong_law"]
    assert kinds(on_a_line(Call(9).agent(0, tone(440, 5)).barge_in(1.5, speechlike(1)), "noise", "to_user")) == [
        "no_flush_on_barge_in"
    ]


def test_only_known_faults_are_left_unjudged() -> None:
    assert set().union(*MADE_BY.values()) < set(FINDING_KINDS)
