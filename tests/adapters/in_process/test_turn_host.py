"""An agent that is served as an answering function."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.signals import tone
from voiceharness.clock import run_virtual
from voiceharness.doubles import CrashingAgent, ProbeAgent, SilentAgent, TurnTakingAgent
from voiceharness.errors import AgentCrashedError
from voiceharness.events import CallEnded, RemoteHangup, TurnDone, Word, Words
from voiceharness.scenario.run import run_call
from voiceharness.scenario.scenario import Scenario
from voiceharness.scenario.steps import Hear, Say, Wait
from voiceharness_adapters.in_process import InProcessTurns, turn_host

if TYPE_CHECKING:
    from voiceharness.agent import PhoneAgent
    from voiceharness.scenario.result import CallResult
    from voiceharness.scenario.steps import AnyStep

__all__: list[str] = []

USER = AudioChunk.from_samples(tone(300, 0.4))
ANSWER = AudioChunk.from_samples(tone(440, 0.5), item="answer")


def calls(agent: PhoneAgent, *steps: AnyStep, times: int = 1) -> list[CallResult]:
    """Play a scenario on several calls to one served agent."""

    async def main() -> list[CallResult]:
        async with turn_host(agent) as target:
            return [
                await run_call(Scenario("turns", steps), InProcessTurns(**target))  # type: ignore[arg-type]  # options
                for _ in range(times)
            ]

    return run_virtual(main())


def turns(result: CallResult) -> list[float]:
    """When the agent was heard to begin, in seconds."""
    assert result.metrics is not None, result.explain()
    return [turn.onset / 8000 for turn in result.metrics.agent_turns]


def test_an_agent_that_waits_for_the_users_pause_answers_each_turn() -> None:
    agent = TurnTakingAgent([ANSWER], pause=0.3, thinking=0.1)
    (result,) = calls(agent, Say(audio=USER), Hear(), Say(audio=USER), Hear())
    assert result.passed, result.explain()
    assert result.metrics is not None
    assert [exchange.latency for exchange in result.metrics.exchanges] == pytest.approx([0.4, 0.4], abs=0.02)


def test_the_agents_timetable_begins_with_the_users_first_turn() -> None:
    (result,) = calls(ProbeAgent([(0.2, ANSWER)]), Wait(1.0), Say(audio=USER), Wait(1.5))
    assert turns(result) == pytest.approx([1.6], abs=0.02)


def test_each_call_is_a_call_of_its_own_to_the_agent() -> None:
    agent = ProbeAgent([(0.2, ANSWER)])
    results = calls(agent, Say(audio=USER), Wait(1.5), times=3)
    assert [len(turns(result)) for result in results] == [1, 1, 1]
    assert len(agent.logs) == 3
    assert all(isinstance(log.items[-1].item, CallEnded) for log in agent.logs)


def test_the_user_is_heard_at_once_and_silence_after() -> None:
    agent = ProbeAgent([(0.5, ANSWER)])
    calls(agent, Say(audio=USER), Wait(2.0))
    heard = agent.log.audio.samples
    assert abs(heard[: len(USER)].astype(int)).max() > 1000
    assert not heard[len(USER) + 400 :].any()
    assert len(heard) / 8000 == pytest.approx(0.4 + 0.5 + 0.5 + 0.3, abs=0.05)


def test_words_before_their_sound_make_the_answer_a_text_with_the_same_words() -> None:
    words = Words("answer", (Word("good", 0.0, 0.2), Word("day", 0.2, 0.5)))
    (result,) = calls(ProbeAgent([(0.1, words), (0.1, ANSWER)]), Say(audio=USER), Hear("good day"))
    assert result.passed, result.explain()
    assert result.record is not None
    assert [event.data["text"] for event in result.record.of_kind("word_heard")] == ["good", "day"]


@pytest.mark.parametrize("end", [TurnDone(), RemoteHangup("bye")])
def test_a_turn_ends_at_once_when_the_agent_says_so(end: TurnDone | RemoteHangup) -> None:
    agent = ProbeAgent([(0.1, ANSWER), (0.1, end), (0.3, ANSWER)])
    (result,) = calls(agent, Say(audio=USER), Wait(3.0))
    assert len(turns(result)) == 1


def test_an_agent_that_says_nothing_has_no_answer_and_the_next_turn_goes_on() -> None:
    agent = SilentAgent()
    (result,) = calls(agent, Say(audio=USER), Wait(1.5), Say(audio=USER), Wait(1.5))
    assert turns(result) == []
    assert len(agent.logs) == 1


def test_an_agent_that_crashes_is_a_crash_of_the_agent() -> None:
    (result,) = calls(CrashingAgent(ValueError("no"), after=0.1), Say(audio=USER), Wait(2.0))
    assert isinstance(result.error, AgentCrashedError)
