"""Barge-ins: phase, stop latency, and what is heard after the first silence."""

from __future__ import annotations

import pytest

from tests.measure.calls import Call, speechlike, tone
from voiceharness.measure import BargeIn, measure

FRAME = 0.02


def only(call: Call) -> BargeIn:
    (barge_in,) = measure(call.record()).barge_ins
    return barge_in


def test_without_a_flush_the_queue_is_heard_to_its_end() -> None:
    """Case A01, with the fault: 5 s were sent at once and nothing stops them."""
    barge_in = only(Call(6).agent(0, tone(440, 5)).barge_in(1.5, speechlike(1)))
    assert barge_in.phase == "speaking"
    assert barge_in.stop_latency == pytest.approx(3.5, abs=FRAME)
    assert barge_in.flush is None
    assert barge_in.heeded is False


def test_a_flush_stops_what_is_heard() -> None:
    """Case A01, without the fault."""
    call = Call(6).agent(0, tone(440, 5)).barge_in(1.5, speechlike(1)).flush(1.7)
    barge_in = only(call)
    assert barge_in.stop_latency == pytest.approx(0.2, abs=FRAME)
    assert barge_in.flush == call.samples(1.7)
    assert barge_in.heeded is True
    assert barge_in.residual == ()


@pytest.mark.parametrize("flushed", [True, False])
def test_a_stray_burst_counts_to_the_stop_but_not_to_the_first_silence(flushed: bool) -> None:
    """Case A05: joining over short gaps must not hide the burst."""
    call = Call(4).barge_in(1.5, speechlike(1)).paced(1.8, tone(440, 0.06))
    call = call.agent(0, tone(440, 5)).flush(1.7) if flushed else call.paced(0, tone(440, 1.7))
    barge_in = only(call)
    assert barge_in.first_silence == pytest.approx(0.2, abs=FRAME)
    assert barge_in.stop_latency == pytest.approx(0.36, abs=FRAME)
    assert [len(burst) / 8000 for burst in barge_in.residual] == [pytest.approx(0.06, abs=FRAME)]


def test_phases_are_read_from_the_recording() -> None:
    """Case A07: one barge-in while the answer is computed, one while it is spoken; both unheeded."""
    call = Call(13).user(0, speechlike(1)).note(1, "state_claimed", state="thinking")
    call.note(3, "state_claimed", state="speaking").paced(3, tone(440, 8))
    call.barge_in(2, speechlike(0.6)).barge_in(6, speechlike(1.5))
    metrics = measure(call.record())
    assert [barge_in.phase for barge_in in metrics.barge_ins] == ["thinking", "speaking"]
    assert [barge_in.onset / 8000 for barge_in in metrics.barge_ins] == [2.0, 6.0]
    assert [barge_in.heeded for barge_in in metrics.barge_ins] == [False, False]
    assert metrics.barge_ins[0].stop_latency is None
    assert metrics.barge_ins[1].stop_latency == pytest.approx(5.0, abs=FRAME)


def test_barge_ins_that_the_agent_takes_in_are_heeded() -> None:
    """Case A07, without the fault."""
    call = Call(13).user(0, speechlike(1)).note(1, "state_claimed", state="thinking")
    call.barge_in(2, speechlike(0.6)).note(2.1, "state_claimed", state="listening")
    call.note(4, "state_claimed", state="speaking").agent(4, tone(440, 8)).barge_in(6, speechlike(1.5)).flush(6.3)
    assert [barge_in.heeded for barge_in in measure(call.record()).barge_ins] == [True, True]


def test_an_answer_sent_before_the_user_was_done_ignores_what_was_added() -> None:
    call = Call(8).user(0, speechlike(1)).barge_in(2, speechlike(0.6)).agent(2.3, tone(440, 1))
    assert only(call).heeded is False


def test_nothing_tells_whether_a_later_answer_took_in_what_was_added() -> None:
    call = Call(8).user(0, speechlike(1)).barge_in(2, speechlike(0.6)).agent(3.3, tone(440, 1))
    assert only(call).heeded is None


def test_an_interruption_before_the_agent_speaks_interrupts_nobody() -> None:
    """Case B09: at an absolute time, 5 s before the agent's first sound."""
    call = Call(10).barge_in(1.9, speechlike(0.5)).agent(7.32, tone(440, 2))
    call.note(1.9, "barge_in", asked=15200, onset=15200, via="speech", phase="speaking")
    barge_in = only(call)
    assert barge_in.phase == "silent"
    assert barge_in.double_talk == 0
    assert barge_in.stop_latency is None
    assert barge_in.asked == 15200


def test_onset_and_overlap_are_those_of_the_recording() -> None:
    """Case B09: 600 ms into the agent's speech."""
    barge_in = only(Call(10).agent(7.32, tone(440, 2)).barge_in(7.92, speechlike(0.5)))
    assert barge_in.phase == "speaking"
    assert barge_in.onset / 8000 == pytest.approx(7.92, abs=FRAME)
    assert barge_in.double_talk == pytest.approx(0.5, abs=FRAME)


def test_a_signal_alone_is_a_barge_in_without_speech() -> None:
    call = Call(6).agent(0, tone(440, 4)).flush(1.6).note(1.5, "barge_in", asked=12000, onset=12000, via="signal")
    barge_in = only(call)
    assert (barge_in.via, barge_in.double_talk) == ("signal", 0)
    assert barge_in.stop_latency == pytest.approx(0.1, abs=FRAME)


def test_words_of_a_listener_are_kept_apart() -> None:
    """Case A23: no interruption is counted."""
    call = Call(10).paced(0, tone(440, 8)).user(1, speechlike(0.3), text="yeah")
    metrics = measure(call.record())
    assert [barge_in.intent for barge_in in metrics.barge_ins] == ["backchannel"]
    assert metrics.stop_latency.n == 0


def test_the_intent_can_be_stated() -> None:
    """Case A27: a cough has no words."""
    barge_in = only(Call(10).paced(0, tone(440, 8)).user(2, speechlike(0.3), intent="noise"))
    assert barge_in.intent == "noise"


def test_the_plan_is_kept_beside_the_onset() -> None:
    """Case A62: a stalled loop may deliver a barge-in late."""
    call = Call(7).agent(0, tone(440, 6)).barge_in(1.8, speechlike(1))
    assert only(call.note(1.8, "barge_in", asked=12000, onset=14400, via="speech")).asked == 12000


def test_a_step_that_speaks_late_is_still_the_one_that_was_planned() -> None:
    """Case A62: the loop stalled between the decision and the sound."""
    call = Call(7).agent(0, tone(440, 6)).barge_in(3.2, speechlike(1), step=4)
    barge_in = only(call.note(1.5, "barge_in", asked=12000, via="speech", step=4))
    assert (barge_in.onset / 8000, barge_in.asked, barge_in.step) == (3.2, 12000, 4)
