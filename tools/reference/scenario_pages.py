"""What a scenario can say: its fields, steps, triggers, checks and lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, get_args

from tools.reference.markup import fenced, page, prose, table
from tools.reference.values import examples_of, field_table, python_of
from voiceharness import (
    Answered,
    Check,
    Dtmf,
    Ended,
    Hangup,
    Hear,
    Interrupt,
    Line,
    LineProfile,
    LongestSilence,
    NoFault,
    Overlap,
    Press,
    ResponseLatency,
    Say,
    Scenario,
    Silence,
    StopLatency,
    Tone,
    Transcript,
    Wait,
    at_random,
    at_time,
    said,
    seconds,
    words,
)
from voiceharness.impairment.path import PROFILES
from voiceharness.scenario import checks, steps, triggers, yaml_file, yaml_values
from voiceharness.scenario.checks import Expectation
from voiceharness.scenario.steps import AnyStep

if TYPE_CHECKING:
    from voiceharness.impairment.path import OneWay
    from voiceharness.scenario.triggers import Trigger

__all__ = ["checks_page", "line_profiles_page", "scenarios_page", "steps_page", "triggers_page"]

LINE_LENGTH: Final = 120  # as the formatter has it, which also formats the code in pages
STEPS: Final[tuple[AnyStep, ...]] = (
    Hear("Tuesday", within=3.0),
    Hear(within=2.0, absent=True),
    Hear(up_to=words(3)),
    Say("I would like to book an appointment.", gap=0.3),
    Interrupt("Sorry, only on Saturday.", after=seconds(1.5)),
    Interrupt("Mm-hmm.", after=at_random(0.5, 3.0), intent="backchannel"),
    Interrupt(digits="0", after=words(4)),
    Press("4821#", tone_ms=120, gap_ms=80),
    Wait(1.5),
    Silence(5.0),
    Line("hold"),
    Line("transfer", "sip:desk@example.com"),
    Hangup(),
    Check(Ended("agent", within=60.0)),
)
CHECKS: Final[tuple[Expectation, ...]] = (
    ResponseLatency(at_most=2.0, p95=1.5),
    StopLatency(at_most=0.5),
    Overlap(0.8),
    LongestSilence(4.0),
    Dtmf("4821", by="user"),
    Transcript(contains="Tuesday", lacks="Wednesday"),
    Transcript(matches="booked for (Monday|Tuesday)"),
    Tone(440.0, 1.0),
    Answered(within=5.0),
    Ended("agent", within=60.0),
    NoFault(("dead_air", "false_yield")),
)
TRIGGERS: Final[tuple[Trigger, ...]] = (seconds(1.5), words(4), said("which day"), at_random(0.5, 3.0), at_time(12.0))
LINES: Final = (LineProfile(profile="mobile"), LineProfile(0.15, "bad_wifi", noise=15.0, noise_kind="babble"))


def scenarios_page() -> str:
    """Tell of the fields of a scenario, and of its file."""
    return page(
        "Scenarios",
        prose(Scenario.__doc__),
        field_table(Scenario),
        "## In a file",
        prose(yaml_file.__doc__),
        prose(yaml_values.__doc__),
    )


def steps_page() -> str:
    """Tell of the steps."""
    parts = [prose(steps.__doc__), _imports("Check", "Ended", *_names(AnyStep), "at_random", "seconds", "words")]
    for cls in get_args(AnyStep):
        examples = [step for step in STEPS if type(step) is cls]
        scenario = Scenario("example", examples)
        parts += [f"## `{cls.kind}`", prose(cls.__doc__), field_table(cls), *examples_of(examples, scenario, "steps")]
    return page("Steps", *parts)


def triggers_page() -> str:
    """Tell of the triggers."""
    parts = [prose(triggers.__doc__), _imports("Interrupt", "at_random", "at_time", "said", "seconds", "words")]
    for example in TRIGGERS:
        step, cls = Interrupt("Wait, please.", after=example), type(example)
        shown = examples_of([step], Scenario("example", [step]), "steps")
        parts += [f"## `{cls.kind}`", prose(cls.__doc__), field_table(cls), *shown]
    return page("Triggers", *parts)


def checks_page() -> str:
    """Tell of the checks."""
    parts = [prose(checks.__doc__), _imports("Check", *_names(Expectation))]
    for cls in get_args(Expectation):
        examples = [Check(example) for example in CHECKS if type(example) is cls]
        shown = examples_of(examples, Scenario("example", examples), "steps")
        parts += [f"## `{cls.kind}`", prose(cls.__doc__), field_table(cls), *shown]
    return page("Checks", *parts)


def line_profiles_page() -> str:
    """Tell of bad lines."""
    rows = [
        (f"`{name}`", f"{line.delay * 1000:g} ms", _way(line.to_agent), _way(line.to_user))
        for name, line in PROFILES.items()
    ]
    named = table(("profile", "delay each way", "to the agent", "to the user"), rows)
    parts = [prose(LineProfile.__doc__), field_table(LineProfile), "## Named lines", named, "## Examples"]
    parts += [_imports("LineProfile")]
    for example in LINES:
        parts += examples_of([example], Scenario("example", [Hear()], line=example), "line")
    return page("Line profiles", *parts)


def _way(way: OneWay) -> str:
    return ", ".join(f"`{python_of(each)}`" for each in (*way.sound, *way.packets)) or "nothing"


def _names(union: Any) -> list[str]:  # Any: a union of classes, as a type expression
    return [cls.__name__ for cls in get_args(union)]


def _imports(*names: str) -> str:
    each = sorted(set(names), key=lambda name: (name.islower(), name))
    line = f"from voiceharness import {', '.join(each)}"
    wrapped = "\n".join(["from voiceharness import (", *(f"    {name}," for name in each), ")"])
    return fenced("python", line if len(line) <= LINE_LENGTH else wrapped)
