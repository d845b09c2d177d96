"""An agent behind a scripted transport: everything that has a way through it comes through."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tests.adapters.realtime.far_sides import kinds, speech
from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.signals import speech_like, tone
from voiceharness.clock import run_virtual
from voiceharness.doubles import CrashingAgent, ScriptedPhoneAgent, TurnTakingAgent
from voiceharness.events import (
    AgentEvent,
    EndOfStream,
    Flush,
    HistoryClaimed,
    Mark,
    RemoteHangup,
    TruncationClaimed,
    TurnDone,
    Word,
    Words,
)
from voiceharness.registry.target import Target
from voiceharness.scenario.scenario import Scenario
from voiceharness.scenario.steps import Hear, Interrupt, Say
from voiceharness.scenario.triggers import seconds
from voiceharness_adapters.realtime import TransportVoiceAdapter, host

if TYPE_CHECKING:
    from voiceharness.agent import AgentItem
    from voiceharness.scenario.steps import AnyStep

__all__: list[str] = []


def test_a_listening_agent_is_called_by_name_and_stops_when_it_is_talked_over() -> None:
    answer = AudioChunk.from_samples(speech_like(3.0, seed=5))
    steps: list[AnyStep] = [Say(audio=speech(0.8)), Interrupt(audio=speech(0.8, seed=2), after=seconds(1.0)), Hear()]
    target = Target("realtime", agent=TurnTakingAgent([answer], pause=0.3, thinking=0.1, stops_after=0.2))
    result = target.call(Scenario("test", steps))
    assert result.passed, result.explain()
    assert result.virtual
    assert kinds(result) == set()
    assert result.metrics is not None
    assert 0.15 < (result.metrics.barge_ins[0].stop_latency or 0) < 0.3


def test_what_the_agent_sends_comes_in_order_and_marks_have_no_way() -> None:
    audio = AudioChunk.from_samples(tone(440, 0.1), item="a")
    words = Words("a", (Word("one", 0.0, 0.05), Word("two", 0.05, 0.1)))
    sent: list[AgentItem] = [
        audio,
        words,
        Words("a", text="three"),
        Mark("m"),
        Flush(),
        TruncationClaimed("a", 0.05),
        HistoryClaimed("a", "one"),
        TurnDone("a"),
    ]
    agent = ScriptedPhoneAgent([*((0.1, item) for item in sent), (0.2, RemoteHangup("bye"))])

    async def main() -> list[object]:
        async with host(agent) as target:
            adapter = TransportVoiceAdapter(**target)  # type: ignore[arg-type] # plain options
            await adapter.connect()
            received: list[object] = []
            while not isinstance(item := await adapter.receive_audio(), EndOfStream):
                received.append(item)
            await adapter.disconnect()
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return received

    received = run_virtual(main())
    assert received == [
        audio,
        Words("a", (Word("one", 0.0, 0.05),)),
        Words("a", (Word("two", 0.05, 0.1),)),
        Words("a", text="three"),
        Flush(),
        TruncationClaimed("a", 0.05),
        HistoryClaimed("a", "one"),
        TurnDone("a"),
        RemoteHangup("the transport was disconnected"),
    ]
    assert all(item.at_ns is not None for item in received if isinstance(item, AgentEvent | AudioChunk))


def test_an_agent_that_crashes_is_named_as_the_cause() -> None:
    result = Target("realtime", agent=CrashingAgent(ValueError("boom"), after=0.5)).call(Scenario("test", [Hear()]))
    assert result.outcome == "not_called"
    assert "ValueError: boom" in result.explain()


def test_an_agent_that_was_never_called_is_left_alone() -> None:
    async def main() -> None:
        async with host(CrashingAgent(ValueError("boom"))):
            pass

    run_virtual(main())
