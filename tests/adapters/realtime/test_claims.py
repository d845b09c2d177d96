"""Truncations, histories and transcripts over a realtime transport, held against what was heard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.adapters.realtime.far_sides import (
    burst,
    events,
    kinds,
    paced,
    play,
    provided,
    speech,
    timetable,
    truncate,
)
from voiceharness.scenario.run import run_scenario
from voiceharness.scenario.scenario import LineProfile, Scenario
from voiceharness.scenario.steps import Hear, Interrupt, Say, Wait
from voiceharness.scenario.triggers import at_time
from voiceharness.scripted.inbound import (
    AudioInterruptedEvent,
    AudioTranscriptDeltaEvent,
    ItemUpdateEvent,
    RawEvent,
    TurnStartedEvent,
)
from voiceharness.scripted.sounds import PCM_24K
from voiceharness.scripted.turns import Word
from voiceharness_adapters.realtime import TransportVoiceAdapter

if TYPE_CHECKING:
    from voiceharness.scenario.result import CallResult
    from voiceharness.scenario.steps import AnyStep

__all__: list[str] = []

FRAME = 0.02
HARNESS = {"turn_detection": "harness"}
TEN_WORDS = "alpha bravo charlie delta echo foxtrot golf hotel india juliet"


def ten_words() -> list[Word]:
    """Ten words of half a second."""
    return [Word(text, number / 2, (number + 1) / 2) for number, text in enumerate(TEN_WORDS.split())]


def figure(result: CallResult, kind: str) -> float:
    return next(finding.figure for finding in result.findings if finding.kind == kind)


@pytest.mark.parametrize(("claimed_ms", "error"), [(1200, None), (3200, 2.0), (1500, 0.3), (6000, 4.8)])
def test_a_truncation_is_held_against_what_was_heard_over_a_delayed_line(claimed_ms: int, error: float | None) -> None:
    """Case A14."""
    claim = {"type": "conversation.item.truncated", "item_id": "second", "audio_end_ms": claimed_ms}
    cues = [
        *burst(0.0, "first", PCM_24K.tone(440, 2.0)),
        *burst(0.0, "second", PCM_24K.tone(660, 6.0)),
        (3.2, RawEvent(data=claim)),
        (3.2, AudioInterruptedEvent(item_id="second")),
    ]
    step = Interrupt(audio=speech(0.8), after=at_time(2.9))
    result = play(timetable(cues), step, line=LineProfile(delay=0.3))
    if error is None:
        assert "wrong_truncation" not in kinds(result)
    else:
        assert figure(result, "wrong_truncation") == pytest.approx(error, abs=FRAME)


@pytest.mark.parametrize("sent_ms", [4700, 2000])
def test_a_truncation_beyond_the_audio_is_refused_and_reported(sent_ms: int) -> None:
    """Case A15."""
    transport, provider = provided(paced(0.0, "answer", PCM_24K.tone(440, 2.0), speed=2.0 / 0.3))
    transport.when("interrupt").run(lambda _call: transport.send_event(truncate("answer", sent_ms)))
    step = Interrupt(audio=speech(0.5), after=at_time(5.0))
    result = play(transport, step, options=HARNESS)
    if sent_ms == 2000:
        assert result.passed, result.explain()
        assert [event.data["heard"] for event in events(result, "truncation_claimed")] == [2.0]
        return
    assert result.outcome == "protocol_violation"
    (refusal,) = provider.refusals
    assert (refusal.item_id, refusal.sent_ms, refusal.maximum_ms) == ("answer", 4700, 2000)
    (fault,) = events(result, "protocol_fault")
    assert "2000 ms" in str(fault.data["detail"])
    assert "4700 ms" in str(fault.data["detail"])


@pytest.mark.parametrize("client", ["truncates at zero", "cancels"])
def test_nothing_can_be_truncated_of_what_nobody_heard(client: str) -> None:
    """Case A17."""
    transport, provider = provided([(0.0, TurnStartedEvent(response_id="response"))])
    request = truncate("response-item", 0) if client == "truncates at zero" else {"type": "response.cancel"}
    transport.when("interrupt").run(lambda _call: transport.send_event(request))
    result = play(transport, Interrupt(audio=speech(0.5), after=at_time(0.3)), Wait(1.0), options=HARNESS)
    assert events(result, "word_heard") == []
    assert (result.outcome == "protocol_violation") == bool(provider.refusals) == (client == "truncates at zero")
    if client == "cancels":
        assert result.passed, result.explain()


def history(item: str, text: str, status: str = "completed") -> ItemUpdateEvent:
    content = [{"type": "output_audio", "transcript": text}]
    return ItemUpdateEvent(item={"id": item, "role": "assistant", "status": status, "content": content})


def test_a_history_without_the_words_that_were_heard_before_a_barge_in_is_found() -> None:
    """Case A19."""
    cues = [
        *burst(0.0, "a", PCM_24K.tone(440, 5.0), ten_words()),
        (2.3, AudioInterruptedEvent(item_id="a")),
        (2.3, history("a", "")),
    ]
    result = play(timetable(cues), Interrupt(audio=speech(0.8), after=at_time(2.0)))
    assert figure(result, "history_missing_words") == 4


@pytest.mark.parametrize(("kept", "missing"), [(9, 1), (10, 0)])
def test_a_history_that_lost_the_last_word_of_a_turn_is_found_and_one_that_came_late_is_none(
    kept: int, missing: int
) -> None:
    """Case A19."""
    *first, last = ten_words()
    cues = [
        *burst(0.0, "a", PCM_24K.tone(440, 5.0), first),
        (0.15, AudioTranscriptDeltaEvent(delta=last.text, item_id="a", start=last.start, end=last.end)),
        (0.4, history("a", " ".join(TEN_WORDS.split()[:kept]))),
    ]
    result = play(timetable(cues), Hear(text="india juliet"))
    assert ("history_missing_words" in kinds(result)) is bool(missing)
    if missing:
        assert figure(result, "history_missing_words") == missing
        assert "juliet" in result.explain()


def test_a_truncated_item_keeps_the_words_before_the_cut() -> None:
    claim = {"type": "conversation.item.truncated", "item_id": "a", "audio_end_ms": 2300}
    cues = [
        *burst(0.0, "a", PCM_24K.tone(440, 5.0), ten_words()),
        (0.1, history("a", TEN_WORDS)),
        (2.3, AudioInterruptedEvent(item_id="a")),
        (2.3, RawEvent(data=claim)),
    ]
    result = play(timetable(cues), Interrupt(audio=speech(0.8), after=at_time(2.0)))
    assert result.passed, result.explain()
    assert [event.data["text"] for event in events(result, "history_claimed")] == [
        TEN_WORDS,
        "alpha bravo charlie delta",
    ]


def test_an_item_that_is_not_complete_claims_nothing() -> None:
    cues = [*burst(0.0, "a", PCM_24K.tone(440, 5.0), ten_words()), (0.1, history("a", "", "in_progress"))]
    result = play(timetable(cues), Hear())
    assert result.passed, result.explain()
    assert events(result, "history_claimed") == []


def test_words_are_in_the_order_of_their_sound_whatever_the_order_they_came_in() -> None:
    """Case A21."""
    cues = [
        *paced(0.2, "one", PCM_24K.tone(440, 1.0)),
        *paced(2.2, "two", PCM_24K.tone(440, 1.0)),
        (2.3, AudioTranscriptDeltaEvent(delta="second ", item_id="two", start=0.0, end=0.4)),
        (2.4, AudioTranscriptDeltaEvent(delta="first answer", item_id="one", start=0.1, end=0.9)),
        (2.5, AudioTranscriptDeltaEvent(delta="reply", item_id="two", start=0.5, end=0.9)),
    ]
    result = play(timetable(cues), Hear(), Hear(text="second reply"))
    assert result.passed, result.explain()
    heard = [(event.data["text"], event.data["item"]) for event in events(result, "word_heard")]
    assert heard == [("first", "one"), ("answer", "one"), ("second", "two"), ("reply", "two")]


def transcription(kind: str, item: str, **fields: Any) -> RawEvent:
    return RawEvent(data={"type": f"conversation.item.input_audio_transcription.{kind}", "item_id": item, **fields})


def test_what_was_understood_of_the_user_is_in_the_order_the_user_spoke() -> None:
    """Case A21."""
    cues = [
        *((start, RawEvent(data={"type": "input_audio_buffer.speech_started", "item_id": item}))
          for start, item in ((0.0, "one"), (3.5, "two"), (5.5, "three"), (6.5, "four"))),
        *paced(1.5, "answer", PCM_24K.tone(440, 1.5)),
        (3.9, transcription("delta", "two", delta="second ")),
        (4.0, transcription("completed", "one", transcript="first turn")),
        (4.1, transcription("delta", "two", delta="tur")),
        (5.2, transcription("completed", "two", transcript="second turn")),
        (6.0, transcription("failed", "three", error={"message": "no speech"})),
        (7.0, transcription("completed", "four", transcript="fourth turn")),
    ]  # fmt: skip
    transport = timetable(cues)
    adapter = TransportVoiceAdapter(transport)
    steps: list[AnyStep] = [Say(audio=speech(1.0)), Hear(), Say(audio=speech(1.0), gap=0.5), Wait(3.0)]
    result = run_scenario(Scenario("test", steps), lambda: adapter)
    assert [(turn.item, turn.text, turn.state) for turn in adapter.understood] == [
        ("one", "first turn", "final"),
        ("two", "second turn", "final"),
        ("three", "", "failed"),
        ("four", "fourth turn", "final"),
    ]
    assert result.metrics is not None
    spoken = [("user", turn.onset) for turn in result.metrics.user_turns]
    spoken += [("agent", turn.onset) for turn in result.metrics.agent_turns]
    assert [party for party, _ in sorted(spoken, key=lambda each: each[1])] == ["user", "agent", "user"]
