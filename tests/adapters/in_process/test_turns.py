"""The turn-based in-process adapter: a function is asked at the user's offset, and its answer comes when ready."""

from __future__ import annotations

import asyncio
import threading
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pytest

from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.dtmf import detect
from voiceharness.audio.signals import tone
from voiceharness.capabilities import Requirement
from voiceharness.clock import LoopClock, run_real, run_virtual
from voiceharness.errors import AgentCrashedError, OptionError, PendingTransportError
from voiceharness.events import EndOfStream, TurnDone, Word, Words
from voiceharness.scenario.line_profile import LineProfile
from voiceharness.scenario.run import run_scenario
from voiceharness.scenario.scenario import Scenario
from voiceharness.scenario.steps import Press, Say, Wait
from voiceharness.speech.synthesis import Speech
from voiceharness.testing import RULES, check_adapter
from voiceharness_adapters.in_process import InProcessTurns

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

    from voiceharness.adapter import Received
    from voiceharness.agent import PhoneAgent
    from voiceharness.scenario.steps import AnyStep
    from voiceharness_adapters.in_process import AnswerFunction

__all__: list[str] = []

T = TypeVar("T")
FRAME = 160
ANSWER = AudioChunk.from_samples(tone(440, 0.5))
SPOKEN = tone(300, 0.4)


class Beeper:
    """A synthesizer that speaks each word as 100 ms of tone."""

    name = "beeper"
    version = "beeper 1"

    def __init__(self, rate: int = 8000) -> None:
        self.rate = rate

    def synthesize(self, text: str, *, voice: str | None = None, speed: float = 1.0) -> Speech:
        """Beep."""
        words = tuple(Word(word, index / 10, (index + 1) / 10) for index, word in enumerate(text.split()))
        return Speech(AudioChunk.from_samples(tone(440, len(words) / 10, self.rate), self.rate), words)


async def say(adapter: InProcessTurns, samples: Any, position: int = 0) -> int:
    """Say something in frames at 1x, between the line's two notices; returns the next position."""
    clock = LoopClock()
    for start in range(0, len(samples), FRAME):
        await clock.sleep(0.02)
        piece = AudioChunk.from_samples(samples[start : start + FRAME], position=position + start)
        await adapter.send_audio(piece)
        if start == 0:
            adapter.user_turn_started()
    adapter.user_turn_ended()
    return position + len(samples)


async def one_answer(adapter: InProcessTurns) -> list[Received]:
    """What is received up to the end of an answer."""
    items: list[Received] = []
    while not items or not isinstance(items[-1], TurnDone | EndOfStream):
        item = await adapter.receive_audio(timeout=10)
        assert item is not None, f"after {items}"
        items.append(item)
    return items


def asked(function: AnswerFunction, **options: Any) -> list[Received]:
    """What one utterance is answered, in virtual time."""

    async def body(adapter: InProcessTurns) -> list[Received]:
        await say(adapter, SPOKEN)
        return await one_answer(adapter)

    return in_call(InProcessTurns(function, **options), body)


def in_call(adapter: InProcessTurns, body: Callable[[InProcessTurns], Awaitable[T]], *, virtual: bool = True) -> T:
    async def main() -> T:
        await adapter.connect()
        try:
            return await body(adapter)
        finally:
            await adapter.disconnect()
            assert asyncio.all_tasks() == {asyncio.current_task()}

    return run_virtual(main()) if virtual else run_real(main())


def sound(items: list[Received]) -> bytes:
    return b"".join(item.pcm for item in items if isinstance(item, AudioChunk))


# What the function gets


def test_the_function_gets_the_users_utterance_and_nothing_else() -> None:
    heard: list[AudioChunk] = []

    async def body(adapter: InProcessTurns) -> None:
        silence = np.zeros(FRAME, np.int16)
        await adapter.send_audio(AudioChunk.from_samples(silence, position=0))
        end = await say(adapter, SPOKEN, FRAME)
        await adapter.send_audio(AudioChunk.from_samples(silence, position=end))
        await one_answer(adapter)
        await say(adapter, SPOKEN[:1600], end + FRAME)
        await one_answer(adapter)

    in_call(InProcessTurns(heard.append), body)
    assert [(chunk.position, chunk.pcm) for chunk in heard] == [
        (FRAME, SPOKEN.tobytes()),
        (2 * FRAME + len(SPOKEN), SPOKEN[:1600].tobytes()),
    ]


def test_the_onset_may_lie_in_the_frame_that_is_sent_next() -> None:
    heard: list[AudioChunk] = []

    async def body(adapter: InProcessTurns) -> None:
        adapter.user_turn_started()
        await adapter.send_audio(AudioChunk.from_samples(SPOKEN, position=0))
        adapter.user_turn_ended()
        await one_answer(adapter)

    in_call(InProcessTurns(heard.append), body)
    assert heard == [AudioChunk.from_samples(SPOKEN, position=0)]


def test_an_offset_without_an_onset_asks_nothing() -> None:
    async def body(adapter: InProcessTurns) -> None:
        adapter.user_turn_ended()
        adapter.user_turn_started()
        adapter.user_turn_ended()
        assert await adapter.receive_audio(timeout=5) is None

    in_call(InProcessTurns(lambda _utterance: ANSWER), body)


# What it may answer


async def audio_later(_utterance: AudioChunk) -> AudioChunk:
    await LoopClock().sleep(0.3)
    return ANSWER


async def audio_in_parts(_utterance: AudioChunk) -> AsyncIterator[AudioChunk]:
    for _ in range(2):
        await LoopClock().sleep(0.3)
        yield ANSWER


def audio_in_blocking_parts(_utterance: AudioChunk) -> Iterator[AudioChunk]:
    yield ANSWER
    yield ANSWER


@pytest.mark.parametrize(
    ("function", "clips"),
    [
        (lambda _utterance: ANSWER, 1),
        (audio_later, 1),
        (audio_in_parts, 2),
        (audio_in_blocking_parts, 2),
        (lambda _utterance: [ANSWER, "", ANSWER], 2),
        (lambda utterance: audio_in_parts(utterance), 2),
        (lambda _utterance: None, 0),
        (lambda _utterance: "", 0),
        (lambda _utterance: [], 0),
    ],
)
def test_audio_now_later_in_parts_or_none_at_all(function: AnswerFunction, clips: int) -> None:
    """Case B01: an answer without audio ends its turn as well."""
    items = asked(function)
    assert sound(items) == ANSWER.pcm * clips
    assert items[-1] == TurnDone("answer 1")


def test_text_is_spoken_and_its_words_are_told() -> None:
    items = asked(lambda _utterance: "good morning", synthesizer=Beeper())
    assert items[0] == Words("answer 1", (Word("good", 0.0, 0.1), Word("morning", 0.1, 0.2)))
    assert len(sound(items)) == 2 * 1600


def test_words_of_later_parts_count_from_the_start_of_the_answer() -> None:
    items = asked(lambda _utterance: [ANSWER, "good morning"], synthesizer=Beeper())
    words = [word for item in items if isinstance(item, Words) for word in item.words]
    assert [(word.start, word.end) for word in words] == [(0.5, 0.6), (0.6, 0.7)]


def test_text_without_a_synthesizer_says_what_to_do() -> None:
    with pytest.raises(AgentCrashedError, match="give in_process_turns a synthesizer") as caught:
        asked(lambda _utterance: "good morning")
    assert isinstance(caught.value.__cause__, OptionError)


def test_a_synthesizer_of_another_rate_is_refused_before_the_call() -> None:
    with pytest.raises(OptionError, match="speaks at 8000 Hz, but the line runs at 16000 Hz"):
        InProcessTurns(audio_later, synthesizer=Beeper(), rate=16000)


def test_an_answer_that_is_neither_sound_nor_text_is_the_agents_fault() -> None:
    with pytest.raises(AgentCrashedError, match="an answer is an AudioChunk, a str, several of them, or None; not int"):
        asked(lambda _utterance: 42)


def test_an_error_of_the_function_is_the_cause() -> None:
    """Case B03."""
    error = ValueError("boom")

    async def fail(_utterance: AudioChunk) -> None:
        raise error

    with pytest.raises(AgentCrashedError, match="boom") as caught:
        asked(fail)
    assert caught.value.__cause__ is error


# When


def test_an_agent_that_answers_after_300_ms_answers_after_300_ms() -> None:
    async def body(adapter: InProcessTurns) -> int:
        await say(adapter, SPOKEN)
        answer = await adapter.receive_audio()
        assert answer is not None
        assert answer.at_ns is not None
        return answer.at_ns

    assert in_call(InProcessTurns(audio_later), body) == 400_000_000 + 300_000_000


def test_parts_are_sent_as_they_become_ready() -> None:
    items = asked(audio_in_parts)
    assert [item.at_ns for item in items] == [700_000_000, 1_000_000_000, 1_000_000_000]


def test_utterances_are_answered_one_after_the_other_in_their_order() -> None:
    running: list[str] = []

    async def slow(utterance: AudioChunk) -> AudioChunk:
        running.append(f"begin {utterance.position}")
        await LoopClock().sleep(1.0)
        running.append(f"end {utterance.position}")
        return ANSWER

    async def body(adapter: InProcessTurns) -> list[Received]:
        end = await say(adapter, SPOKEN)
        await say(adapter, SPOKEN, end)
        return [*await one_answer(adapter), *await one_answer(adapter)]

    items = in_call(InProcessTurns(slow), body)
    assert running == ["begin 0", "end 0", "begin 3200", "end 3200"]
    named = [item.item for item in items if isinstance(item, AudioChunk | TurnDone)]
    assert named == ["answer 1", "answer 1", "answer 2", "answer 2"]


@pytest.mark.realtime
def test_a_function_that_blocks_runs_beside_the_loop_in_real_time() -> None:
    threads: list[int] = []

    def blocking(_utterance: AudioChunk) -> AudioChunk:
        threads.append(threading.get_ident())
        return ANSWER

    async def body(adapter: InProcessTurns) -> list[Received]:
        await say(adapter, SPOKEN[:FRAME])
        return await one_answer(adapter)

    items = in_call(InProcessTurns(blocking), body, virtual=False)
    assert sound(items) == ANSWER.pcm
    assert threads != [threading.get_ident()]


# The rest of the contract


def test_it_keeps_the_contract_as_far_as_a_function_can_be_an_agent() -> None:
    """Case B37. The rest needs an agent that acts by itself, which a function does not."""

    @asynccontextmanager
    async def host(_agent: PhoneAgent) -> AsyncIterator[dict[str, AnswerFunction]]:
        yield {"answer": audio_later}

    exempt = run_virtual(check_adapter(InProcessTurns, host))
    assert sum("is a function" in reason for reason in exempt.values()) == 7
    assert len(RULES) - len(exempt) == 9


def test_an_answer_that_is_still_coming_is_closed_when_the_call_ends() -> None:
    closed = []

    async def endless(_utterance: AudioChunk) -> AsyncIterator[AudioChunk]:
        try:
            while True:
                yield ANSWER
                await LoopClock().sleep(0.5)
        finally:
            closed.append(asyncio.get_running_loop().time())

    async def body(adapter: InProcessTurns) -> None:
        await say(adapter, SPOKEN)
        await LoopClock().sleep(1.0)

    in_call(InProcessTurns(endless, goodbye=0.25), body)
    assert closed == [1.65]


def test_it_declares_transcripts_only_where_it_speaks_text_itself() -> None:
    needs = Requirement("streaming_transcripts")
    assert InProcessTurns.capabilities_for({"synthesizer": Beeper()}).supports(needs)
    assert not InProcessTurns.capabilities_for({}).supports(needs)
    assert InProcessTurns.capabilities_for({}).virtual_time
    assert not InProcessTurns.capabilities.interruption
    assert InProcessTurns.capabilities.dtmf == {"inband"}


def test_the_user_cannot_be_heard_outside_the_call() -> None:
    async def main() -> None:
        adapter = InProcessTurns(audio_later)
        with pytest.raises(PendingTransportError):
            await adapter.send_audio(ANSWER)

    run_virtual(main())


def utterances(*steps: AnyStep, line: LineProfile) -> list[AudioChunk]:
    """What the function was asked about in a call of these steps."""
    asked: list[AudioChunk] = []
    run_scenario(Scenario("test", list(steps), line=line), lambda: InProcessTurns(asked.append))
    return asked


def test_an_utterance_is_whole_on_a_line_with_jitter_and_keeps_its_length_where_frames_are_lost() -> None:
    spoken = Say(audio=AudioChunk.from_samples(tone(300, 1.0)))
    for line in (LineProfile(), LineProfile(jitter=0.3), LineProfile(loss=0.2)):
        [utterance] = utterances(Wait(0.5), spoken, Wait(1.0), line=line)
        assert len(utterance) == pytest.approx(8000, abs=FRAME * 3), line
        assert utterance.position == pytest.approx(4000, abs=FRAME * 3), line


def test_tones_of_keys_are_one_utterance() -> None:
    [utterance] = utterances(Wait(0.5), Press("123"), Wait(0.5), line=LineProfile())
    assert [digit.key for digit in detect(utterance.samples, utterance.rate)] == ["1", "2", "3"]
