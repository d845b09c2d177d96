"""The life of a call over a media stream: who ended it, what was still heard, and what is left over."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.adapters.twilio.wire_agent import (
    STREAM,
    Got,
    WireAgent,
    burst,
    close,
    mark,
    media,
    near,
    paced,
    play,
    speech,
    tone_media,
)
from voiceharness.audio.chunk import AudioChunk
from voiceharness.clock import LoopClock, run_virtual
from voiceharness.errors import AgentCrashedError, PendingTransportError
from voiceharness.scenario.run import run_call
from voiceharness.scenario.scenario import Scenario
from voiceharness.scenario.steps import Hangup, Hear, Say, Wait
from voiceharness_adapters.twilio import Twilio

__all__: list[str] = []


def on_first_sound(*wires: Any) -> Any:
    """Send things two seconds after the user began to speak, once."""
    done: list[float] = []

    def react(agent: WireAgent, got: Got) -> None:
        if not done and got.message["event"] == "media" and got.message["media"]["payload"].strip("/w="):
            done.append(got.at)
            agent.later(2.0, *wires)

    return react


# Hang-up by the agent


def test_a_farewell_is_cut_where_the_agent_closes_the_stream() -> None:
    """Case A56, the faulty agent: 3000 ms were sent, 200 ms heard."""
    played = play(WireAgent([(0.0, tone_media(440, 3.0)), (0.2, close())]), Hear())
    assert played.heard == [(0, near(200))]
    assert played.found("farewell_cut")[0].figure == pytest.approx(2.8, abs=0.02)
    assert played.result.ended_by == "agent"


def test_an_agent_that_waits_for_its_mark_is_heard_to_the_end() -> None:
    """Case A56, the twin."""

    def hang_up(agent: WireAgent, got: Got) -> None:
        if got.message["event"] == "mark":
            agent.later(0.05, close())

    agent = WireAgent([(0.0, tone_media(440, 3.0)), (0.0, mark("bye"))], react=hang_up)
    played = play(agent, Wait(5))
    assert played.heard == [(0, near(3000))]
    assert not played.found("farewell_cut")
    metrics = played.result.metrics
    assert metrics is not None
    assert metrics.duration - 3.0 == pytest.approx(0.05, abs=0.02)


def test_a_hang_up_in_mid_script_skips_the_rest_and_keeps_the_farewell() -> None:
    """Case B05."""
    agent = WireAgent([*paced(440, 2.0, 5.0), (7.0, close())])
    played = play(agent, Hear(), Say(audio=speech(1.0)), Hear())
    assert played.heard == [(near(5000), near(7000))]
    assert played.result.ended_by == "agent"
    assert [step.outcome for step in played.result.steps][1:] == ["skipped", "skipped"]
    assert played.result.error is None


def test_a_stream_that_dies_at_once_is_named_so() -> None:
    """Case A60: the agent's other instruction replaces the running stream after 11 ms."""
    played = play(WireAgent([(0.011, close())]), Hear(within=5))
    assert "the agent closed the stream 11 ms after its start" in played.result.ended_reason
    record = played.result.record
    assert record is not None
    assert [(event.kind, event.at) for event in record.of_kind("answered", "hangup")] == [
        ("answered", 0),
        ("hangup", 88),
    ]


def test_nothing_can_be_sent_before_the_call() -> None:
    """Case B05, the second run."""

    async def send() -> None:
        await Twilio(STREAM, app=WireAgent()).send_audio(AudioChunk(bytes(320)))

    with pytest.raises(PendingTransportError, match="await connect"):
        run_virtual(send())


# Turns without sound


@pytest.mark.parametrize(
    ("wires", "ended_by"), [([close()], "agent"), ([media(b"")], "user")], ids=["clean close", "empty audio"]
)
def test_a_turn_without_sound_ends_the_wait_without_an_error(wires: list[Any], ended_by: str) -> None:
    """Case B01 (b), (c): nobody waits for the response limit, and no bare timeout comes out."""
    played = play(WireAgent(react=on_first_sound(*wires)), Say(audio=speech(1.0)), Hear(within=3))
    assert played.result.error is None
    assert played.result.ended_by == ended_by
    metrics = played.result.metrics
    assert metrics is not None
    assert metrics.agent_turns == ()
    assert metrics.duration < 4.1


def test_an_application_that_leaves_without_a_close_has_hung_up() -> None:
    """Case B01 (b), without a word."""

    async def leaves(scope: Any, receive: Any, send: Any) -> None:
        assert scope["type"] == "websocket"
        await send({"type": "websocket.accept"})
        for _ in range(60):
            await receive()

    played = play(leaves, Wait(5))
    assert (played.result.ended_by, played.result.ended_code) == ("agent", 1006)


# Failures of the agent


def test_a_silent_agent_fails_the_step_with_what_was_waited_for() -> None:
    """Case B03 (a)."""
    played = play(WireAgent(paced(440, 1.0, 0.0)), Hear(), Say(audio=speech(1.0)), Hear(within=3))
    assert played.result.outcome == "failed"
    assert played.result.steps[2].outcome == "failed"
    assert played.result.explain()


def test_the_agents_own_exception_is_the_cause_at_its_time() -> None:
    """Case B03 (b)."""
    played = play(WireAgent([(1.5, ValueError("boom"))]), Hear(within=30))
    assert isinstance(played.result.error, AgentCrashedError)
    assert repr(played.result.error.__cause__) == "ValueError('boom')"
    assert played.result.metrics is not None
    assert 1.5 <= played.result.metrics.duration <= 2.0
    assert played.result.exit_code == 3


# Hang-up by the user


def test_what_an_agent_sends_after_the_stop_is_counted() -> None:
    """Case A58, the first: an agent that goes on for two seconds."""
    late = list(paced(440, 2.0, 3.01))
    played = play(WireAgent(late), Wait(3), Hangup(), goodbye=2.5)
    assert played.adapter.sent_after_end == 100
    assert played.result.record is not None
    assert [event.data["messages"] for event in played.result.record.of_kind("sent_after_end")] == [100]
    assert played.heard == []
    assert played.result.error is None


def test_work_that_goes_on_after_the_close_is_noticed_and_ended() -> None:
    """Case A58, the second: the agent's session stays open for half an hour."""
    ended: list[str] = []

    class Leaky(WireAgent):
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            await super().__call__(scope, receive, send)
            try:
                await LoopClock().sleep(1800)
            finally:
                ended.append("cancelled")

    played = play(Leaky(), Wait(3), Hangup())
    assert played.adapter.call_facts()["agent still running after the call"] is True
    assert ended == ["cancelled"]


def test_the_agent_gets_one_stop_and_then_the_close() -> None:
    agent = WireAgent()
    played = play(agent, Wait(1), Hangup())
    assert [got.message["event"] for got in agent.got][-1] == "stop"
    assert len(agent.of("stop")) == 1
    assert agent.closed is not None
    assert agent.closed["code"] == 1000
    assert not played.adapter.log.still_running


@pytest.mark.parametrize("how", ["success", "exception", "cancel"])
def test_however_the_run_ends_the_stream_is_stopped_once(how: str) -> None:
    """Case B35."""
    agent = WireAgent()

    def fail(_step: object) -> None:
        if how == "exception":
            raise RuntimeError("the test's own")

    async def run() -> None:
        task = asyncio.create_task(
            run_call(Scenario("case", [Wait(2), Wait(1)]), Twilio(STREAM, app=agent), on_step=fail)
        )
        if how == "cancel":
            await LoopClock().sleep(2)
            task.cancel()
        await asyncio.wait([task])
        assert task.cancelled() is (how == "cancel")
        assert asyncio.all_tasks() == {asyncio.current_task()}

    run_virtual(run())
    assert len(agent.of("stop")) == 1
    assert agent.of("stop")[0].at <= 3.02
    assert agent.closed is not None


def test_two_hundred_calls_leave_nothing_behind() -> None:
    """Case B37."""

    async def run() -> None:
        for _ in range(200):
            adapter = Twilio(STREAM, app=WireAgent(burst(440, 0.2)))
            await adapter.connect()
            await adapter.send_audio(AudioChunk(bytes(320), position=0))
            await LoopClock().sleep(0.02)
            await adapter.disconnect()
            await adapter.disconnect()
        assert asyncio.all_tasks() == {asyncio.current_task()}

    run_virtual(run())
