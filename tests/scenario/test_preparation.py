"""What the user says, made before dialling."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import numpy as np
import pytest

from tests.scenario.playing import play
from voiceharness.audio.wav import write_wav
from voiceharness.doubles import SilentAgent
from voiceharness.errors import AudioError, OptionError, ScenarioError
from voiceharness.scenario.place import Place
from voiceharness.scenario.preparation import prepare
from voiceharness.scenario.scenario import Scenario
from voiceharness.scenario.steps import Hangup, Interrupt, Say
from voiceharness.scenario.triggers import AfterSeconds

if TYPE_CHECKING:
    from pathlib import Path

    from voiceharness.scenario.steps import AnyStep

__all__: list[str] = []

HERE = Place("calls.yaml", 3, 5)


def no_engine() -> NoReturn:
    raise OptionError("there is no synthesizer named 'loud'")


def test_only_steps_that_speak_have_a_clip(tmp_path: Path) -> None:
    write_wav(tmp_path / "hello.wav", np.ones(16000, np.int16), 16000)
    spoken: list[AnyStep] = [
        Say(file=str(tmp_path / "hello.wav")),
        Interrupt(digits="1", after=AfterSeconds(1)),
        Hangup(),
    ]
    clips = prepare(Scenario("hello", spoken), no_engine)
    assert {index: len(clip.samples) for index, clip in clips.items()} == {0: 8000}


@pytest.mark.parametrize(
    "make",
    [
        lambda file: Say(file=file, place=HERE),
        lambda file: Interrupt(file=file, after=AfterSeconds(1), place=HERE),
    ],
    ids=["say", "interrupt"],
)
def test_a_sound_file_that_cannot_be_used_is_an_error_of_the_scenario_at_the_step(make: object, tmp_path: Path) -> None:
    (tmp_path / "hello.wav").write_bytes(b"RIFF, perhaps")
    assert callable(make)
    step: AnyStep = make(str(tmp_path / "hello.wav"))
    with pytest.raises(ScenarioError, match=r"^calls.yaml:3:5: .*hello.wav: not a WAV file") as caught:
        prepare(Scenario("hello", [step]), no_engine)
    assert isinstance(caught.value.__cause__, AudioError)


def test_a_text_that_cannot_be_spoken_is_an_error_at_the_step() -> None:
    with pytest.raises(ScenarioError, match=r"^calls.yaml:3:5: there is no synthesizer named 'loud'"):
        prepare(Scenario("hello", [Say("hello", place=HERE)]), no_engine)
    with pytest.raises(ScenarioError, match=r"^there is no synthesizer named 'loud'"):
        prepare(Scenario("hello", [Say("hello")]), no_engine)


def test_a_call_with_such_a_file_is_the_scenarios_fault_and_not_the_harness(tmp_path: Path) -> None:
    (tmp_path / "empty.wav").touch()
    result = play(SilentAgent(), Say(file=str(tmp_path / "empty.wav")))
    assert (result.outcome, result.exit_code) == ("bad_scenario", 2)
    assert "not a WAV file" in result.explain()
