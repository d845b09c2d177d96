"""The steps of a scenario as values."""

from __future__ import annotations

import dataclasses
import pickle

import pytest

from voiceharness.audio.chunk import AudioChunk
from voiceharness.capabilities import Requirement
from voiceharness.errors import ScenarioError
from voiceharness.scenario.checks import Ended, Overlap, ResponseLatency, Transcript
from voiceharness.scenario.place import Place
from voiceharness.scenario.steps import (
    AnyStep,
    Check,
    Hangup,
    Hear,
    Interrupt,
    Line,
    Press,
    Say,
    Silence,
    Step,
    Wait,
)
from voiceharness.scenario.triggers import at_random, at_time, seconds, words

__all__: list[str] = []

AUDIO = AudioChunk(b"\0\0" * 160)

ONE_OF_EACH: list[AnyStep] = [
    Hear("Tuesday", within=3, tail_silence=1.0, max_duration=40.0),
    Say("I'd like to book", voice="heart", speed=1.2, gap=0.5),
    Interrupt("wait", after=seconds(0.8)),
    Press("12#", method="rfc4733", tone_ms=120, gap_ms=60),
    Wait(2),
    Silence(1.5),
    Line("transfer", "+15550100123"),
    Hangup(),
    Check(Ended(by="agent")),
]


def test_there_is_one_of_each_here() -> None:
    assert {type(step) for step in ONE_OF_EACH} == set(AnyStep.__args__)


@pytest.mark.parametrize("step", ONE_OF_EACH, ids=lambda step: step.kind)
def test_a_step_is_a_frozen_value(step: Step) -> None:
    copy = pickle.loads(pickle.dumps(step))
    assert copy == step
    assert hash(copy) == hash(step)
    with pytest.raises(dataclasses.FrozenInstanceError):
        step.place = None  # type: ignore[misc] # the point of the test


def test_the_place_of_a_step_is_no_part_of_equality() -> None:
    assert Say("hello", place=Place("a.yaml", 1, 1)) == Say("hello")


@pytest.mark.parametrize(
    ("step", "label"),
    [
        (Say("hello"), 'say "hello"'),
        (Say("x" * 50), f'say "{"x" * 39}…"'),
        (Say(audio=AUDIO), "say"),
        (Hear(), "hear"),
        (Hear(within=3), "hear within 3"),
        (Wait(2), "wait seconds 2"),
        (Check(ResponseLatency(at_most=1)), "check response_latency"),
        (Press("1"), 'press "1"'),
        (Hangup(), "hangup"),
    ],
)
def test_a_step_has_a_short_label(step: AnyStep, label: str) -> None:
    assert step.label == label


@pytest.mark.parametrize(
    ("step", "requirements"),
    [
        (Hear("words"), ()),
        (Say("hello"), ()),
        (Press("1"), (Requirement("dtmf"),)),
        (Press("1", method="rfc4733"), (Requirement("dtmf", "rfc4733"),)),
        (Press("1", method="inband"), (Requirement("dtmf", "inband"),)),
        (Interrupt("wait", after=words(3)), ()),
        (Interrupt("wait", after=words(3), via="speech"), ()),
        (Interrupt("wait", after=words(3), via="signal"), ()),
        (Interrupt("wait", after=words(3), via="both"), (Requirement("interruption"),)),
        (Interrupt(after=seconds(1), digits="1", method="info"), (Requirement("dtmf", "info"),)),
        (Line("hold"), (Requirement("call_control", "hold"),)),
        (Hangup(), ()),
        (Check(Ended(by="agent", within=5.0)), (Requirement("tells_the_end"),)),
        (Check(Ended(by="limit")), ()),
        (Check(Overlap(at_most=1.0)), ()),
    ],
)
def test_a_step_knows_what_it_needs_of_its_adapter(step: AnyStep, requirements: tuple[Requirement, ...]) -> None:
    assert step.requirements() == requirements


@pytest.mark.parametrize(
    ("step", "needed"),
    [
        (Hear(), False),
        (Hear("Tuesday"), True),
        (Hear(up_to=seconds(1)), False),
        (Hear(up_to=words(2)), True),
        (Interrupt("wait", after=seconds(1)), False),
        (Interrupt("wait", after=words(1)), True),
        (Check(Ended()), False),
        (Check(Transcript(lacks="sorry")), True),
        (Check(Transcript(contains="book", by="user")), False),
        (Wait(1), False),
    ],
)
def test_a_step_knows_whether_it_needs_the_agents_words(step: AnyStep, needed: bool) -> None:
    """Case B25."""
    assert step.needs_words is needed


@pytest.mark.parametrize(
    ("interrupt", "content"),
    [
        (Interrupt("wait", after=seconds(1), voice="heart", speed=1.5), Say("wait", voice="heart", speed=1.5)),
        (Interrupt(after=at_random(), file="cough.wav"), Say(file="cough.wav")),
        (Interrupt(after=at_time(2), audio=AUDIO), Say(audio=AUDIO)),
        (Interrupt(after=words(1), digits="0", method="info"), Press("0", method="info")),
    ],
)
def test_the_content_of_an_interruption_is_a_step_of_its_own(interrupt: Interrupt, content: Say | Press) -> None:
    assert interrupt.content == content


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Say(), "say takes exactly one of text, file, audio; none is given"),
        (lambda: Say("a", "b.wav"), "say takes exactly one of text, file, audio; text and file are given"),
        (lambda: Say(file="b.wav", voice="heart"), "say: voice and speed are for text"),
        (lambda: Say(file="b.wav", speed=2), "say: voice and speed are for text"),
        (lambda: Say(audio=b""), "say: audio takes AudioChunk, not b''"),  # type: ignore[arg-type] # the point
        (lambda: Say("a", speed=0), "say: speed takes a number above zero, not 0"),
        (lambda: Hear(absent=True), "hear: absent needs within: for how long the agent is to stay silent"),
        (
            lambda: Hear("x", absent=True, within=1),
            "hear: absent expects no speech at all; only within has a place beside it",
        ),
        (
            lambda: Hear(absent=True, within=1, up_to=seconds(1)),
            "hear: absent expects no speech at all; only within has a place beside it",
        ),
        (
            lambda: Hear(absent=True, within=1, tail_silence=2),
            "hear: absent expects no speech at all; only within has a place beside it",
        ),
        (
            lambda: Interrupt("x", after=at_time(1), within=2),
            "interrupt: within is for waiting for the agent; a time of the call waits for nobody",
        ),
        (
            lambda: Hear(up_to=at_time(1)),  # type: ignore[arg-type] # the point
            "hear: up_to takes AfterSeconds or AfterWords or AfterText, not AtTime(time=1)",
        ),
        (lambda: Hear("?!"), "hear: there is no word in '?!'"),
        (
            lambda: Hear(tail_silence=0),
            "hear: tail_silence takes seconds, a number above 0, not 0",
        ),
        (
            lambda: Press("12x"),
            "press: digits takes keypad digits as text, such as \"12#\", not '12x'",
        ),
        (lambda: Press("1", "morse"), "press: method takes auto or event or rfc4733 or info or inband, not 'morse'"),  # type: ignore[arg-type] # the point
        (
            lambda: Press("1", tone_ms=0),
            "press: tone_ms takes milliseconds, a whole number above 0, not 0",
        ),
        (
            lambda: Interrupt(after=seconds(1)),
            "interrupt takes exactly one of text, file, audio, digits; none is given",
        ),
        (
            lambda: Interrupt("a", after=1),  # type: ignore[arg-type] # the point
            "interrupt: after takes AfterSeconds or AfterWords or AfterText or AtRandom or AtTime, not 1",
        ),
        (
            lambda: Interrupt(after=seconds(1), digits="1", via="both"),
            "interrupt: digits interrupt by themselves; leave via out, or say something",
        ),
        (lambda: Interrupt("a", after=seconds(1), method="info"), "interrupt: method is for digits"),
        (lambda: Interrupt(after=seconds(1), digits="1", voice="heart"), "interrupt: voice and speed are for text"),
        (lambda: Line("transfer"), "line: transfer, and only transfer, takes a target"),
        (lambda: Line("hold", "+15550100123"), "line: transfer, and only transfer, takes a target"),
        (lambda: Line("park"), "line: action takes hold or resume or transfer or reject or cancel, not 'park'"),  # type: ignore[arg-type] # the point
    ],
)
def test_a_step_that_cannot_be_is_refused(make: object, message: str) -> None:
    assert callable(make)
    with pytest.raises(ScenarioError) as caught:
        make()
    assert str(caught.value) == message
