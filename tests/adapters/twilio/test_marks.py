"""Marks: the carrier answers them when playout gets there, unless it is told to be a worse one."""

from __future__ import annotations

import pytest

from tests.adapters.twilio.wire_agent import Cue, Got, WireAgent, clear, close, mark, near, play, tone_media
from voiceharness.scenario.checks import Ended
from voiceharness.scenario.steps import Check, Hear, Wait

__all__: list[str] = []

SPOKEN_AND_MARKED: list[Cue] = [
    (number * 0.001, wire) for number in range(1, 6) for wire in (tone_media(440, 1.0), mark(f"c{number}"))
]


def answers(agent: WireAgent) -> list[tuple[str, float]]:
    return [(got.message["mark"]["name"], round(got.at, 3)) for got in agent.of("mark")]


def test_marks_come_back_as_playout_reaches_them() -> None:
    """Case A10: everything is sent within 5 ms; playout is what the carrier answers by, unless told otherwise."""
    agent = WireAgent(SPOKEN_AND_MARKED)
    play(agent, Wait(6))
    assert [name for name, _ in answers(agent)] == ["c1", "c2", "c3", "c4", "c5"]
    assert [at for _, at in answers(agent)] == pytest.approx([1, 2, 3, 4, 5], abs=0.02)


def test_a_carrier_that_answers_marks_at_once_is_a_fault_to_be_switched_on() -> None:
    """Case A10: an agent that ends its turn by marks is then 5000 ms early."""

    def hang_up(agent: WireAgent, got: Got) -> None:
        if got.message["event"] == "mark" and got.message["mark"]["name"] == "c5":
            agent.later(0.0, close())

    agents = [WireAgent(SPOKEN_AND_MARKED, react=hang_up) for _ in range(2)]
    right = play(agents[0], Hear(), Wait(1))
    wrong = play(agents[1], Hear(), Wait(1), marks="immediate")
    assert max(at for _, at in answers(agents[1])) <= 0.05
    assert right.heard == [(near(0), near(5000))]
    assert not right.found("farewell_cut")
    assert wrong.found("farewell_cut")[0].figure == pytest.approx(5.0, abs=0.02)


def test_a_mark_that_is_flushed_comes_back_at_once() -> None:
    agent = WireAgent([(0.0, tone_media(440, 5.0)), (0.0, mark("m")), (1.0, clear())])
    play(agent, Wait(2))
    assert answers(agent) == [("m", 1.0)]


def test_a_mark_without_audio_before_it_comes_back_at_once() -> None:
    agent = WireAgent([(1.0, mark("m"))])
    play(agent, Wait(2))
    assert answers(agent) == [("m", 1.0)]


def prompting() -> WireAgent:
    """Prompts the silent user and flushes the prompt at once; hangs up 5 s after the prompt's mark has come back."""

    def hang_up(agent: WireAgent, got: Got) -> None:
        if got.message["event"] == "mark":
            agent.later(5.0, close())

    return WireAgent([(5.0, tone_media(440, 2.0)), (5.0, mark("prompt")), (5.0, clear())], react=hang_up)


HANGS_UP = Check(Ended(by="agent", within=12.0))


def test_an_agent_hangs_up_on_silence_when_its_marks_come_back() -> None:
    """Case A12, the right carrier."""
    played = play(prompting(), Wait(15), HANGS_UP)
    assert played.result.ended_by == "agent"
    assert played.result.metrics is not None
    assert played.result.metrics.duration == pytest.approx(10.0, abs=0.1)
    assert "ended" not in played.unmet


def test_an_agent_that_waits_for_a_lost_mark_never_hangs_up() -> None:
    """Case A12: the limit of the call ends it."""
    played = play(prompting(), Wait(60), HANGS_UP, marks="lost", scenario={"max_duration": 15.0})
    assert played.result.ended_by == "limit"
    assert played.result.metrics is not None
    assert played.result.metrics.duration == pytest.approx(15.0, abs=0.1)
    assert "ended" in played.unmet
