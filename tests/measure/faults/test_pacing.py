"""Faults of sending, each with its twin that has none."""

from __future__ import annotations

import numpy as np
import pytest

from tests.measure.calls import Call, silence, spoken, tone
from tests.measure.verdicts import faults, interval, kinds, only

FRAME = 0.02


def with_gaps(length: float, *, every: int = 10, name: str = "agent_offer") -> Call:
    """Speech sent frame by frame; every so often a frame comes late."""
    call, late = Call(12), 0.0
    sound = spoken(name)
    for index, start in enumerate(range(0, len(sound), 160)):
        late += length * (index % every == every - 1)
        call.agent(start / 8000 + late, sound[start : start + 160])
    return call


@pytest.mark.parametrize("name", ["agent_offer", "agent_confirm", "agent_greeting"])
def test_missing_audio_in_mid_sound_is_found(name: str) -> None:
    found = faults(with_gaps(0.06, name=name))
    assert {finding.kind for finding in found} == {"media_gap"}
    assert 0.3 < sum(finding.figure for finding in found) < 2


def test_holes_too_short_to_be_heard_are_no_fault() -> None:
    assert kinds(with_gaps(0.004)) == []


def test_pauses_between_sentences_are_no_fault() -> None:
    call = Call(12).agent(0, spoken("agent_greeting")).agent(4.6, spoken("agent_menu"))
    assert kinds(call.agent(8, spoken("agent_goodbye"))) == []


def test_the_last_of_a_resampled_sound_may_come_after_a_hole() -> None:
    """A filter holds a few milliseconds back until it knows that the sound has ended."""
    sound = tone(440, 1.01)
    assert kinds(Call(3).agent(0, sound[:8000]).agent(1.02, sound[8000:])) == []


def test_silence_that_the_agent_sends_is_its_own() -> None:
    words = np.concatenate([np.concatenate((tone(440, 0.3), silence(0.1))) for _ in range(8)])
    assert kinds(Call(6).paced(0, words)) == []


def test_a_hole_while_the_harness_was_late_is_not_the_agents_fault() -> None:
    """Case A62."""
    call = Call(5).paced(0, tone(440, 1)).paced(1.1, tone(440, 1))
    assert only(call, "media_gap").figure == pytest.approx(0.1, abs=FRAME)
    assert kinds(call.note(0.95, "stall", duration=0.1)) == []


def burst_then_real_time(burst: int) -> Call:
    """A hundred frames in the first second, or as many as asked, then one every 20 ms."""
    call, frame = Call(30), tone(400, FRAME)  # whole periods, so that frames join without a click
    for index in range(burst):
        call.agent(index / burst, frame)
    for index in range(28 * 50):
        call.agent(1 + index * FRAME, frame)
    return call


def test_a_backlog_that_never_drains_is_found() -> None:
    """Case A46, with the fault (a shorter call)."""
    finding = only(burst_then_real_time(100), "backlog")
    assert finding.figure == pytest.approx(1.0, abs=0.04)
    assert interval(finding)[1] == pytest.approx(30, abs=0.1)


def test_a_burst_that_is_worked_off_at_once_is_no_fault() -> None:
    """Case A46, without the fault."""
    assert kinds(burst_then_real_time(55)) == []


def test_a_long_answer_sent_as_it_is_made_is_no_backlog() -> None:
    """Faster than real time, in pieces."""
    call = Call(40)
    for piece in range(20):
        call.agent(0.5 * piece, tone(440, 1.5))
    assert kinds(call) == []


def slow_sender(period: float) -> Call:
    """Frames of 20 ms, one each ``period`` seconds."""
    call = Call(12)
    for index in range(400):
        call.agent(period * index, tone(400, FRAME))
    return call


def test_an_agent_that_falls_behind_by_a_millisecond_a_frame_is_found() -> None:
    """Case A48 (a) on a stream."""
    finding = only(slow_sender(0.021), "pacing_drift")
    assert finding.figure == pytest.approx(0.4, abs=0.01)
    assert finding.severity == "warning"


def test_an_agent_that_keeps_time_has_no_drift() -> None:
    """Case A48 (b) on a stream."""
    assert kinds(slow_sender(0.02)) == []
