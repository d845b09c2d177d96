"""Faults after a barge-in, each with its twin that has none."""

from __future__ import annotations

import numpy as np
import pytest

from tests.measure.calls import Call, silence, speechlike, tone
from tests.measure.verdicts import faults, interval, kinds, only

FRAME = 0.02


def interrupted(seconds: float = 6) -> Call:
    """The agent has sent 5 s at once; the user talks over it from 1.5 s on."""
    return Call(seconds).agent(0, tone(440, 5)).barge_in(1.5, speechlike(1))


def test_a_barge_in_without_a_flush_is_found() -> None:
    """Case A01, with the fault: the verdict is on heard audio, and says that no flush was sent."""
    found = {finding.kind: finding for finding in faults(interrupted(9).agent(6.5, tone(880, 1)))}
    finding = found["no_flush_on_barge_in"]
    assert finding.figure == pytest.approx(3.5, abs=FRAME)
    assert interval(finding) == [pytest.approx(1.5), pytest.approx(5.0, abs=FRAME)]
    assert "no flush was sent" in finding.explanation


def test_a_flush_in_time_is_no_fault() -> None:
    """Case A01, without the fault."""
    assert kinds(interrupted().flush(1.7)) == []


def test_an_agent_that_sends_in_real_time_and_stops_needs_no_flush() -> None:
    assert kinds(Call(6).paced(0, tone(440, 1.8)).barge_in(1.5, speechlike(1)).paced(3, tone(440, 1))) == []


def test_a_late_flush_is_found() -> None:
    finding = only(interrupted().flush(3.3), "late_flush")
    assert finding.figure == pytest.approx(1.8, abs=FRAME)
    assert finding.end == 26400


def test_audio_after_the_flush_is_found_with_its_interval() -> None:
    """Case A03, with the fault; the later answer is no leak."""
    call = interrupted().flush(1.7).paced(1.72, tone(440, 0.2)).agent(3.2, tone(880, 1))
    finding = only(call, "audio_after_flush")
    assert finding.figure == pytest.approx(0.2, abs=FRAME)
    assert interval(finding) == [pytest.approx(1.72, abs=FRAME), pytest.approx(1.92, abs=FRAME)]
    assert "1.72 s to 1.92 s" in finding.explanation


def test_an_answer_after_the_flush_is_no_leak() -> None:
    """Case A03, without the fault."""
    assert kinds(interrupted().flush(1.7).agent(3.2, tone(880, 1))) == []


def test_a_leak_of_a_named_item_is_found_even_after_the_user_has_ended() -> None:
    """Case A03 on a transport that names its items."""
    call = Call(6).agent(0, tone(440, 5), "old").barge_in(1.5, speechlike(1)).flush(1.7)
    call.paced(2.7, tone(440, 0.3), "old").agent(3.2, tone(880, 1), "new")
    assert only(call, "audio_after_flush").figure == pytest.approx(0.3, abs=FRAME)


def test_what_a_flush_removed_before_it_was_heard_is_no_leak() -> None:
    """Case B11: audio of the same tick as the flush."""
    call = interrupted().agent(1.7, tone(440, 0.2)).flush(1.7)
    assert kinds(call) == []


def test_a_stray_burst_is_found_though_the_stop_was_in_time() -> None:
    """Case A05, with the fault."""
    finding = only(interrupted().flush(1.7).paced(1.8, tone(440, 0.06)), "residual_burst")
    assert finding.figure == pytest.approx(0.06, abs=FRAME)
    assert finding.start / 8000 == pytest.approx(1.8, abs=FRAME)


def test_a_stray_burst_is_found_without_a_flush() -> None:
    """Case A05: an agent that paces itself, stops, and sends three more frames."""
    call = Call(4).paced(0, tone(440, 1.7)).barge_in(1.5, speechlike(1)).paced(1.8, tone(440, 0.06))
    assert only(call, "residual_burst").figure == pytest.approx(0.06, abs=FRAME)


def test_a_barge_in_that_is_ignored_while_speaking_is_found() -> None:
    """Case A07 (b), with the fault."""
    finding = only(Call(9).paced(0, tone(440, 8)).barge_in(3, speechlike(1.5)), "barge_in_ignored")
    assert finding.figure == pytest.approx(5.0, abs=FRAME)
    assert finding.explanation.startswith("phase speaking")


def test_an_answer_that_comes_when_everything_was_said_is_no_stop() -> None:
    """Case A07 (b): it had heard the user, but spoke on, frame by frame, to its end."""
    call = Call(11).paced(0, tone(440, 8), "one").barge_in(3, speechlike(1.5)).paced(8.5, tone(880, 1), "two")
    assert kinds(call) == ["barge_in_ignored"]


def test_a_barge_in_that_is_ignored_while_thinking_is_found() -> None:
    """Case A07 (a), with the fault."""
    call = Call(7).user(0, speechlike(1)).note(1, "state_claimed", state="thinking").barge_in(2, speechlike(0.6))
    call.note(3, "state_claimed", state="speaking").paced(3, tone(440, 2)).note(5, "state_claimed", state="listening")
    finding = only(call, "barge_in_ignored")
    assert finding.figure == pytest.approx(1.0, abs=FRAME)
    assert finding.explanation.startswith("phase thinking")


def test_barge_ins_in_both_phases_that_are_heeded_are_no_fault() -> None:
    """Case A07, without the fault."""
    call = Call(13).user(0, speechlike(1)).note(1, "state_claimed", state="thinking")
    call.barge_in(2, speechlike(0.6)).note(2.1, "state_claimed", state="listening")
    call.note(4, "state_claimed", state="speaking").agent(4, tone(440, 8)).barge_in(6, speechlike(1.5)).flush(6.3)
    assert kinds(call.note(6.3, "state_claimed", state="listening").agent(8, tone(880, 1))) == []


def test_an_agent_that_heard_but_did_not_flush_has_not_ignored_the_user() -> None:
    """Case A01: stop latency is the fault, not deafness."""
    call = Call(9).agent(0, tone(440, 5), "one").barge_in(1.5, speechlike(1)).agent(3, tone(880, 1), "two")
    assert kinds(call) == ["no_flush_on_barge_in"]


@pytest.mark.parametrize("how", ["press", "signal"])
def test_keys_and_signals_are_not_judged_as_speech(how: str) -> None:
    call = Call(9).paced(0, tone(440, 8))
    if how == "press":
        call.note(3, "digit_sent", digit="1", method="event", duration=0.1)
    else:
        call.note(3, "barge_in", asked=24000, onset=24000, via="signal")
    assert kinds(call) == []


def test_silence_at_the_end_of_the_queue_is_not_heard_out() -> None:
    """Case A01: the turn ends 0.3 s after the barge-in; what is left in the queue is its silence."""
    call = Call(5).agent(0, np.concatenate((tone(440, 1.8), silence(2)))).barge_in(1.5, speechlike(0.5))
    assert kinds(call) == []


def test_one_cause_is_one_finding() -> None:
    """Case A01: nothing was sent after the barge-in, so nothing but the flush is known to be missing."""
    assert kinds(interrupted(9)) == ["no_flush_on_barge_in"]


def begun(seconds: float, *, goes_on: bool = True) -> Call:
    """An answer to a question; a flush takes what was sent of it by then."""
    call = Call(8).user(0, speechlike(1)).agent(1.5, tone(440, seconds), "a").flush(1.52)
    return call.agent(1.54, tone(660, 2), "a") if goes_on else call.agent(2.5, tone(660, 2), "b")


def test_first_words_that_a_flush_took_are_found() -> None:
    finding = only(begun(0.6), "lost_first_words")
    assert finding.figure == pytest.approx(0.58, abs=FRAME)
    assert interval(finding) == [pytest.approx(1.5, abs=FRAME), pytest.approx(1.54, abs=FRAME)]


def test_an_answer_that_was_taken_back_as_a_whole_lost_no_words() -> None:
    assert kinds(begun(0.6, goes_on=False)) == []
    assert kinds(begun(0.1)) == []


def test_a_flush_for_a_user_who_speaks_takes_no_first_words() -> None:
    """Case A03: the rest of the answer is what should not have been sent."""
    call = Call(8).user(0, speechlike(1)).agent(1.5, tone(440, 2), "a").barge_in(1.51, speechlike(1)).flush(1.59)
    assert "lost_first_words" not in kinds(call.agent(1.7, tone(440, 2), "a"))
