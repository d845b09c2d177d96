"""What the harness did to a line is never held against the agent."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.measure.calls import Call, noise, speechlike, tone
from tests.measure.verdicts import kinds
from voiceharness.audio import g711
from voiceharness.measure import find_faults, measure
from voiceharness.measure.disturbance import MADE_BY, Disturbance, as_sent
from voiceharness.measure.finding import FINDING_KINDS

if TYPE_CHECKING:
    from voiceharness.line.record import CallRecord


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


def with_noise(call: Call, kind: str, direction: str, level_db: float = -25) -> CallRecord:
    """The call with noise on the agent's track, and what was sent beside it."""
    record = on_a_line(call, kind, direction).record()
    sent = np.concatenate([record.agent[a.start : a.start + a.heard] for a in record.arrivals])
    noisy = record.agent + noise(len(record.agent) / 8000, level_db)
    return replace(record, agent=noisy.astype(np.int16), received=sent)


def kinds_in(record: CallRecord) -> list[str]:
    return [finding.kind for finding in find_faults(record, measure(record))]


def test_the_agents_sound_is_judged_as_it_was_sent() -> None:
    """Case A38 behind a noisy line that hides it, and noise that is not the agent's."""
    right = tone(997, 1)
    wrong = np.frombuffer(g711.decode(g711.encode(right.tobytes(), "alaw"), "mulaw"), "<i2")
    assert kinds_in(with_noise(Call(3).agent(1, wrong), "noise", "to_user", -10)) == ["wrong_law"]
    assert kinds_in(with_noise(Call(3).agent(1, right), "noise", "to_user", -10)) == []
    assert kinds_in(with_noise(Call(3).agent(1, right), "noise", "to_agent", -10)) == ["noise_instead_of_speech"]


def test_without_what_was_sent_the_heard_sound_is_all_there_is() -> None:
    record = on_a_line(Call(3).agent(1, tone(997, 1)), "gain", "to_user").record()
    assert as_sent(record) is record


@pytest.mark.parametrize(("direction", "found"), [("to_user", []), ("to_agent", ["dead_air"])])
def test_silence_that_noise_may_cover_is_not_held_against_the_agent(direction: str, found: list[str]) -> None:
    assert kinds(on_a_line(Call(9).user(1, speechlike(1)), "noise", direction)) == found


def test_faults_that_a_line_cannot_make_are_found_on_it_as_ever() -> None:
    call = on_a_line(Call(9).agent(0, tone(440, 5)).barge_in(1.5, speechlike(1)), "noise", "to_user")
    assert kinds(call) == ["no_flush_on_barge_in"]


def test_only_known_faults_are_left_unjudged() -> None:
    assert set().union(*MADE_BY.values()) < set(FINDING_KINDS)
