"""Turn taking over a media stream: what the user does reaches the agent, and is judged by the sound."""

from __future__ import annotations

from base64 import b64decode

import numpy as np
import pytest

from tests.adapters.twilio.wire_agent import Cue, Got, WireAgent, burst, clear, near, paced, play, speech, tone_media
from voiceharness.audio import g711, signals
from voiceharness.audio.chunk import AudioChunk
from voiceharness.scenario.scenario import LineProfile
from voiceharness.scenario.steps import Hear, Interrupt, Say, Wait
from voiceharness.scenario.triggers import seconds

__all__: list[str] = []

LOUD = 184
"""-45 dB as an RMS."""


def loud(got: Got) -> bool:
    """Whether a message carries sound."""
    if got.message["event"] != "media":
        return False
    samples = np.frombuffer(g711.decode(b64decode(got.message["media"]["payload"])), "<i2")
    return float(np.sqrt(np.mean(np.square(samples.astype(float))))) > LOUD


class StopsAt(WireAgent):
    """Flushes its answer at the n-th onset of the user's speech; 0: at none."""

    def __init__(self, cues: list[Cue], onset: int) -> None:
        super().__init__(cues, react=StopsAt.listen)
        self.onset = onset
        self.onsets: list[float] = []
        self.quiet_since = -1.0

    @staticmethod
    def listen(agent: WireAgent, got: Got) -> None:
        assert isinstance(agent, StopsAt)
        if not loud(got):
            return
        if got.at - agent.quiet_since > 0.5:
            agent.onsets.append(got.at)
            if len(agent.onsets) == agent.onset:
                agent.later(0.0, clear())
        agent.quiet_since = got.at


@pytest.mark.parametrize(("onset", "last"), [(0, 8000), (1, 1020), (2, 3020)])
def test_listeners_words_leave_the_agent_the_floor(onset: int, last: int) -> None:
    """Case A23: three single words; an agent that stops at the first or second is found out, at that word."""
    agent = StopsAt(burst(440, 8.0), onset)
    word = Say(audio=speech(0.3), intent="backchannel")
    played = play(agent, Wait(1), word, Wait(1.7), word, Wait(1.7), word, Wait(4))
    assert agent.onsets[:3] == pytest.approx([1.02, 3.02, 5.02], abs=0.03)
    assert played.heard[0][1] == near(last, 30)
    assert [found.start / 8 for found in played.found("false_yield")] == ([near(last, 40)] if onset else [])


@pytest.mark.parametrize("echo", [-25.0, -10.0])
def test_an_agent_that_stops_at_its_own_echo_interrupts_itself(echo: float) -> None:
    """Case A25: the user never speaks; the agent's own sound comes back after 150 ms."""
    agent = StopsAt(burst(440, 6.0), 1)
    played = play(agent, Wait(8), scenario={"line": LineProfile(echo=echo)})
    assert agent.onsets[0] == pytest.approx(0.17, abs=0.03)
    assert len(played.found("self_interruption")) == 1


@pytest.mark.parametrize(("echo", "onset"), [(None, 1), (-10.0, 0)])
def test_an_agent_without_echo_or_deaf_to_it_talks_to_the_end(echo: float | None, onset: int) -> None:
    """Case A25, the twins."""
    played = play(StopsAt(burst(440, 6.0), onset), Wait(8), scenario={"line": LineProfile(echo=echo)})
    assert not played.found("self_interruption")
    assert played.heard == [(0, near(6000))]


def cough() -> Say:
    noise = signals.white_noise(0.3, level_db=-15.0, seed=7)
    return Say(audio=AudioChunk.from_samples(noise), intent="noise")


@pytest.mark.parametrize("resumes", [True, False])
def test_a_cough_that_stops_an_agent_for_good_is_told_from_a_pause(resumes: bool) -> None:
    """Case A27: ten words of 800 ms; the agent pauses at the cough, and resumes or not."""
    cues: list[Cue] = [*burst(440, 8.0), (2.1, clear())]
    if resumes:
        cues += [(3.5, tone_media(440, 5.9))]
    played = play(WireAgent(cues), Wait(2.0), cough(), Wait(8))
    assert bool(played.found("stopped_not_resumed")) is not resumes
    heard = sum(end - start for start, end in played.heard)
    assert heard == near(8000 if resumes else 2100, 40)


def greeting() -> WireAgent:
    return StopsAt([*paced(440, 2.0, 0.5)], 0)


def test_an_agent_that_greets_first_is_heard_first() -> None:
    """Case B07 (a): the greeting is a turn of its own, before the user's first."""
    played = play(greeting(), Hear(), Say(audio=speech(1.0)), Wait(1))
    assert played.result.steps[0].outcome == "done"
    metrics = played.result.metrics
    assert metrics is not None
    assert [turn.onset / 8 for turn in metrics.agent_turns] == [near(500)]
    assert metrics.utterances[0].onset / 8 > 2500
    assert metrics.latencies == (None,)


def test_a_greeting_that_is_talked_over_is_not_the_answer() -> None:
    """Case B07 (b)."""
    agent = WireAgent([*paced(440, 2.0, 0.5), *paced(880, 1.0, 3.4)])
    played = play(agent, Say(audio=speech(2.2)), Hear())
    metrics = played.result.metrics
    assert metrics is not None
    assert metrics.double_talk == pytest.approx(1.7, abs=0.05)
    answer = metrics.answer_to(0)
    assert answer is not None
    assert answer.onset / 8 == near(3400)
    assert metrics.latencies[0] == pytest.approx(1.2, abs=0.02)


def test_a_barge_in_waits_until_the_agent_speaks() -> None:
    """Case B09: the agent begins at 7320; the user at +600 ms of its speech."""
    agent = WireAgent(paced(440, 4.0, 7.32))
    played = play(agent, Interrupt(audio=speech(1.0), after=seconds(0.6)), Wait(1))
    metrics = played.result.metrics
    assert metrics is not None
    assert metrics.barge_ins[0].onset / 8 == near(7920)
    assert metrics.barge_ins[0].phase == "speaking"


def test_speech_before_the_agent_speaks_is_no_interruption_of_it() -> None:
    """Case B09: at 1900 the agent is silent, and the recording says so."""
    agent = WireAgent(paced(440, 4.0, 7.32))
    played = play(agent, Wait(1.9), Say(audio=speech(1.0)), Wait(6))
    assert played.result.metrics is not None
    assert [barge_in for barge_in in played.result.metrics.barge_ins if barge_in.phase == "speaking"] == []
