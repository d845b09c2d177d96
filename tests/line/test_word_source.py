"""The agent's words while a call runs, from its transport and from the harness's own transcriber."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.wav import read_wav
from voiceharness.doubles import Cue, ScriptedPhoneAgent, paced
from voiceharness.events import Word, Words
from voiceharness.scenario.checks import Transcript
from voiceharness.scenario.run import SpeechEngines, run_scenario
from voiceharness.scenario.scenario import Scenario
from voiceharness.scenario.steps import Check, Hangup, Hear, Interrupt
from voiceharness.scenario.triggers import said, words
from voiceharness.speech import make_transcriber
from voiceharness_adapters.in_process import InProcess

if TYPE_CHECKING:
    from voiceharness.scenario.result import CallResult
    from voiceharness.scenario.steps import AnyStep
    from voiceharness.speech import Transcriber

FIXTURES = Path(__file__).parents[2] / "fixtures_audio"


class WithoutWords(InProcess):
    """A transport that carries sound alone, as a phone line does."""

    name = "without_words"
    capabilities = type(InProcess.capabilities)(
        interruption=True,
        dtmf=InProcess.capabilities.dtmf,
        directions=InProcess.capabilities.directions,
        rates=InProcess.capabilities.rates,
        virtual_time=True,
    )


@pytest.fixture(scope="module")
def transcriber() -> Transcriber:
    return make_transcriber()


def run(
    transcriber: Transcriber, cues: list[Cue], *steps: AnyStep, adapter: type[InProcess] = WithoutWords
) -> CallResult:
    scenario = Scenario("s", list(steps), allow=["barge_in_ignored", "no_flush_on_barge_in"])
    speech = SpeechEngines(transcriber=transcriber)
    return run_scenario(scenario, lambda: adapter(ScriptedPhoneAgent(cues)), speech=speech)


def test_expected_text_is_understood_by_the_harness_where_the_transport_has_no_words(transcriber: Transcriber) -> None:
    greeting = read_wav(FIXTURES / "agent_greeting.wav")
    result = run(transcriber, [(0.5, greeting)], Hear("how can I help you", within=2, tail_silence=1.0), Hangup())
    assert result.outcome == "passed", result.explain()
    assert "words by transcriber" in result.checks[0].explanation
    assert "moonshine" in str(result.facts["transcriber"])


def test_a_transcript_is_judged_by_the_harness_too(transcriber: Transcriber) -> None:
    goodbye = read_wav(FIXTURES / "agent_goodbye.wav")
    steps = (
        Hear(within=2, tail_silence=1.0),
        Check(Transcript(contains="nice day")),
        Check(Transcript(lacks="wednesday")),
        Hangup(),
    )
    assert run(transcriber, [(0.5, goodbye)], *steps).outcome == "passed"


@pytest.mark.parametrize("in_frames", [False, True], ids=["a burst", "frames of 20 ms"])
def test_words_counted_by_the_transcriber_trigger_a_barge_in_late_but_bounded(
    transcriber: Transcriber, in_frames: bool
) -> None:
    """The fourth word of the offer ("opening") is over at about 1.3 s; it counts when it is stable, within 1.5 s."""
    offer = read_wav(FIXTURES / "agent_offer.wav")
    cues: list[Cue] = list(paced(offer, 0.5)) if in_frames else [(0.5, offer)]
    stop = read_wav(FIXTURES / "user_stop.wav")
    result = run(transcriber, cues, Interrupt(audio=stop, after=words(4), within=2), Hangup())
    assert result.outcome == "passed", result.explain()
    assert result.metrics is not None
    [barge_in] = result.metrics.barge_ins
    assert barge_in.phase == "speaking"
    assert 1.2 < barge_in.onset / 8000 < 1.3 + 1.5
    assert result.record is not None
    [event] = result.record.of_kind("barge_in")
    assert event.data["word_source"] == "transcriber"


def test_bursts_and_frames_trigger_at_the_same_place(transcriber: Transcriber) -> None:
    """The onset of a word that is still arriving is known to a few milliseconds only."""
    offer, stop = read_wav(FIXTURES / "agent_offer.wav"), read_wav(FIXTURES / "user_stop.wav")
    onsets = []
    bursts: list[Cue] = [(0.5, offer)]
    for cues in (bursts, list(paced(offer, 0.5))):
        result = run(transcriber, cues, Interrupt(audio=stop, after=words(4), within=2), Hangup())
        assert result.metrics is not None
        onsets.append(result.metrics.barge_ins[0].onset)
    assert onsets[0] == pytest.approx(onsets[1], abs=80)


def test_a_phrase_that_the_transcriber_understands_triggers_a_barge_in(transcriber: Transcriber) -> None:
    offer, stop = read_wav(FIXTURES / "agent_offer.wav"), read_wav(FIXTURES / "user_stop.wav")
    result = run(transcriber, [(0.5, offer)], Interrupt(audio=stop, after=said("an opening"), within=2), Hangup())
    assert result.outcome == "passed", result.explain()
    assert result.metrics is not None
    assert 1.2 < result.metrics.barge_ins[0].onset / 8000 < 1.3 + 1.5


def test_an_agent_that_sends_no_words_is_understood_by_the_harness(transcriber: Transcriber) -> None:
    greeting = read_wav(FIXTURES / "agent_greeting.wav")
    steps = (Hear("how can I help you", within=2, tail_silence=1.0), Check(Transcript(contains="help")), Hangup())
    result = run(transcriber, [(0.5, greeting)], *steps, adapter=InProcess)
    assert result.outcome == "passed", result.explain()
    assert [check.explanation.endswith("words by transcriber") for check in result.checks] == [True, True]


def test_words_of_an_agent_that_sends_none_trigger_by_the_transcriber(transcriber: Transcriber) -> None:
    offer, stop = read_wav(FIXTURES / "agent_offer.wav"), read_wav(FIXTURES / "user_stop.wav")
    step = Interrupt(audio=stop, after=said("an opening"), within=2)
    result = run(transcriber, [(0.5, offer)], step, Hangup(), adapter=InProcess)
    assert result.outcome == "passed", result.explain()
    assert result.record is not None
    [event] = result.record.of_kind("barge_in")
    assert event.data["word_source"] == "transcriber"
    assert 1.2 < event.at / 8000 < 1.3 + 1.5


def test_words_that_an_agent_sent_are_not_transcribed(transcriber: Transcriber) -> None:
    words = Words("a", (Word("moo", 0.5, 1.0),))
    cues: list[Cue] = [(0.5, AudioChunk(read_wav(FIXTURES / "agent_goodbye.wav").pcm, item="a")), (0.5, words)]
    result = run(transcriber, cues, Hear("moo", within=2, tail_silence=1.0), Hangup(), adapter=InProcess)
    assert result.outcome == "passed", result.explain()
    assert "transcriber" not in result.facts


def test_words_that_are_never_said_end_the_wait_after_the_turn(transcriber: Transcriber) -> None:
    hello, stop = read_wav(FIXTURES / "agent_goodbye.wav"), read_wav(FIXTURES / "user_stop.wav")
    result = run(transcriber, [(0.5, hello)], Interrupt(audio=stop, after=words(40), within=2), Hangup())
    assert [check.kind for check in result.failures] == ["barge_in_missed"]
    assert result.metrics is not None
    assert result.metrics.duration < 0.5 + hello.duration + 2.0
