"""The demo's agent on real calls: it books appointments, and each planted fault is found by what was heard."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from voiceharness import (
    Check,
    Ended,
    Hangup,
    Hear,
    Interrupt,
    NoFault,
    Press,
    ResponseLatency,
    Say,
    Scenario,
    Silence,
    SpeechEngines,
    StopLatency,
    run_scenario,
    seconds,
)
from voiceharness.demo.agent import AppointmentLine
from voiceharness.errors import OptionError
from voiceharness.registry import load_agent
from voiceharness.speech.cache import SpeechCache
from voiceharness.speech.engines import make_synthesizer, make_transcriber
from voiceharness_adapters.in_process import InProcess

if TYPE_CHECKING:
    from voiceharness.scenario.result import CallResult
    from voiceharness.speech.synthesis import Synthesizer
    from voiceharness.speech.transcription import Transcriber

__all__: list[str] = []

pytest.importorskip("hibari", reason="not installed: hibari-tts")
pytest.importorskip("moonshine_voice", reason="not installed: moonshine-voice")

BOOK = "I would like to book an appointment."
TUESDAY = "On Tuesday, please."


@dataclass(frozen=True, slots=True)
class Engines:
    """The embedded engines, loaded once."""

    synthesizer: Synthesizer
    transcriber: Transcriber


@pytest.fixture(scope="module")
def engines() -> Engines:
    return Engines(make_synthesizer(cache=SpeechCache()), make_transcriber())


def call(engines: Engines, *steps: Any, faults: tuple[Any, ...] = ()) -> CallResult:
    """Call a line with some faults, in virtual time."""
    line = AppointmentLine(*faults, synthesizer=engines.synthesizer, transcriber=engines.transcriber)
    speech = SpeechEngines(engines.synthesizer, engines.transcriber)
    scenario = Scenario(name="demo", steps=steps, max_duration=120)
    return run_scenario(scenario, lambda: InProcess(line), speech=speech)


def booking(*beginning: Any, method: Any = "auto") -> list[Any]:
    """The rest of a booking, after its beginning."""
    return [
        *beginning,
        Hear("which day would you like"),
        Say(TUESDAY),
        Hear("Tuesday very good"),
        Press("1234", method=method),
        Hear("booked for Tuesday member number 1 2 3 4"),
        Check(ResponseLatency(at_most=1.5)),
        Check(Ended(by="agent")),
        Check(NoFault()),
    ]


def kinds(result: CallResult) -> set[str]:
    return {check.kind for check in result.failures} | {finding.kind for finding in result.findings}


@pytest.mark.parametrize("method", ["event", "inband"])
def test_a_healthy_line_books_an_appointment_with_keys_of_either_kind(engines: Engines, method: str) -> None:
    result = call(engines, *booking(Hear("How can I help"), Say(BOOK), method=method))
    assert result.outcome == "passed", result.explain()


def test_a_healthy_line_stops_when_it_is_interrupted(engines: Engines) -> None:
    beginning = Interrupt(BOOK, after=seconds(1.0))
    result = call(engines, *booking(beginning), Check(StopLatency(at_most=0.8)))
    assert result.outcome == "passed", result.explain()


def test_a_healthy_line_is_not_stopped_by_a_listeners_word(engines: Engines) -> None:
    beginning = (Interrupt("Mm-hmm.", after=seconds(1.0), intent="backchannel"), Hear("How can I help"), Say(BOOK))
    result = call(engines, *booking(*beginning))
    assert result.outcome == "passed", result.explain()


def test_a_short_word_over_its_voice_that_means_something_is_taken(engines: Engines) -> None:
    result = call(
        engines,
        *(Hear("How can I help"), Say(BOOK), Interrupt("Wait.", after=seconds(1.5))),
        *(Hear("Of course Which day"), Hangup()),
    )
    assert result.outcome == "passed", result.explain()


def test_it_asks_again_when_the_user_is_silent_and_hangs_up_in_the_end(engines: Engines) -> None:
    result = call(engines, Hear("How can I help"), Silence(60), Check(Ended(by="agent", within=50)))
    assert result.outcome == "passed", result.explain()


def test_a_line_that_talks_on_is_found(engines: Engines) -> None:
    beginning = Interrupt(BOOK, after=seconds(1.0))
    result = call(engines, *booking(beginning), Check(StopLatency(at_most=0.8)), faults=("talks_on",))
    assert {"stop_latency", "no_flush_on_barge_in"} <= kinds(result)


def test_a_slow_line_is_found(engines: Engines) -> None:
    result = call(engines, *booking(Hear("How can I help"), Say(BOOK)), faults=("slow",))
    assert {"response_latency", "dead_air"} <= kinds(result)


@pytest.mark.parametrize("method", ["event", "inband"])
def test_a_line_that_is_deaf_to_keys_is_found(engines: Engines, method: str) -> None:
    result = call(engines, *booking(Hear("How can I help"), Say(BOOK), method=method), faults=("deaf_to_digits",))
    assert "hear_text" in kinds(result)


def test_a_line_that_gives_way_to_a_listeners_word_is_found(engines: Engines) -> None:
    beginning = (Interrupt("Mm-hmm.", after=seconds(1.0), intent="backchannel"), Hear(), Say(BOOK))
    result = call(engines, *booking(*beginning), faults=("stops_for_mm_hmm",))
    assert "false_yield" in kinds(result)


def test_a_line_that_leaks_after_a_flush_is_found(engines: Engines) -> None:
    """Case A03."""
    result = call(engines, *booking(Interrupt(BOOK, after=seconds(0.7))), faults=("leaks_after_flush",))
    assert "audio_after_flush" in kinds(result)


def test_only_known_faults_can_be_planted() -> None:
    with pytest.raises(OptionError, match="no fault 'rude' can be planted; there are talks_on, slow"):
        AppointmentLine("rude")  # type: ignore[arg-type]  # what is tested


def test_it_can_be_named_on_a_command_line() -> None:
    assert isinstance(load_agent("voiceharness.demo.agent:AppointmentLine"), AppointmentLine)
