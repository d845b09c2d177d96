"""What the harness's transcriber understood of the agent's turns, and when it is asked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.line.test_word_source import WithoutWords
from voiceharness.audio.wav import read_wav
from voiceharness.doubles import Cue, ScriptedPhoneAgent
from voiceharness.errors import OptionError, SpeechError
from voiceharness.events import Word, Words
from voiceharness.scenario.run import SpeechEngines, run_scenario
from voiceharness.scenario.scenario import Scenario
from voiceharness.scenario.steps import Hangup, Hear
from voiceharness.speech import make_transcriber

if TYPE_CHECKING:
    from voiceharness.audio.chunk import AudioChunk
    from voiceharness.scenario.result import CallResult
    from voiceharness.speech import Transcriber
    from voiceharness.speech.transcription import Transcript

GREETING = read_wav(Path(__file__).parents[2] / "fixtures_audio" / "agent_greeting.wav")
WORDS = ["thank you for calling lakeside dental", "how can i help you today"]


@pytest.fixture(scope="module")
def transcriber() -> Transcriber:
    return make_transcriber()


def call(transcriber: Transcriber | None, hear: Hear, *more: Cue, named: str | None = None) -> CallResult:
    """A call of an agent that greets; ``named`` is the transcriber of the scenario."""
    agent = ScriptedPhoneAgent([(0.5, GREETING), *more])
    scenario = Scenario("s", [hear, Hangup()], transcriber=named)
    return run_scenario(scenario, lambda: WithoutWords(agent), speech=SpeechEngines(transcriber=transcriber))


def understood(result: CallResult) -> list[str]:
    kept = "".join
    return [kept(char for char in turn.text.casefold() if char.isalpha() or char == " ") for turn in result.understood]


def test_turns_that_were_transcribed_to_be_judged_are_kept_in_these_words(transcriber: Transcriber) -> None:
    result = call(transcriber, Hear("how can I help you", tail_silence=1.0))
    assert result.metrics is not None
    assert understood(result) == WORDS
    assert [(turn.onset, turn.offset) for turn in result.understood] == [
        (turn.onset, turn.offset) for turn in result.metrics.agent_turns
    ]


def test_a_call_that_needs_no_words_is_not_transcribed(transcriber: Transcriber) -> None:
    result = call(transcriber, Hear(tail_silence=1.0))
    assert result.understood == ()
    assert "transcriber" not in result.facts


def test_a_transcriber_that_the_scenario_names_is_asked_though_no_step_needs_words(transcriber: Transcriber) -> None:
    result = call(transcriber, Hear(tail_silence=1.0), named="moonshine")
    assert result.outcome == "passed"
    assert understood(result) == WORDS
    assert "moonshine" in str(result.facts["transcriber"])


def test_an_agent_that_sends_words_is_not_transcribed(transcriber: Transcriber) -> None:
    words = Words(None, (Word("moo", 0.1, 0.5),))
    assert call(transcriber, Hear(tail_silence=1.0), (0.5, words), named="moonshine").understood == ()


def test_a_transcriber_that_nobody_knows_is_refused_before_the_call() -> None:
    result = call(None, Hear(), named="nobody")
    assert result.outcome == "bad_scenario"
    assert isinstance(result.error, OptionError)
    assert result.record is None


class Failing:
    """Fails at each use."""

    name, version = "failing", "failing 1"

    def transcribe(self, audio: AudioChunk) -> Transcript:
        raise SpeechError(f"out of order after {len(audio) // 8000} s")


def test_words_that_are_only_shown_fail_no_call() -> None:
    result = call(Failing(), Hear(tail_silence=1.0), named="failing")
    assert result.outcome == "passed"
    assert result.understood == ()
    assert str(result.facts["transcriber_error"]).startswith("out of order")
