"""Fingerprints of scenarios and of audio."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from voiceharness.audio.chunk import AudioChunk
from voiceharness.scenario.checks import ResponseLatency
from voiceharness.scenario.identity import audio_fingerprint, scenario_fingerprint
from voiceharness.scenario.place import Place
from voiceharness.scenario.preparation import Clip
from voiceharness.scenario.scenario import Scenario
from voiceharness.scenario.steps import Hear, Interrupt, Say
from voiceharness.scenario.triggers import AfterSeconds

__all__: list[str] = []

SCENARIO = Scenario(name="ask", steps=[Say("hello"), Hear(within=2.0)], limits=[ResponseLatency(at_most=1.0)])


@pytest.mark.parametrize(
    "other",
    [
        replace(SCENARIO, steps=[Say("hallo"), Hear(within=2.0)]),
        replace(SCENARIO, steps=[Say("hello"), Hear(within=3.0)]),
        replace(SCENARIO, limits=[ResponseLatency(at_most=2.0)]),
        replace(SCENARIO, rate=16000),
        replace(SCENARIO, voice="heart"),
        replace(SCENARIO, max_duration=30.0),
    ],
)
def test_another_scenario_has_another_fingerprint(other: Scenario) -> None:
    assert scenario_fingerprint(other) != scenario_fingerprint(SCENARIO)


@pytest.mark.parametrize(
    "same",
    [
        replace(SCENARIO, name="ask again", description="for the second time", tags=["slow"]),
        replace(SCENARIO, seed=7),
        replace(SCENARIO, adapter="sip", options={"target": "sip:agent@127.0.0.1"}),
        replace(SCENARIO, steps=[Say("hello", place=Place("a.yaml", 3, 1)), Hear(within=2.0)]),
    ],
)
def test_what_is_not_played_does_not_matter(same: Scenario) -> None:
    assert scenario_fingerprint(same) == scenario_fingerprint(SCENARIO)


def test_a_sound_file_counts_by_its_name_wherever_it_is() -> None:
    here, there, other = (
        Scenario(name="f", steps=[Say(file=path), Interrupt(file=path, after=AfterSeconds(1.0))])
        for path in ("/here/hello.wav", "there/hello.wav", "/here/stop.wav")
    )
    assert scenario_fingerprint(here) == scenario_fingerprint(there) != scenario_fingerprint(other)


def test_audio_in_a_step_counts_as_its_samples_do_elsewhere() -> None:
    quiet, loud = (
        Scenario(name="a", steps=[Say(audio=AudioChunk.from_samples(np.full(800, level, np.int16)))])
        for level in (5, 500)
    )
    assert scenario_fingerprint(quiet) == scenario_fingerprint(loud)


def test_every_sample_and_its_step_count() -> None:
    one, other = Clip(np.array([1, 2], np.int16), "one"), Clip(np.array([1, 3], np.int16), "one")
    prints = [audio_fingerprint(clips) for clips in ({0: one}, {0: other}, {1: one}, {0: one, 1: other}, {})]
    assert len(set(prints)) == 5


def test_the_order_of_steps_decides_not_that_of_preparation() -> None:
    one, two = Clip(np.array([1], np.int16), ""), Clip(np.array([2], np.int16), "")
    assert audio_fingerprint({1: two, 0: one}) == audio_fingerprint({0: one, 1: two})
