"""Turns of both parties, found in heard sound and in the timeline."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.measure.calls import Call, silence, speechlike, tone
from voiceharness.measure import measure

if TYPE_CHECKING:
    from voiceharness.measure import Metrics, Turn

FRAME = 0.02


def seconds(turn: Turn, rate: int = 8000) -> tuple[float, float]:
    return turn.onset / rate, turn.offset / rate


def agent_turns(metrics: Metrics) -> list[object]:
    return [pytest.approx(seconds(turn), abs=0.005) for turn in metrics.agent_turns]


def latencies(metrics: Metrics) -> list[object]:
    return list(metrics.latencies)


def test_pauses_shorter_than_the_tail_silence_belong_to_the_turn() -> None:
    sound = [tone(440, 0.5), silence(0.6), tone(440, 0.5), silence(0.8), tone(440, 0.5)]
    call = Call(5)
    for at, piece in zip((0.0, 0.5, 1.1, 1.6, 2.4), sound, strict=True):
        call.agent(at, piece)
    assert agent_turns(measure(call.record())) == [(0.0, 1.6), (2.4, 2.9)]


def test_the_tail_silence_can_be_raised() -> None:
    call = Call(5).agent(0, tone(440, 0.5)).agent(1.5, tone(440, 0.5)).record()
    assert len(measure(call).agent_turns) == 2
    assert len(measure(call, tail_silence=1.2).agent_turns) == 1


def test_utterances_seconds_apart_stay_apart_though_the_user_sends_nothing() -> None:
    """Case B13."""
    call = Call(16).agent(0, tone(440, 0.5)).agent(7.5, tone(440, 0.5)).agent(15, tone(440, 0.5)).record()
    metrics = measure(call)
    assert agent_turns(metrics) == [(0.0, 0.5), (7.5, 8.0), (15.0, 15.5)]
    assert not metrics.user_turns
    assert not call.user.any()


def test_a_pause_in_which_the_user_ends_splits_the_turn() -> None:
    call = Call(4).agent(0, tone(440, 1)).user(0.5, speechlike(0.7)).agent(1.4, tone(440, 1)).record()
    metrics = measure(call)
    assert agent_turns(metrics) == [(0.0, 1.0), (1.4, 2.4)]
    assert latencies(metrics) == [pytest.approx(0.2, abs=FRAME)]


def test_a_pause_within_one_item_does_not_split_though_the_user_ends_in_it() -> None:
    call = Call(4).agent(0, tone(440, 1), "a").user(0.5, speechlike(0.7)).agent(1.4, tone(440, 1), "a").record()
    metrics = measure(call)
    assert agent_turns(metrics) == [(0.0, 2.4)]
    assert latencies(metrics) == [None]


def test_what_was_queued_before_the_user_ended_is_no_answer() -> None:
    """Case A07: an agent that goes on through its own pauses has not answered."""
    long = [tone(440, 1), silence(0.5), tone(440, 1)]
    call = Call(4).user(0.7, speechlike(0.6))
    for piece in long:
        call.agent(0, piece)
    metrics = measure(call.record())
    assert agent_turns(metrics) == [(0.0, 2.5)]
    assert latencies(metrics) == [None]


def test_a_flush_splits_what_follows_it() -> None:
    call = Call(4).agent(0, tone(440, 3)).flush(1).agent(1.3, tone(880, 1)).record()
    assert agent_turns(measure(call)) == [(0.0, 1.0), (1.3, 2.3)]


def test_sound_of_the_old_turn_after_a_flush_stays_in_it_while_the_user_speaks() -> None:
    """Case A03: and the later answer is a turn of its own."""
    call = Call(5).agent(0, tone(440, 5)).barge_in(1.5, speechlike(1)).flush(1.7)
    call.paced(1.72, tone(440, 0.2)).agent(3.2, tone(880, 1))
    metrics = measure(call.record())
    assert agent_turns(metrics) == [(0.0, 1.92), (3.2, 4.2)]
    assert latencies(metrics) == [pytest.approx(0.7, abs=FRAME)]


def test_a_greeting_is_a_turn_but_no_answer() -> None:
    """Case B07 (a)."""
    call = Call(8).agent(0.5, tone(440, 2)).user(3, speechlike(1)).agent(4.8, tone(440, 1)).record()
    metrics = measure(call)
    assert agent_turns(metrics) == [(0.5, 2.5), (4.8, 5.8)]
    assert latencies(metrics) == [pytest.approx(0.8, abs=0.005)]
    assert metrics.exchanges[0].answer == 1
    assert metrics.exchanges[0].overlap == 0


def test_a_greeting_that_the_user_talks_over_is_overlap_not_the_answer() -> None:
    """Case B07 (b)."""
    call = Call(8).user(0, speechlike(1.5)).agent(0.5, tone(440, 2), "greeting").agent(3.5, tone(440, 1), "answer")
    metrics = measure(call.record())
    assert metrics.exchanges[0].overlap == pytest.approx(1.0, abs=FRAME)
    assert metrics.exchanges[0].answer == 1
    assert latencies(metrics) == [pytest.approx(2.0, abs=FRAME)]


def test_no_latency_is_negative() -> None:
    """Case B21 (a): the agent speaks only before the user's offset."""
    call = Call(4).user(0, speechlike(1)).agent(0.8, tone(440, 1)).record()
    metrics = measure(call)
    assert latencies(metrics) == [None]
    assert metrics.response_latency.missing == 1
    assert metrics.exchanges[0].overlap == pytest.approx(0.2, abs=FRAME)


def test_the_answer_to_an_earlier_turn_is_not_taken_for_this_one() -> None:
    """Case A33: answers lag one turn behind."""
    call = Call(20)
    for at, said, answered in ((0, 500, 500), (5, 700, 500), (10, 900, 700)):
        call.user(at, tone(said, 1)).agent(at + 1.8, tone(answered, 1))
    metrics = measure(call.record())
    assert latencies(metrics) == [pytest.approx(0.8, abs=0.005), None, None]
    assert [(exchange.stale, exchange.lag) for exchange in metrics.exchanges] == [(None, 0), (1, 1), (2, 1)]


def test_tones_that_answer_their_own_turn_are_answers() -> None:
    """Case A33, without the fault."""
    call = Call(20)
    for at, said in ((0, 500), (5, 700), (10, 900)):
        call.user(at, tone(said, 1)).agent(at + 1.8, tone(said, 1))
    assert latencies(measure(call.record())) == [pytest.approx(0.8, abs=0.005)] * 3


def test_tones_that_only_name_the_speaker_are_no_content() -> None:
    """Case B60: the user always 500 Hz, the agent always 900 Hz."""
    call = Call(12).user(0, tone(500, 1)).agent(1.5, tone(900, 1)).user(5, tone(500, 1)).agent(6.5, tone(900, 1))
    assert latencies(measure(call.record())) == [pytest.approx(0.5, abs=0.005)] * 2


def test_utterances_close_together_are_one_turn_of_the_user() -> None:
    call = Call(8).user(0, speechlike(1), text="Hello.", step=1).user(1.4, speechlike(1), text="It is me.", step=2)
    metrics = measure(call.agent(3, tone(440, 1)).record())
    (turn,) = metrics.user_turns
    assert (turn.text, turn.steps) == ("Hello. It is me.", (1, 2))
    assert latencies(metrics) == [pytest.approx(0.6, abs=FRAME)]


def test_a_listeners_word_is_no_turn_and_breaks_none() -> None:
    """Case A23: three fillers while the agent speaks."""
    call = Call(10).paced(0, tone(440, 8))
    for at, word in ((1, "yeah"), (3, "ok"), (5, "Mm-hmm.")):
        call.user(at, speechlike(0.3), text=word)
    metrics = measure(call.record())
    assert agent_turns(metrics) == [(0.0, 8.0)]
    assert not metrics.user_turns
    assert [utterance.intent for utterance in metrics.utterances] == ["backchannel"] * 3


@pytest.mark.parametrize("item", ["a", None])
def test_a_listeners_word_in_a_long_pause_of_what_is_queued_is_no_turn(item: str | None) -> None:
    """Case A23: the agent goes on without having waited for it."""
    call = Call(8).agent(0, np.concatenate((tone(440, 2), silence(1), tone(440, 2))), item)
    metrics = measure(call.user(2.5, speechlike(0.3), text="yeah").record())
    assert not metrics.user_turns


def test_the_same_word_in_silence_is_an_answer() -> None:
    call = Call(8).agent(0, tone(440, 1)).user(2, speechlike(0.3), text="Yeah.").agent(3, tone(440, 1)).record()
    assert latencies(measure(call)) == [pytest.approx(0.7, abs=FRAME)]


def test_keys_in_a_row_are_one_turn_of_the_user() -> None:
    call = Call(6)
    for index, digit in enumerate("123"):
        call.note(1 + 0.2 * index, "digit_sent", digit=digit, method="event", duration=0.1)
    metrics = measure(call.agent(2.5, tone(440, 1)).record())
    assert [turn.text for turn in metrics.user_turns] == ["123"]
    assert latencies(metrics) == [pytest.approx(1.0, abs=0.005)]


def test_an_utterance_cut_off_by_the_end_of_the_call_ends_with_it() -> None:
    metrics = measure(Call(2).user(1, speechlike(3)).record())
    assert metrics.user_turns[0].offset == 16000
    assert latencies(metrics) == [None]


def test_the_farewell_before_a_hang_up_is_a_turn() -> None:
    """Case B05."""
    call = Call(7).paced(5, tone(440, 2)).hang_up("agent").record()
    assert agent_turns(measure(call)) == [(5.0, 7.0)]


def test_a_call_in_which_nothing_happens_has_no_turns() -> None:
    metrics = measure(Call(3).record())
    assert not metrics.agent_turns
    assert not metrics.user_turns
    assert [silent.after for silent in metrics.silences] == [None]
