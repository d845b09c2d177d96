"""A spoken turn as events: what is in it, when each is due, and that it is played on time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.scripted.running import virtually
from voiceharness.clock import LoopClock
from voiceharness.scripted.errors import ScriptValueError
from voiceharness.scripted.inbound import AudioEvent, AudioTranscriptDeltaEvent, TurnDoneEvent
from voiceharness.scripted.sounds import MULAW_8K, PCM_24K
from voiceharness.scripted.transport import ScriptedRealtimeTransport
from voiceharness.scripted.turns import Word, audio_turn, play, spread_words

__all__: list[str] = []


def test_a_turn_has_its_events_in_order() -> None:
    turn = audio_turn("r1", PCM_24K.speech(0.06), words=[Word("hi", 0.0, 0.03), Word("there", 0.03, 0.06)])
    assert [event.type for _, event in turn.events] == [
        "turn_started",
        "audio_transcript_delta",
        "audio",
        "audio_transcript_delta",
        "audio",
        "audio",
        "audio_done",
        "turn_done",
    ]
    assert [due for due, _ in turn.events] == pytest.approx([0, 0, 0, 0.02, 0.02, 0.04, 0.06, 0.06])
    assert {getattr(event, "response_id", None) for _, event in turn.events} == {"r1"}
    assert (turn.item_id, turn.duration) == ("r1-item", 0.06)


def test_the_chunks_are_the_audio() -> None:
    audio = MULAW_8K.speech(0.2)
    turn = audio_turn("r1", audio, wire=MULAW_8K)
    assert b"".join(event.data for _, event in turn.events if isinstance(event, AudioEvent)) == audio


def test_words_without_times_are_spread_by_their_letters() -> None:
    words = spread_words("a ccc bb", 0.9)
    assert [word.text for word in words] == ["a", "ccc", "bb"]
    assert [time for word in words for time in (word.start, word.end)] == pytest.approx([0, 0.2, 0.2, 0.6, 0.6, 0.9])
    assert spread_words("  ", 1.0) == ()


def test_deltas_carry_the_times_of_their_words() -> None:
    turn = audio_turn("r1", PCM_24K.silence(0.9), words="a ccc bb")
    deltas = [event for _, event in turn.events if isinstance(event, AudioTranscriptDeltaEvent)]
    assert [delta.delta for delta in deltas] == ["a ", "ccc ", "bb "]
    assert [delta.end for delta in deltas] == pytest.approx([0.2, 0.6, 0.9])


def test_words_behind_the_audio_come_before_its_end() -> None:
    turn = audio_turn("r1", PCM_24K.silence(0.02), words=[Word("late", 5.0, 6.0)])
    assert [event.type for _, event in turn.events][-3:] == ["audio_transcript_delta", "audio_done", "turn_done"]


def test_a_turn_may_come_faster_than_it_is_spoken_or_all_at_once() -> None:
    audio = PCM_24K.silence(1.0)
    assert audio_turn("r1", audio, speed=4).events[-1][0] == 0.25
    assert {due for due, _ in audio_turn("r1", audio, words="one two", speed=float("inf")).events} == {0.0}
    with pytest.raises(ScriptValueError, match="never ends"):
        audio_turn("r1", audio, speed=0)


def test_usage_comes_with_the_end_of_the_turn() -> None:
    last = audio_turn("r1", b"", usage={"tokens": 3}).events[-1][1]
    assert last == TurnDoneEvent(response_id="r1", usage={"tokens": 3})


@virtually
async def test_a_turn_is_played_on_time() -> None:
    clock = LoopClock()
    await clock.sleep(1)
    transport, heard = ScriptedRealtimeTransport(), list[tuple[str, int]]()
    for name in ("turn_started", "audio", "turn_done"):
        transport.on(name, lambda event: heard.append((event.type, clock.now_ns())))
    await play(audio_turn("r1", PCM_24K.silence(0.06)), transport.emit)
    assert heard == [
        ("turn_started", 1_000_000_000),
        ("audio", 1_000_000_000),
        ("audio", 1_020_000_000),
        ("audio", 1_040_000_000),
        ("turn_done", 1_060_000_000),
    ]


@virtually
async def test_a_turn_is_cut_short_by_cancelling_it() -> None:
    transport, heard = ScriptedRealtimeTransport(), list[Any]()
    transport.on("audio", heard.append)
    playing = asyncio.ensure_future(play(audio_turn("r1", PCM_24K.silence(1.0)), transport.emit))
    await LoopClock().sleep(0.05)
    playing.cancel()
    await asyncio.wait([playing])
    assert len(heard) == 3
