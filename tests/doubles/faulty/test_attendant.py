"""The attendant does everything right."""

from __future__ import annotations

import pytest

from tests.doubles.faulty.calls import call
from voiceharness.audio import signals
from voiceharness.audio.chunk import AudioChunk
from voiceharness.doubles.faulty import Attendant, Style
from voiceharness.scenario.checks import Dtmf, Ended, ResponseLatency, StopLatency
from voiceharness.scenario.scenario import Scenario
from voiceharness.scenario.steps import AnyStep, Check, Hangup, Hear, Interrupt, Press, Say, Silence
from voiceharness.scenario.triggers import AfterSeconds


def said(seconds: float, seed: int = 1) -> AudioChunk:
    return AudioChunk.from_samples(signals.speech_like(seconds, seed=seed))


def passes(agent: Attendant, *steps: AnyStep) -> None:
    result = call(agent, Scenario("test", steps))
    assert result.passed, result.explain()
    assert result.findings == ()


STYLES = [
    Style(),
    Style(paced=True),
    Style(words=True, claims=True),
    Style(paced=True, words=True, claims=True),
    Style(rate=24000),
]


@pytest.mark.parametrize("style", STYLES, ids=str)
def test_it_greets_answers_and_stops_when_it_is_interrupted(style: Style) -> None:
    interruption = Interrupt(audio=said(1.5, 2), after=AfterSeconds(1.0))
    checks = (Check(ResponseLatency(at_most=1.0)), Check(StopLatency(at_most=0.6)))
    asked = (Hear(), Say(audio=said(1.2)), Hear(), Say(audio=said(1.0)), interruption, Hear())
    passes(Attendant(style=style), *asked, *checks)


@pytest.mark.parametrize("intent", ["backchannel", "noise"])
def test_it_speaks_on_through_a_short_sound(intent: str) -> None:
    short = Interrupt(audio=said(0.25, 3), after=AfterSeconds(1.0), intent=intent)  # type: ignore[arg-type] # one of its values
    result = call(Attendant(), Scenario("test", [Hear(), Say(audio=said(1.2)), short, Silence(4), Hangup()]))
    assert result.findings == ()
    assert result.metrics is not None
    assert [turn.item for turn in result.metrics.agent_turns] == ["item 1", "item 2"]


def test_it_sends_digits_back_if_it_is_to() -> None:
    passes(Attendant(style=Style(keys=True)), Hear(), Press("407#"), Hear(), Check(Dtmf("407#")))
    result = call(Attendant(), Scenario("test", [Hear(), Press("407#"), Hear()]))
    assert result.record is not None
    assert list(result.record.of_kind("digit_received")) == []


def test_it_says_goodbye_to_silence_and_stays_for_a_user_who_speaks_again() -> None:
    passes(Attendant(), Hear(), Hear(within=6), Check(Ended(by="agent", within=15)))
    passes(Attendant(), Hear(), Hear(within=6, tail_silence=0.1), Say(audio=said(1.0)), Hear(), Hangup())


def test_one_attendant_serves_many_calls() -> None:
    agent = Attendant()
    scenario = Scenario("test", [Hear(), Say(audio=said(1.2)), Hear(), Hangup()])
    first, second = (call(agent, scenario) for _ in range(2))
    assert first.record is not None
    assert second.record is not None
    assert first.record.agent.tobytes() == second.record.agent.tobytes()
    assert [log.ended_at is not None for log in agent.logs] == [True, True]
