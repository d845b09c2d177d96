"""Scenarios written as YAML and read again."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voiceharness.audio.chunk import AudioChunk
from voiceharness.errors import ScenarioError
from voiceharness.measure.finding import FINDING_KINDS
from voiceharness.scenario.checks import (
    Answered,
    Dtmf,
    Ended,
    Expectation,
    LongestSilence,
    NoFault,
    Overlap,
    ResponseLatency,
    StopLatency,
    Tone,
    Transcript,
)
from voiceharness.scenario.scenario import LineProfile, Scenario
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
    Via,
    Wait,
)
from voiceharness.scenario.triggers import AfterSeconds, AfterText, AfterWords, AtRandom, AtTime, Trigger, seconds
from voiceharness.scenario.yaml_dump import dump_scenario, dump_scenarios
from voiceharness.scenario.yaml_file import load_scenario, parse_scenarios

if TYPE_CHECKING:
    from pathlib import Path

__all__: list[str] = []

text = st.text(min_size=1).map(lambda words: f"so {words}")
amounts = st.floats(min_value=0.001, max_value=1e6, allow_nan=False)
maybe = st.one_of(st.none(), amounts)
digits = st.text("0123456789*#ABCD", min_size=1)
waiting_triggers: st.SearchStrategy[Trigger] = st.one_of(
    st.builds(AfterSeconds, amounts),
    st.builds(AfterWords, st.integers(1, 99)),
    st.builds(AfterText, text),
    st.builds(AtRandom, st.floats(0, 1), st.floats(1, 9), st.floats(0, 1)),
)
triggers: st.SearchStrategy[Trigger] = st.one_of(waiting_triggers, st.builds(AtTime, amounts))
expectations: st.SearchStrategy[Expectation] = st.one_of(
    st.builds(ResponseLatency, amounts, maybe, maybe),
    st.builds(StopLatency, maybe, amounts),
    st.builds(Overlap, amounts),
    st.builds(LongestSilence, amounts),
    st.builds(Dtmf, digits, st.sampled_from(["user", "agent"])),
    st.builds(Transcript, text, st.one_of(st.none(), text), st.just("^so")),
    st.builds(
        Tone, st.floats(40, 3999), st.one_of(st.none(), st.floats(0.1, 1e6)), amounts, duration_tolerance=amounts
    ),
    st.builds(Answered, maybe, st.one_of(st.none(), st.integers(0, 999))),
    st.builds(Ended, st.sampled_from([None, "agent", "user", "limit"]), maybe, st.one_of(st.none(), text)),
    st.builds(NoFault, st.lists(st.sampled_from(FINDING_KINDS))),
)
steps: st.SearchStrategy[AnyStep] = st.one_of(
    st.builds(Hear, st.one_of(st.none(), text), maybe, up_to=st.one_of(st.none(), st.builds(AfterWords, st.just(2)))),
    st.builds(Hear, within=amounts, absent=st.just(True)),
    st.builds(Say, text, voice=st.one_of(st.none(), text), speed=amounts, gap=amounts),
    st.builds(Interrupt, text, after=waiting_triggers, via=st.sampled_from(get_args(Via)), within=maybe),
    st.builds(Interrupt, text, after=triggers),
    st.builds(Interrupt, after=triggers, digits=digits),
    st.builds(Press, digits, st.sampled_from(["auto", "inband"]), st.integers(1, 999), st.integers(1, 999)),
    st.builds(Wait, amounts),
    st.builds(Silence, amounts),
    st.sampled_from([Line("hold"), Line("transfer", "+15550100123")]),
    st.builds(Check, expectations),
)
options = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(), inner, max_size=3)),
    max_leaves=5,
)
scenarios = st.builds(
    Scenario,
    text,
    st.lists(steps, min_size=1, max_size=4),
    description=st.one_of(st.none(), text),
    tags=st.lists(text, max_size=3),
    max_duration=amounts,
    seed=st.integers(0, 10**17),
    line=st.builds(LineProfile, amounts),
    limits=st.lists(expectations, unique_by=lambda each: each.kind),
    options=st.dictionaries(st.text(), options, max_size=3),
)


@settings(deadline=None)
@given(scenarios)
def test_what_is_written_is_read_back_equal(scenario: Scenario) -> None:
    """Case B47."""
    assert parse_scenarios(dump_scenario(scenario)) == (scenario,)


def test_the_written_form_is_short_and_readable() -> None:
    scenario = Scenario(
        "book",
        [
            Hear(within=3),
            Hear(),
            Say("I'd like to book"),
            Say("Hello", gap=0.5),
            Interrupt("wait", after=seconds(0.8)),
            Press("012"),
            Check(Answered()),
            Hangup(),
            Check(Ended("user")),
        ],
        tags=["smoke"],
        limits=[ResponseLatency(1.5), NoFault(["backlog"])],
        options={"url": "ws://localhost", "retries": 2},
    )
    assert dump_scenario(scenario) == (
        'name: "book"\n'
        "steps:\n"
        "- hear:\n"
        "    within: 3s\n"
        "- hear\n"
        '- say: "I\'d like to book"\n'
        "- say:\n"
        '    text: "Hello"\n'
        "    gap: 0.5s\n"
        "- interrupt:\n"
        '    text: "wait"\n'
        "    after: 0.8s\n"
        '- press: "012"\n'
        "- check: answered\n"
        "- hangup\n"
        "- check:\n"
        "    ended: user\n"
        "tags:\n"
        '- "smoke"\n'
        "limits:\n"
        "  response_latency: 1.5s\n"
        "  no_fault:\n"
        "  - backlog\n"
        "options:\n"
        '  "url": "ws://localhost"\n'
        '  "retries": 2\n'
    )


def test_several_scenarios_are_written_as_a_list() -> None:
    both = (Scenario("a", [Hear()]), Scenario("b", [Hangup()]))
    assert parse_scenarios(dump_scenarios(both)) == both


def test_sound_files_stay_beside_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "hello.wav").write_bytes(b"")
    scenario = Scenario("a", [Say(file=str(tmp_path / "hello.wav"))])
    written = dump_scenario(scenario, folder=str(tmp_path))
    assert '    file: "hello.wav"\n' in written
    (tmp_path / "call.yaml").write_text(written, encoding="utf-8")
    assert load_scenario(tmp_path / "call.yaml") == scenario


@pytest.mark.parametrize(
    ("scenario", "message"),
    [
        (Scenario("a", [Say(audio=AudioChunk(b"\0\0"))]), "a step with audio has no YAML form"),
        (Scenario("a", [Hear()], options={"agent": object}), "<class 'object'> has no YAML form"),
        (Scenario("a", [Hear()], options={"x": float("nan")}), "nan has no YAML form"),
    ],
)
def test_what_has_no_yaml_form_is_refused(scenario: Scenario, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        dump_scenario(scenario)
