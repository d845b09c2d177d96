"""What the user said, read off the timeline."""

from __future__ import annotations

import pytest

from tests.measure.calls import Call, speechlike
from voiceharness.measure.utterances import only_fillers, user_utterances


@pytest.mark.parametrize("text", ["Mm-hmm.", "yeah, ok", "OK!", "Uh-huh", "right right"])
def test_words_of_a_listener_are_fillers(text: str) -> None:
    """Case A23."""
    assert only_fillers(text)


@pytest.mark.parametrize("text", ["", "...", "No", "yeah, but wait", "okay then", "Stop"])
def test_words_that_ask_for_the_floor_are_not(text: str) -> None:
    assert not only_fillers(text)


def test_edges_are_those_of_the_timeline_whatever_the_track_holds() -> None:
    record = Call(3).note(0.5, "user_utterance", onset=4000, offset=9000, source="say", step=3, text="Hi").record()
    (utterance,) = user_utterances(record)
    assert (utterance.onset, utterance.offset, utterance.step, utterance.text) == (4000, 9000, 3, "Hi")


def test_utterances_are_in_order_and_end_with_the_call() -> None:
    record = Call(3).user(2, speechlike(5)).user(0.5, speechlike(1)).record()
    assert [(each.onset, each.offset) for each in user_utterances(record)][1] == (16000, 24000)
    assert user_utterances(record)[0].onset == 4000


@pytest.mark.parametrize(("stated", "intent"), [("noise", "noise"), ("shrug", None), (None, None)])
def test_an_intent_is_taken_over_if_it_is_one(stated: str | None, intent: str | None) -> None:
    (utterance,) = user_utterances(Call(3).user(0.5, speechlike(1), intent=stated).record())
    assert utterance.intent == intent


def test_keys_far_apart_are_utterances_of_their_own() -> None:
    call = Call(6)
    for at in (1, 1.2, 3):
        call.note(at, "digit_sent", digit="7", method="event", duration=0.1)
    assert [(each.text, each.spoken) for each in user_utterances(call.record())] == [("77", False), ("7", False)]


def test_keys_that_were_noted_as_an_utterance_too_are_not_counted_twice() -> None:
    call = Call(6).user(1, speechlike(0.5), source="interrupt").note(1.1, "digit_sent", digit="7", duration=0.1)
    assert len(user_utterances(call.record())) == 1
