"""What can be done before dialling: the user's audio is made, so no call waits for a speech engine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from voiceharness.audio.resample import resample
from voiceharness.errors import AudioError, OptionError, ScenarioError
from voiceharness.scenario.steps import Interrupt, Say
from voiceharness.speech.files import load_audio

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from voiceharness.scenario.scenario import Scenario
    from voiceharness.speech.synthesis import Synthesizer

__all__ = ["Clip", "prepare"]

_NO_SOUNDS: Final[Mapping[str, bytes]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, eq=False)
class Clip:
    """What the user says in one step: int16 samples at the line rate, and the text of them where it is known."""

    samples: NDArray[np.int16]
    text: str


def prepare(
    scenario: Scenario, synthesizer: Callable[[], Synthesizer], sounds: Mapping[str, bytes] = _NO_SOUNDS
) -> Mapping[int, Clip]:
    """Make the audio of every step that speaks, by the step's index. ``synthesizer`` is called if any says a text.

    ``sounds``: the content of sound files by the names that steps have for them; all others are read from the disk.

    Raises:
        MissingExtraError: if a text is to be said and no engine is installed.
        ScenarioError: if a file cannot be used, or a text cannot be spoken; with the step's place in its file.
        SpeechError: if the engine failed.
    """
    clips: dict[int, Clip] = {}
    for index, step in enumerate(scenario.steps):
        match step:
            case Say():
                clips[index] = _placed_clip(step, scenario, synthesizer, sounds)
            case Interrupt(digits=None):
                content = step.content
                assert isinstance(content, Say)  # without digits it says something
                clips[index] = _placed_clip(content, scenario, synthesizer, sounds)
    return clips


def _placed_clip(
    step: Say, scenario: Scenario, synthesizer: Callable[[], Synthesizer], sounds: Mapping[str, bytes]
) -> Clip:
    """Make a clip; what the scenario asks for and cannot have is an error of the scenario, at the step."""
    try:
        return _clip(step, scenario, synthesizer, sounds)
    except (AudioError, OptionError, ScenarioError) as error:
        raise (step.place.error(str(error)) if step.place else ScenarioError(str(error))) from error


def _clip(step: Say, scenario: Scenario, synthesizer: Callable[[], Synthesizer], sounds: Mapping[str, bytes]) -> Clip:
    if step.text is not None:
        speech = synthesizer().synthesize(step.text, voice=step.voice or scenario.voice, speed=step.speed)
        return Clip(speech.audio.samples, step.text)
    if step.file is not None:
        audio = load_audio(Path(step.file), scenario.rate, content=sounds.get(step.file))
        return Clip(audio.samples, "")
    assert step.audio is not None  # exactly one of the three is given
    audio = step.audio
    return Clip(
        audio.samples if audio.rate == scenario.rate else resample(audio.samples, audio.rate, scenario.rate), ""
    )
