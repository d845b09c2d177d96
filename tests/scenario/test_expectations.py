"""Judging expectations by what was measured."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.measure.calls import noise, silence, spoken, tone
from voiceharness.line.record import CallRecord, TimelineEvent
from voiceharness.measure.answers import Exchange
from voiceharness.measure.barge_ins import BargeIn
from voiceharness.measure.finding import Finding, FindingKind, Severity
from voiceharness.measure.metrics import KeyPress, Metrics, measure
from voiceharness.measure.percentiles import describe
from voiceharness.measure.utterances import Utterance
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
from voiceharness.scenario.expectations import CheckResult, Evidence, judge, judge_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__: list[str] = []

RATE = 8000


def found(kind: FindingKind, severity: Severity = "fault") -> Finding:
    return Finding(kind, severity, 0, 800, 0.1, "s", f"heard {kind}")


def quiet(seconds: float = 10.0) -> Metrics:
    """The metrics of a call in which nobody speaks."""
    silence = np.zeros(round(seconds * RATE), np.int16)
    return measure(CallRecord(RATE, silence, silence))


def answered(*latencies: float | None) -> Metrics:
    exchanges = tuple(Exchange(turn, None, latency, 0.0) for turn, latency in enumerate(latencies))
    return replace(quiet(), exchanges=exchanges, response_latency=describe(latencies))


def interrupted(*stops: float, flush: int | None = None) -> Metrics:
    barge_ins = tuple(
        BargeIn(0, 800, "speaking", "turn", "interrupt", stop_latency=stop, flush=flush) for stop in stops
    )
    return replace(quiet(), barge_ins=barge_ins, stop_latency=describe(stops))


def in_step(expectation: Expectation, evidence: Evidence | Metrics) -> CheckResult:
    return judge(expectation, evidence if isinstance(evidence, Evidence) else Evidence(evidence), step=3, at=16000)


def as_limit(expectation: Expectation, metrics: Metrics) -> CheckResult:
    return judge(expectation, Evidence(metrics), step=None, at=80000)


def test_a_result_says_what_where_and_why() -> None:
    result = in_step(ResponseLatency(1.0), answered(0.4, 1.25))
    assert result == CheckResult(
        kind="response_latency",
        passed=False,
        wanted="an answer after at most 1 s",
        measured="answered after 1.250 s",
        explanation="wanted an answer after at most 1 s: answered after 1.250 s",
        step=3,
        at=16000,
        value=1.25,
    )


# Latencies


def test_a_step_judges_the_latest_answer_and_a_limit_every_one() -> None:
    metrics = answered(1.25, 0.4)
    assert in_step(ResponseLatency(1.0), metrics).passed
    limit = as_limit(ResponseLatency(1.0), metrics)
    assert (limit.passed, limit.value, limit.step) == (False, 1.25, None)


def test_the_limit_itself_is_met() -> None:
    assert in_step(ResponseLatency(1.0), answered(1.0)).passed


def test_an_answer_that_never_came_fails_a_step() -> None:
    """Case B21."""
    result = in_step(ResponseLatency(1.0), answered(0.4, None))
    assert (result.passed, result.value) == (False, None)
    assert result.measured == "the user's latest turn was never answered"


def test_a_limit_needs_at_least_one_answer_if_the_user_spoke() -> None:
    assert as_limit(ResponseLatency(1.0), answered(0.4, None)).passed
    assert not as_limit(ResponseLatency(1.0), answered(None, None)).passed
    assert as_limit(ResponseLatency(1.0), quiet()).passed
    assert not in_step(ResponseLatency(1.0), quiet()).passed


def test_a_failed_limit_says_how_many_turns_have_no_answer_at_all() -> None:
    result = as_limit(ResponseLatency(0.3), answered(0.4, None))
    assert result.explanation == (
        "wanted an answer after at most 0.3 s: answered after 0.400 s (1 of 2 turns never answered)"
    )


@pytest.mark.parametrize(("p95", "passed"), [(0.9, False), (1.0, True)])
def test_a_percentile_is_about_all_turns(p95: float, passed: bool) -> None:
    metrics = answered(*[0.5] * 18, 0.95, 0.95, 0.95)
    assert in_step(ResponseLatency(p95=p95), metrics).passed is passed
    assert as_limit(ResponseLatency(p95=p95), metrics).passed is passed


def test_a_percentile_is_judged_while_the_latest_turn_still_waits_for_its_answer() -> None:
    assert in_step(ResponseLatency(p95=1.0), answered(*[0.5] * 20, None)).passed
    assert not in_step(ResponseLatency(at_most=1.0, p95=1.0), answered(*[0.5] * 20, None)).passed
    assert not in_step(ResponseLatency(p95=1.0), answered(None)).passed


def test_a_percentile_of_too_few_turns_is_not_guessed() -> None:
    result = as_limit(ResponseLatency(at_most=1.0, p95=1.0), answered(0.5, 0.5))
    assert not result.passed
    assert result.measured == "answered after 0.500 s, p95 needs 20 values, not 2"


def test_the_median_can_fail_alone() -> None:
    result = as_limit(StopLatency(at_most=1.0, p50=0.2), interrupted(0.3, 0.5))
    assert not result.passed
    assert result.wanted == "a stop after at most 1 s, p50 at most 0.2 s"


def test_an_agent_that_does_not_stop_fails_and_the_missing_flush_is_named() -> None:
    """Case A01."""
    result = in_step(StopLatency(0.5), interrupted(3.5))
    assert result.explanation == "wanted a stop after at most 0.5 s: heard on for 3.500 s (no flush was sent)"
    assert in_step(StopLatency(0.5), interrupted(0.2, flush=13600)).passed


def test_a_stop_that_came_late_in_spite_of_a_flush_does_not_blame_the_flush() -> None:
    assert "flush" not in in_step(StopLatency(0.5), interrupted(0.7, flush=13600)).explanation


def test_a_limit_on_stops_is_about_the_worst() -> None:
    metrics = interrupted(0.9, 0.2)
    assert in_step(StopLatency(0.5), metrics).passed
    assert as_limit(StopLatency(0.5), metrics).value == 0.9


def test_a_step_needs_an_interruption_to_judge_and_a_limit_does_not() -> None:
    """Case B09."""
    silent = BargeIn(0, 800, "silent", "turn", "interrupt")
    hummed = BargeIn(0, 800, "speaking", "backchannel", "say", stop_latency=9.0)
    metrics = replace(quiet(), barge_ins=(silent, hummed))
    assert not in_step(StopLatency(0.5), metrics).passed
    assert as_limit(StopLatency(0.5), metrics).passed


# Sound


def test_double_talk_is_limited_in_total() -> None:
    metrics = replace(quiet(), double_talk=1.5)
    assert in_step(Overlap(1.5), metrics).passed
    assert in_step(Overlap(1.0), metrics).explanation == "wanted at most 1 s of double-talk: 1.500 s"


def test_the_longest_silence_counts_however_short() -> None:
    said = (Utterance(0, 4 * RATE), Utterance(5 * RATE, 10 * RATE))
    metrics = replace(quiet(10.0), utterances=said)
    assert in_step(LongestSilence(0.9), metrics).value == 1.0
    assert in_step(LongestSilence(1.0), metrics).passed
    assert in_step(LongestSilence(9.9), quiet(10.0)).value == 10.0


# Digits and words


@pytest.mark.parametrize(
    ("expectation", "passed", "measured"),
    [
        (Dtmf("12"), True, "digits 12"),
        (Dtmf("1"), False, "digits 12"),
        (Dtmf("9#", by="user"), True, "digits 9#"),
        (Dtmf("9", by="user"), False, "digits 9#"),
    ],
)
def test_digits_are_compared_in_full(expectation: Dtmf, passed: bool, measured: str) -> None:
    keys = (
        KeyPress(0, "received", "1", "event", 0.1),
        KeyPress(1, "sent", "9", "event", 0.1),
        KeyPress(2, "received", "2", "event", 0.1),
        KeyPress(3, "sent", "#", "event", 0.1),
    )
    result = in_step(expectation, replace(quiet(), keys=keys))
    assert (result.passed, result.measured) == (passed, measured)


def test_no_digits_are_named_as_none() -> None:
    assert in_step(Dtmf("1"), quiet()).explanation == "wanted digits 1 by the agent: no digits"


HEARD = "Your appointment is on Tuesday, at 10:30. Anything else?"


@pytest.mark.parametrize(
    ("expectation", "passed"),
    [
        (Transcript("appointment is on tuesday"), True),
        (Transcript("ten thirty"), True),
        (Transcript("tuesday appointment"), False),
        (Transcript(lacks="Wednesday"), True),
        (Transcript(lacks="tuesday at"), False),
        (Transcript(matches=r"\d+:\d\d"), True),
        (Transcript(matches=r"^anything"), False),
        (Transcript("Tuesday", lacks="else"), False),
        (Transcript("Tuesday", lacks="Friday", matches="ELSE"), True),
        (Transcript("hello", by="user"), True),
        (Transcript("Tuesday", by="user"), False),
    ],
)
def test_words_are_found_whatever_their_spelling(expectation: Transcript, passed: bool) -> None:
    evidence = Evidence(quiet(), agent_text=HEARD, user_text="Hello.")
    assert in_step(expectation, evidence).passed is passed


def test_missing_words_are_explained_with_the_nearest_and_their_source() -> None:
    result = judge_text("on a Tuesday", HEARD, step=1, at=8000, by="transcriber")
    assert result.kind == "hear_text"
    assert not result.passed
    assert result.explanation == (
        f"wanted 'on a Tuesday': heard {HEARD!r}, words by transcriber (nearest: 'on tuesday')"
    )


def test_no_words_at_all_are_named() -> None:
    assert judge_text("Tuesday", "", step=1, at=0).explanation == "wanted 'Tuesday': heard no words, by agent"


def test_words_that_nobody_supplied_fail_with_advice() -> None:
    """Case B25."""
    result = in_step(Transcript("Tuesday"), Evidence(quiet(), agent_text=None))
    assert result.explanation == "wanted words of the agent: nobody supplied them (give the line a transcriber)"


# The call


@pytest.mark.parametrize(
    ("expectation", "after", "code", "passed"),
    [
        (Answered(), 1.0, None, True),
        (Answered(), None, None, False),
        (Answered(within=1), None, None, False),
        (Answered(within=1.0), 1.0, None, True),
        (Answered(within=1.0), 1.5, None, False),
        (Answered(code=200), 1.0, 200, True),
        (Answered(code=200), 1.0, 183, False),
        (Answered(code=200), 1.0, None, False),
    ],
)
def test_an_answer_is_judged_by_time_and_code(
    expectation: Answered, after: float | None, code: int | None, passed: bool
) -> None:
    evidence = Evidence(quiet(), answered_after=after, answered_code=code)
    assert in_step(expectation, evidence).passed is passed


def test_an_answer_in_time_with_the_wrong_code_says_both() -> None:
    result = in_step(Answered(within=2, code=200), Evidence(quiet(), answered_after=1.0, answered_code=183))
    assert result.explanation == "wanted an answer within 2 s with code 200: answered after 1.000 s with code 183"


ENDED = Evidence(quiet(), ended_by="agent", ended_at=12.0, ended_reason="Busy Here", ended_code=486)


@pytest.mark.parametrize(
    ("expectation", "evidence", "passed"),
    [
        (Ended(), ENDED, True),
        (Ended(), Evidence(quiet()), False),
        (Ended(by="agent"), ENDED, True),
        (Ended(by="user"), ENDED, False),
        (Ended(within=12), ENDED, True),
        (Ended(within=11), ENDED, False),
        (Ended(cause="486"), ENDED, True),
        (Ended(cause="busy"), ENDED, True),
        (Ended(cause="declined"), ENDED, False),
        (Ended(by="agent", within=11, cause="486"), ENDED, False),
        (Ended(cause="486"), Evidence(quiet()), False),
    ],
)
def test_an_end_is_judged_by_party_time_and_cause(expectation: Ended, evidence: Evidence, passed: bool) -> None:
    assert in_step(expectation, evidence).passed is passed


def test_an_end_is_told_in_full() -> None:
    result = in_step(Ended(by="user", within=5), ENDED)
    assert result.explanation == (
        "wanted the call ended by the user within 5 s: ended by the agent after 12.000 s with 486 Busy Here"
    )
    assert in_step(Ended(), Evidence(quiet())).measured == "the call goes on"


@pytest.mark.parametrize(
    ("expectation", "findings", "measured"),
    [
        (NoFault(), [], ""),
        (
            NoFault(),
            [found("late_flush"), found("dead_air"), found("late_flush")],
            "found late_flush (2), dead_air (1)",
        ),
        (NoFault(), [found("dead_air", "warning")], ""),
        (NoFault(["backlog"]), [found("dead_air")], ""),
        (NoFault(["backlog", "dead_air"]), [found("dead_air", "warning")], "found dead_air (1)"),
    ],
)
def test_faults_are_counted_by_kind(expectation: NoFault, findings: Sequence[Finding], measured: str) -> None:
    result = in_step(expectation, Evidence(quiet(), findings=findings))
    assert result.passed is not bool(measured)
    assert result.measured == (measured or "found none")
    assert ("heard" in result.explanation) is bool(measured)


def heard(*sounds: NDArray[np.int16]) -> Evidence:
    """What is known of a call in which the agent is heard, after half a second."""
    agent = np.concatenate((silence(0.5), *sounds, silence(0.5)))
    record = CallRecord(RATE, np.zeros_like(agent), agent)
    return Evidence(measure(record), record=record)


@pytest.mark.parametrize(
    ("expectation", "evidence", "measured"),
    [
        (Tone(440), heard(tone(440, 0.5)), "heard 440.0 Hz for 0.500 s from 0.500 s on"),
        (Tone(440, 1.0), heard(tone(440, 1.0)), "heard 440.0 Hz for 1.000 s from 0.500 s on"),
        (Tone(440, 1.0), heard(tone(440.9, 1.02)), "heard 440.9 Hz for 1.020 s from 0.500 s on"),
        (Tone(440, 1.0), heard(tone(440, 0.3), silence(0.3), tone(440, 1)), "440.0 Hz for 1.000 s from 1.100 s on"),
        (Tone(900), heard(tone(500, 1.0), tone(900, 0.5)), "heard 900.0 Hz for 0.500 s from 1.500 s on"),
        (Tone(440, 1.0), heard(spoken("agent_greeting"), silence(0.5), tone(440, 1)), "440.0 Hz for 1.000 s"),
        (Tone(440, 1.0), heard(tone(440, 1, -12) + noise(1, -25)), "heard 440.0 Hz for "),
        (Tone(442, hz_tolerance=3), heard(tone(440, 0.5)), "heard 440.0 Hz"),
        (Tone(440, 1.0, duration_tolerance=0.2), heard(tone(440, 1.15)), "for 1.150 s"),
    ],
)
def test_a_tone_that_is_heard_as_wanted_passes(expectation: Tone, evidence: Evidence, measured: str) -> None:
    result = in_step(expectation, evidence)
    assert result.passed, result.explanation
    assert measured in result.measured


@pytest.mark.parametrize(
    ("expectation", "evidence", "measured"),
    [
        (Tone(440), Evidence(quiet()), "the agent was silent"),
        (Tone(440), heard(), "the agent was silent"),
        (Tone(440), heard(noise(2)), "no tone in 2.000 s of the agent's sound"),
        (Tone(440), heard(spoken("agent_offer")), "no tone in "),
        (Tone(440, 1.0), heard(tone(441.5, 1.0)), "heard 441.5 Hz for 1.000 s from 0.500 s on"),
        (Tone(440, 1.0), heard(tone(440, 0.96)), "heard 440.0 Hz for 0.960 s from 0.500 s on"),
        (
            Tone(440, 1.0),
            heard(tone(440, 0.3), silence(0.3), tone(440, 0.9), tone(600, 1.0)),
            "heard 440.0 Hz for 0.900 s from 1.100 s on, 440.0 Hz for 0.300 s from 0.500 s on, 600.0 Hz for 1.000 s",
        ),
        (
            Tone(440),
            heard(*(tone(hz, seconds) for hz, seconds in [(500, 0.2), (600, 0.3), (710, 0.4), (900, 0.5)])),
            "heard 900.0 Hz for 0.500 s from 1.400 s on, 710.0 Hz for 0.400 s from 1.000 s on, 600.0 Hz for 0.300 s",
        ),
    ],
)
def test_another_sound_fails_and_tells_what_was_heard(expectation: Tone, evidence: Evidence, measured: str) -> None:
    result = in_step(expectation, evidence)
    assert not result.passed
    assert result.measured.startswith(measured)
    assert "times as fast" not in result.explanation


@pytest.mark.parametrize(
    ("expectation", "sound", "cause"),
    [
        (Tone(440, 1.0), tone(440 / 3, 3.0), "0.333 times as fast as it was made: 24 kHz audio treated as 8 kHz"),
        (Tone(440, 1.0), tone(440 / 3, 3.05), "0.333 times as fast as it was made: 24 kHz audio treated as 8 kHz"),
        (Tone(440, 1.0), tone(1320, 0.333), "3 times as fast as it was made: 8 kHz audio treated as 24 kHz"),
        (Tone(440, 1.0), tone(220, 2.0), "0.5 times as fast as it was made: 16 kHz audio treated as 8 kHz"),
        (
            Tone(440, 1.0),
            tone(660, 0.667),
            "1.5 times as fast as it was made: 16 kHz audio treated as 24 kHz or 32 kHz audio treated as 48 kHz",
        ),
        (
            Tone(440),
            tone(440 / 3, 2.0),
            "0.333 times as fast as it was made as far as the frequency alone tells: 24 kHz audio treated as 8 kHz",
        ),
    ],
)
def test_a_wrong_rate_is_named_with_its_factor(expectation: Tone, sound: NDArray[np.int16], cause: str) -> None:
    """Case A34."""
    result = in_step(expectation, heard(tone(700, 1.0), sound))
    assert not result.passed
    assert result.explanation.endswith(f"(it is played {cause})")


@pytest.mark.parametrize("sound", [tone(1320, 1.0), tone(440 / 3, 1.0), tone(440, 3.0), tone(500, 0.88)])
def test_a_factor_that_frequency_and_duration_do_not_share_is_no_wrong_rate(sound: NDArray[np.int16]) -> None:
    result = in_step(Tone(440, 1.0), heard(sound))
    assert not result.passed
    assert "times as fast" not in result.explanation


def test_of_many_tones_the_rest_are_counted() -> None:
    result = in_step(Tone(440), heard(*(tone(hz, 0.3) for hz in (500, 600, 710, 900, 1200))))
    assert result.measured.endswith(" and 2 more")


def test_a_tone_is_told_in_full() -> None:
    result = in_step(Tone(440, 1.0), heard(tone(440 / 3, 3.0)))
    assert result.explanation == (
        "wanted a tone of 440 ± 1 Hz for 1 ± 0.02 s: heard 146.7 Hz for 3.000 s from 0.500 s on "
        "(it is played 0.333 times as fast as it was made: 24 kHz audio treated as 8 kHz)"
    )
    assert result.value == pytest.approx(3.0, abs=0.001)
    assert in_step(Tone(440), heard()).explanation == "wanted a tone of 440 ± 1 Hz: the agent was silent"


def test_a_recorded_call_is_judged_by_its_sound() -> None:
    """Case A01."""
    user, agent = np.zeros(8 * RATE, np.int16), np.zeros(8 * RATE, np.int16)
    sound = (10000 * np.sin(2 * np.pi * 440 / RATE * np.arange(5 * RATE))).astype(np.int16)
    agent[: 5 * RATE] = sound
    start, end = round(1.5 * RATE), round(2.5 * RATE)
    user[start:end] = sound[: end - start]
    events = (
        TimelineEvent(
            start, "user_utterance", {"onset": start, "offset": end, "source": "interrupt", "step": 0, "text": "wait"}
        ),
        TimelineEvent(start, "barge_in", {"asked": start, "onset": start, "via": "speech", "step": 0}),
    )
    result = in_step(StopLatency(0.5), measure(CallRecord(RATE, user, agent, events)))
    assert not result.passed
    assert result.value == pytest.approx(3.5, abs=0.02)
    assert "no flush was sent" in result.explanation
