"""Agents that listen: where they find the user's turns, when they answer, and whether they stop."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from voiceharness.agent import AgentCall, serve
from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.signals import speech_like, tone, white_noise
from voiceharness.clock import LoopClock, run_virtual
from voiceharness.doubles import Endpointer, TalkOverAgent, TurnTakingAgent, UserSpeech
from voiceharness.events import CallEnded, Digit, EndOfStream, Flush

if TYPE_CHECKING:
    from voiceharness.agent import AgentItem, PhoneAgent

__all__: list[str] = []

FIRST = AudioChunk.from_samples(tone(440, 1.0))
SECOND = AudioChunk.from_samples(tone(880, 1.0))
GREETING = AudioChunk.from_samples(tone(220, 2.0))


def track(seconds: float, *bursts: tuple[float, float]) -> Any:
    """A user's track with a burst of tone from each start for some seconds."""
    samples = np.zeros(round(seconds * 8000), np.int16)
    for start, length in bursts:
        sound = tone(300, length, level_db=-20)
        samples[round(start * 8000) :][: len(sound)] = sound
    return samples


def talk(agent: PhoneAgent, samples: Any) -> list[tuple[float, AgentItem]]:
    """What an agent sends, and when, while the user's track is played to it in frames."""

    async def main() -> list[tuple[float, AgentItem]]:
        call = AgentCall(LoopClock())
        serving = asyncio.create_task(serve(agent, call))
        for start in range(0, len(samples), 160):
            await call.clock.sleep(0.02)
            call.deliver(AudioChunk.from_samples(samples[start : start + 160], position=start))
        call.deliver(CallEnded())
        await serving
        sent: list[tuple[float, AgentItem]] = []
        while (item := call.take_sent()) is not None:
            if not isinstance(item, EndOfStream):
                sent.append((round((item.at_ns or 0) / 1e9, 6), item))
        return sent

    return run_virtual(main())


def sounds(sent: list[tuple[float, AgentItem]]) -> list[tuple[float, int]]:
    """When each clip was sent, and which, by its length in bytes and first bytes."""
    clips = [FIRST.pcm, SECOND.pcm, GREETING.pcm]
    return [(at, clips.index(item.pcm)) for at, item in sent if isinstance(item, AudioChunk)]


# Endpointer


@pytest.mark.parametrize("chunk", [80, 160, 1000, 100_000])
def test_turns_are_found_where_they_are_however_the_sound_is_cut(chunk: int) -> None:
    endpointer = Endpointer(8000, pause=0.3)
    samples = track(3.0, (0.5, 0.4), (1.1, 0.4), (2.0, 0.2))
    found = []
    for start in range(0, len(samples), chunk):
        found += endpointer.feed(AudioChunk.from_samples(samples[start : start + chunk]))
    assert found == [
        UserSpeech(4000),
        UserSpeech(4000, 12000),
        UserSpeech(16000),
        UserSpeech(16000, 17600),
    ]


def test_the_current_speech_tells_how_long_it_has_lasted() -> None:
    endpointer = Endpointer(8000, pause=0.3)
    seen = []
    for start in range(0, 8000, 800):
        endpointer.feed(AudioChunk.from_samples(track(1.0, (0.2, 0.4))[start : start + 800]))
        seen.append(round(endpointer.speaking_for, 3))
    assert seen == [0.0, 0.0, 0.1, 0.2, 0.3, 0.4, 0.4, 0.4, 0.0, 0.0]


def test_noise_below_the_level_is_no_speech() -> None:
    noise = white_noise(2.0, level_db=-60, seed=1)
    assert Endpointer(8000).feed(AudioChunk.from_samples(noise)) == []
    assert Endpointer(8000, level_db=-70).feed(AudioChunk.from_samples(noise)) != []


def test_sound_with_the_rhythm_of_speech_is_one_turn() -> None:
    samples = np.concatenate((speech_like(2.0, seed=1), np.zeros(8000, np.int16)))
    (begin, end) = Endpointer(8000).feed(AudioChunk.from_samples(samples))
    assert begin.onset < 160
    assert end.offset is not None
    assert 15840 < end.offset <= 16000


# TurnTakingAgent


def test_each_turn_is_answered_by_the_next_clip_and_the_last_serves_all_further_ones() -> None:
    agent = TurnTakingAgent([FIRST, SECOND], pause=0.3, thinking=0.2)
    sent = talk(agent, track(12.0, (0.0, 1.0), (4.0, 1.0), (8.0, 1.0)))
    assert sounds(sent) == [(1.5, 0), (5.5, 1), (9.5, 1)]
    assert [item.item for _, item in sent if isinstance(item, AudioChunk)] == ["turn 1", "turn 2", "turn 3"]


def test_it_greets_when_it_is_told_to() -> None:
    agent = TurnTakingAgent([FIRST], greeting=GREETING)
    assert sounds(talk(agent, track(5.0, (3.0, 0.5)))) == [(0.0, 2), (4.0, 0)]


def test_it_stops_when_the_user_talks_over_it_for_long_enough() -> None:
    agent = TurnTakingAgent([FIRST], greeting=GREETING, stops_after=0.2)
    sent = talk(agent, track(3.0, (1.0, 0.5)))
    assert [(at, item) for at, item in sent if isinstance(item, Flush)] == [(1.2, Flush())]
    assert sounds(sent)[-1] == (2.0, 0)


@pytest.mark.parametrize(
    ("stops_after", "burst"),
    [(None, (1.0, 0.5)), (0.2, (1.0, 0.15)), (0.2, (2.1, 0.5))],
    ids=["never", "short", "late"],
)
def test_it_talks_on_if_told_so_or_the_user_is_brief_or_it_had_ended(
    stops_after: float | None, burst: tuple[float, float]
) -> None:
    agent = TurnTakingAgent([FIRST], greeting=GREETING, stops_after=stops_after)
    assert not any(isinstance(item, Flush) for _, item in talk(agent, track(3.0, burst)))


def test_without_clips_it_only_listens() -> None:
    assert talk(TurnTakingAgent([]), track(3.0, (0.5, 0.5))) == []


def test_it_stops_once_for_one_barge_in() -> None:
    agent = TurnTakingAgent([FIRST], greeting=AudioChunk.from_samples(tone(220, 9.0)))
    sent = talk(agent, track(4.0, (1.0, 2.0)))
    assert sum(isinstance(item, Flush) for _, item in sent) == 1


def test_other_things_than_audio_are_no_speech() -> None:
    async def main() -> list[AgentItem | None]:
        call = AgentCall(LoopClock())
        agents = [TurnTakingAgent([FIRST]), TalkOverAgent(FIRST)]
        for agent in agents:
            agent.reaction(call)(Digit("1"))
        await call.clock.sleep(5.0)
        return [call.take_sent()]

    assert run_virtual(main()) == [None]


# TalkOverAgent


def test_it_talks_into_each_turn_of_the_user_and_does_not_stop() -> None:
    sent = talk(TalkOverAgent(FIRST, after=0.5), track(6.0, (0.0, 2.0), (3.0, 2.0)))
    assert sounds(sent) == [(0.52, 0), (3.52, 0)]
    assert not any(isinstance(item, Flush) for _, item in sent)
