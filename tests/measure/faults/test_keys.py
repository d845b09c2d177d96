"""Faults of keypad digits, each with its twin that has none."""

from __future__ import annotations

import pytest

from tests.measure.calls import Call, spoken, tone
from tests.measure.verdicts import faults, kinds, only
from voiceharness.audio.dtmf import generate
from voiceharness.line.record import CallRecord
from voiceharness.measure import find_faults, measure


def pressed(sent: str, got: str) -> Call:
    call = Call(6).agent(2.5, tone(440, 0.5))
    for index, digit in enumerate(sent):
        call.note(1 + 0.2 * index, "digit_sent", digit=digit, method="rfc4733", duration=0.1)
    for index, digit in enumerate(got):
        call.note(3 + 0.2 * index, "digit_received", digit=digit, method="event", duration=0.1)
    return call


@pytest.mark.parametrize(
    ("got", "kind", "figure"), [("1245", "dtmf_lost", 1), ("123345", "dtmf_doubled", 1), ("127345", "dtmf_false", 1)]
)
def test_digits_read_back_wrongly_are_found(got: str, kind: str, figure: int) -> None:
    finding = only(pressed("12345", got), kind)
    assert finding.figure == figure
    assert f"'12345' was pressed, the agent read back '{got}'" in finding.explanation


def test_digits_read_back_rightly_are_no_fault() -> None:
    assert kinds(pressed("12345", "12345")) == []
    assert kinds(pressed("1123", "1123")) == []


def test_digits_the_agent_dials_for_itself_are_no_read_back() -> None:
    assert kinds(pressed("1", "0042#")) == []
    assert kinds(pressed("12345", "")) == []


def test_one_press_that_comes_by_two_ways_is_found() -> None:
    call = Call(3).note(1, "digit_received", digit="5", method="rfc4733", duration=0.1)
    call.note(1.05, "digit_received", digit="5", method="inband", duration=0.1)
    assert "by rfc4733 and by inband" in only(call, "dtmf_doubled").explanation


def test_one_key_pressed_twice_is_no_double() -> None:
    call = Call(3)
    for at in (1, 1.2):
        call.note(at, "digit_received", digit="5", method="rfc4733", duration=0.1)
    assert kinds(call) == []


def read_back(delay: float, period: float = 0.2) -> Call:
    """Five keys are pressed by 1.9 s, and read back from some seconds later on."""
    call = Call(12).agent(2.5, tone(440, 0.5))
    for index, digit in enumerate("12345"):
        call.note(1 + 0.2 * index, "digit_sent", digit=digit, method="event", duration=0.1)
        call.note(1.9 + delay + period * index, "digit_received", digit=digit, method="event", duration=0.1)
    return call


def test_keys_that_are_read_back_late_are_found() -> None:
    finding = only(read_back(3), "dtmf_late")
    assert finding.figure == pytest.approx(3, abs=0.02)
    assert "'1', pressed at 1.00 s" in finding.explanation


@pytest.mark.parametrize(("delay", "period"), [(0.7, 0.2), (1.5, 1.0)])
def test_keys_that_are_read_back_in_time_are_no_fault(delay: float, period: float) -> None:
    """Once the number is complete, and slowly, too."""
    assert kinds(read_back(delay, period)) == []


def inband(tones: str, noted: str, *, tone_ms: float = 80) -> CallRecord:
    """Tones on the user's track, which says something before, and what was to be pressed."""
    call = Call(6).user(0, spoken("user_hello"))
    for index, digit in enumerate(noted):
        call.note(2 + 0.16 * index, "digit_sent", digit=digit, method="inband", duration=0.08)
    record = call.record()
    user = record.user.copy()
    sound = generate(tones, tone_ms=tone_ms, gap_ms=80)
    user[16000 : 16000 + len(sound)] = sound
    return CallRecord(record.rate, user, record.agent, record.events)


def test_tones_on_the_line_that_are_too_short_are_lost() -> None:
    record = inband("123", "123", tone_ms=15)
    (finding,) = find_faults(record, measure(record))
    assert (finding.kind, finding.figure) == ("dtmf_lost", 3)


def test_tones_on_the_line_are_the_digits_that_were_pressed() -> None:
    """Case A73: and speech beside them holds none."""
    record = inband("159#", "159#")
    assert find_faults(record, measure(record)) == ()


def test_a_tone_that_nobody_pressed_is_false() -> None:
    record = inband("1529", "159")
    (finding,) = find_faults(record, measure(record))
    assert (finding.kind, finding.figure) == ("dtmf_false", 1)
    assert faults(pressed("", "")) == ()
