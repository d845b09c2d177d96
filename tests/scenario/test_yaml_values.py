"""Scenario values out of YAML: every form, and the exact place of every error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from voiceharness.errors import ScenarioError
from voiceharness.scenario.checks import (
    Answered,
    Dtmf,
    Ended,
    LongestSilence,
    NoFault,
    Overlap,
    ResponseLatency,
    StopLatency,
    Tone,
    Transcript,
)
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
    Wait,
)
from voiceharness.scenario.triggers import AfterSeconds, AfterText, AfterWords, AtRandom, AtTime
from voiceharness.scenario.yaml_nodes import parse_yaml
from voiceharness.scenario.yaml_values import ValueReader, by_kind

if TYPE_CHECKING:
    from pathlib import Path

__all__: list[str] = []


def steps(text: str, folder: str = ".") -> tuple[AnyStep, ...]:
    return ValueReader(folder).step_list(parse_yaml(text.encode(), "a.yaml"))


def error_of(text: str) -> str:
    with pytest.raises(ScenarioError) as caught:
        steps(text)
    return str(caught.value)


def test_every_step_expectation_and_trigger_has_its_name() -> None:
    assert set(by_kind(AnyStep)) == {
        "hear",
        "say",
        "interrupt",
        "press",
        "wait",
        "silence",
        "line",
        "hangup",
        "check",
    }


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("hear", Hear()),
        ("hear:", Hear()),
        ("hear: {}", Hear()),
        ("hear: Tuesday at ten", Hear("Tuesday at ten")),
        ('hear: "3s"', Hear("3s")),
        (
            "hear: {within: 3s, tail_silence: 500ms, max_duration: 2min}",
            Hear(None, 3.0, tail_silence=0.5, max_duration=120),
        ),
        ("hear: {within: 3, absent: true}", Hear(within=3.0, absent=True)),
        ("hear: {up_to: 2s}", Hear(up_to=AfterSeconds(2.0))),
        ("hear: {up_to: 3 words}", Hear(up_to=AfterWords(3))),
        ("hear: {up_to: {words: 3}}", Hear(up_to=AfterWords(3))),
        ("hear: {up_to: {said: which day}}", Hear(up_to=AfterText("which day"))),
        ("say: Hello, it's me", Say("Hello, it's me")),
        ("say: no", Say("no")),
        ("say: 42", Say("42")),
        ("say: {text: Hello, voice: heart, speed: 1.2, gap: 500ms}", Say("Hello", voice="heart", speed=1.2, gap=0.5)),
        ("say: Hello\n  gap: 500ms", Say("Hello", gap=0.5)),
        ("say:\n    text: >\n      Hello\n      there\n", Say("Hello there\n")),
        ("interrupt: wait\n  after: 800ms", Interrupt("wait", after=AfterSeconds(0.8))),
        ("interrupt: wait\n  after: 1", Interrupt("wait", after=AfterSeconds(1.0))),
        ("interrupt: {text: wait, after: 4 words, via: both}", Interrupt("wait", after=AfterWords(4), via="both")),
        ("interrupt: {text: wait, after: {said: how many}}", Interrupt("wait", after=AfterText("how many"))),
        ("interrupt: {text: wait, after: random}", Interrupt("wait", after=AtRandom())),
        ("interrupt: {text: wait, after: {random: {latest: 3s}}}", Interrupt("wait", after=AtRandom(latest=3.0))),
        (
            "interrupt: {text: a, after: {random: {probability: 0.3, earliest: 1s}}}",
            Interrupt("a", after=AtRandom(1.0, probability=0.3)),
        ),
        ("interrupt: {text: wait, after: {time: 1900ms}}", Interrupt("wait", after=AtTime(1.9))),
        ("interrupt: {text: wait, after: {seconds: 1s}}", Interrupt("wait", after=AfterSeconds(1.0))),
        (
            'interrupt: {digits: "0", after: 1s, method: info}',
            Interrupt(after=AfterSeconds(1), digits="0", method="info"),
        ),
        ('press: "012"', Press("012")),
        ("press: '*#'", Press("*#")),
        ('press: {digits: "1", method: rfc4733, tone_ms: 120, gap_ms: 80ms}', Press("1", "rfc4733", 120, 80)),
        ("wait: 2s", Wait(2.0)),
        ("silence: 1.5s", Silence(1.5)),
        ("line: hold", Line("hold")),
        ('line: {action: transfer, target: "+15550100123"}', Line("transfer", "+15550100123")),
        ("hangup", Hangup()),
        ("check: answered", Check(Answered())),
        ("check: {answered: {within: 5s, code: 200}}", Check(Answered(5.0, 200))),
        ("check: {ended: agent}", Check(Ended("agent"))),
        ("check:\n  ended: agent", Check(Ended("agent"))),
        ("check: {ended: {by: limit, within: 30s, cause: 486}}", Check(Ended("limit", 30.0, "486"))),
        ("check: {response_latency: 1.5s}", Check(ResponseLatency(1.5))),
        ("check: {stop_latency: {at_most: 500ms, p95: 1s}}", Check(StopLatency(0.5, p95=1.0))),
        ("check: {overlap: 1s}", Check(Overlap(1.0))),
        ("check: {silence: 4s}", Check(LongestSilence(4.0))),
        ('check: {dtmf: "12#"}', Check(Dtmf("12#"))),
        ("check: {transcript: Tuesday}", Check(Transcript("Tuesday"))),
        ("check: {transcript: {lacks: sorry, by: user}}", Check(Transcript(lacks="sorry", by="user"))),
        ("check: {tone: 440Hz}", Check(Tone(440.0))),
        ("check: {tone: {hz: 1.2kHz, duration: 500ms, hz_tolerance: 2}}", Check(Tone(1200.0, 0.5, 2.0))),
        ("check: no_fault", Check(NoFault())),
        ("check: {no_fault: [backlog, dead_air]}", Check(NoFault(("backlog", "dead_air")))),
    ],
)
def test_a_step_is_read(text: str, step: AnyStep) -> None:
    assert steps(f"- {text}\n") == (step,)


def test_a_step_knows_where_it_stands() -> None:
    first, second, third = steps("- hear\n-  say: x\n- check:\n    answered:\n")
    assert [first.place, second.place, third.place] == [
        Place("a.yaml", 1, 3),
        Place("a.yaml", 2, 4),
        Place("a.yaml", 3, 3),
    ]


def test_a_check_of_several_expectations_is_several_steps() -> None:
    assert steps("- check: {answered: , ended: user}\n") == (Check(Answered()), Check(Ended("user")))


def test_a_file_is_found_beside_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "hello.wav").write_bytes(b"")
    expected = str(tmp_path / "hello.wav")
    assert steps("- say: {file: ./hello.wav}\n", str(tmp_path)) == (Say(file=expected),)
    assert steps(f"- say: {{file: {expected}}}\n", "elsewhere") == (Say(file=expected),)


def test_a_missing_file_is_pointed_to(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError) as caught:
        steps("- say: {file: nothing.wav}\n", str(tmp_path))
    assert str(caught.value) == f"a.yaml:1:15: there is no file '{tmp_path / 'nothing.wav'}'"


STEPS = "hear, say, interrupt, press, wait, silence, line, hangup, check"
CHECKS = "response_latency, stop_latency, overlap, silence, dtmf, transcript, tone, answered, ended, no_fault"
TONE_FIELDS = "1:27: tone has no 'length'; there are hz, duration, hz_tolerance, duration_tolerance"
SECONDS = "a duration such as 800ms or 1.2s"
DIGITS = 'keypad digits (0-9, *, #, A-D) in quotes, such as "12#"'
TRIGGER = "800ms (of heard agent speech), 4 words or {said: which day}, or random, or {time: 12s} of the call"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        # steps
        ("say: x", "1:1: steps takes a list, not a mapping"),
        ("- sya: x", "1:3: there is no step 'sya'; did you mean 'say'?"),
        ("- greet: x", f"1:3: there is no step 'greet'; there are {STEPS}"),
        ("- hangpu", "1:3: there is no step 'hangpu'; did you mean 'hangup'?"),
        ("- hear\n- [say]", "2:3: a step is a name, or a name with its fields, not a list"),
        ("- hear\n-", "2:2: a step is a name, or a name with its fields, not nothing"),
        ("- {}", "1:3: a step is a name, or a name with its fields, not a mapping"),
        ("- hangup: now", "1:11: hangup takes nothing, not 'now'"),
        # fields
        ("- hear: {witin: 3s}", "1:10: hear has no 'witin'; did you mean 'within'?"),
        ("- press: {digits: '1', tone: 5}", "1:24: press has no 'tone'; did you mean 'tone_ms'?"),
        ("- hangup: {now: 1}", "1:12: hangup has no 'now'"),
        ("- say: x\n  place: y", "2:3: say has no 'place'; there are text, file, audio, voice, speed, gap, intent"),
        ("- interrupt: x", "1:3: interrupt needs after"),
        ("- wait", "1:3: wait needs seconds"),
        ("- press: {tone_ms: 100}", "1:3: press needs digits"),
        ("- say: x\n  text: y", "2:3: 'text' is given twice; first beside say"),
        ("- say: {text: x}\n  gap: 1s", "2:3: 'gap' stands beside say, which has its fields already; put it with them"),
        (
            "- check: answered\n  ended: user",
            "2:3: 'ended' stands beside check, which has its fields already; put it with them",
        ),
        # scalars
        ("- hear: {within: 3 sec}", "1:18: within: '3 sec' is not a duration; write for example 800ms, 1.2s or 2min"),
        ("- hear: {within: -1s}", "1:18: within: '-1s' is negative; a duration such as 800ms, 1.2s or 2min is not"),
        ("- hear: {within: [3s]}", f"1:18: within takes {SECONDS}, not a list"),
        ("- hear: {within: }", f"1:17: within takes {SECONDS}, not nothing"),
        (
            "- hear: {tail_silence: 0s}",
            "1:24: tail_silence cannot be '0s'; it takes a duration above zero such as 800ms or 1.2s",
        ),
        ("- hear: 3s", "1:9: hear takes text; for a time, write hear: {within: 3s}"),
        ("- hear: '?'", "1:3: hear: there is no word in '?'"),
        ("- hear: {absent: yes}", "1:18: absent: 'yes' is neither true nor false"),
        ("- hear: {absent: 'true'}", "1:18: absent takes true or false, not the text 'true'; write it without quotes"),
        ("- say: {text: {a: b}}", "1:15: text takes text, not a mapping"),
        ("- say: [x]", "1:8: text takes text, not a list"),
        ("- say: ''", "1:8: text cannot be ''; it takes text"),
        ("- say: null", "1:3: say takes exactly one of text, file, audio; none is given"),
        ("- say: {text: x, speed: fast}", "1:25: speed: 'fast' is not a number; write for example 0.8 or 2"),
        ("- say: {text: x, speed: 0}", "1:25: speed cannot be '0'; it takes a number above zero"),
        (
            "- say: {text: x, speed: '1.2'}",
            "1:25: speed takes a number above zero, not the text '1.2'; write it without quotes",
        ),
        ("- say: {audio: x}", "1:16: audio can only be given in Python; here, name a file"),
        ("- line: hodl", "1:9: action cannot be 'hodl'; did you mean 'hold'?"),
        (
            "- press: {digits: '1', method: morse}",
            "1:32: method cannot be 'morse'; there are auto, event, rfc4733, info, inband",
        ),
        ("- press: {digits: '1', tone_ms: 0.5ms}", "1:33: tone_ms: '0.5ms' is not whole milliseconds"),
        ("- check: {answered: {code: two}}", "1:28: code: 'two' is not a whole number"),
        # digits
        (
            "- press: 012",
            '1:10: digits must stand in quotes: "012" (without them, YAML readers take 012 for the octal number 10)',
        ),
        (
            "- press: {digits: 1}",
            '1:19: digits must stand in quotes: "1" (without them, YAML readers take 012 for the octal number 10)',
        ),
        (
            "- press:\n    digits: #1",
            f"2:12: digits takes {DIGITS}, not nothing; # begins a comment unless it stands in quotes",
        ),
        ("- press: '12x'", f"1:10: digits cannot be '12x'; it takes {DIGITS}"),
        # rules across fields
        ("- hear\n- say: {text: x, file: ./}", "2:24: there is no file '.'"),
        ("- hear: {absent: true}", "1:3: hear: absent needs within: for how long the agent is to stay silent"),
        ("- line: transfer", "1:3: line: transfer, and only transfer, takes a target"),
        # triggers
        (
            "- interrupt: x\n  after: soon",
            "2:10: after: 'soon' is not a duration; write for example 800ms, 1.2s or 2min",
        ),
        ("- interrupt: x\n  after: 0 words", "2:10: after: a trigger waits for at least 1 word"),
        (
            "- interrupt: x\n  after: four words",
            "2:10: after: 'four words' is not a number of words; write for example 4 words",
        ),
        ("- interrupt: x\n  after: [1s]", f"2:10: after takes {TRIGGER}; not a list"),
        ("- interrupt: x\n  after: {time: 1s, words: 2}", f"2:10: after takes {TRIGGER}; not a mapping"),
        ("- interrupt: x\n  after: {tme: 1s}", "2:11: there is no trigger 'tme'; did you mean 'time'?"),
        (
            "- interrupt: x\n  after: {random: {latest: 100ms}}",
            "2:11: random trigger: latest (0.1 s) comes before earliest (0.3 s)",
        ),
        (
            "- hear: {up_to: {time: 1s}}",
            "1:17: up_to takes 800ms (of heard agent speech), 4 words or {said: which day}; not a mapping",
        ),
        (
            "- hear: {up_to: random}",
            "1:17: up_to takes 800ms (of heard agent speech), 4 words or {said: which day}; not 'random'",
        ),
        # checks
        ("- check: {latency: 1s}", "1:11: there is no check 'latency'; did you mean 'stop_latency'?"),
        ("- check: {ended: nobody}", "1:18: by cannot be 'nobody'; there are agent, user, limit"),
        ("- check: {response_latency: }", "1:11: response_latency takes at least one of at_most, p50, p95"),
        ("- check: {no_fault: [ded_air]}", "1:22: kinds cannot be 'ded_air'; did you mean 'dead_air'?"),
        ("- check: {no_fault: leak}", "1:21: kinds takes a list, not 'leak'"),
        (
            "- check: {tone: {hz: high}}",
            "1:22: hz: 'high' is not a frequency; write for example 440Hz or 1.2kHz",
        ),
        ("- check: {tone: 0}", "1:17: hz cannot be '0'; it takes a frequency such as 440Hz or 1.2kHz"),
        ("- check: {tone: {hz: 440, length: 1s}}", TONE_FIELDS),
        ("- check: {tone: {duration: 1s}}", "1:11: tone needs hz"),
        ("- check: {tone: 20Hz}", "1:11: tone: hz takes 40 Hz or more, not 20 Hz"),
        (
            "- check: {transcript: {matches: (}}",
            "1:11: transcript: '(' is no regular expression (missing ), unterminated subpattern at position 0)",
        ),
        (
            "- check:",
            f"1:9: a check is one of {CHECKS}; not nothing",
        ),
        (
            "- check: [answered]",
            f"1:10: a check is one of {CHECKS}; not a list",
        ),
    ],
)
def test_an_error_has_its_line_and_column(text: str, message: str) -> None:
    assert error_of(text) == f"a.yaml:{message}"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", 12),
        ("-3", -3),
        ("0", 0),
        ("2.5", 2.5),
        ("1e3", 1000.0),
        ("true", True),
        ("no", "no"),
        ("null", None),
        ("'012'", "012"),
        ("text", "text"),
        ("1.2.3", "1.2.3"),
        ("[1, {a: ~}]", [1, {"a": None}]),
    ],
)
def test_a_free_value_is_read_by_the_core_schema(text: str, value: object) -> None:
    read = ValueReader(".").plain(parse_yaml(text.encode(), "a.yaml"))
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize("text", ["012", "+15550100123", "-01", "00.5", "+1"])
def test_a_free_number_that_may_be_digits_is_refused(text: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        ValueReader(".").plain(parse_yaml(f"a: {text}".encode(), "a.yaml"))
    assert str(caught.value) == (
        f"a.yaml:1:4: {text} may be a number or digits; put digits in quotes, or write a plain number"
    )
