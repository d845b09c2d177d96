"""All figures of a call, and their plain form."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.measure.calls import Call, speechlike, tone
from voiceharness.errors import AudioError
from voiceharness.line.record import CallRecord
from voiceharness.measure import measure


def conversation() -> Call:
    """Greeting, two answered turns 0.4 and 0.8 s late, and one that is not answered."""
    call = Call(14).agent(0.5, tone(440, 1))
    call.user(2, speechlike(1)).agent(3.4, tone(440, 1.5))
    call.user(6, speechlike(1)).agent(7.8, tone(440, 1.5))
    return call.user(10.5, speechlike(1)).hang_up("user")


def test_latencies_are_those_of_the_heard_sound() -> None:
    metrics = measure(conversation().record())
    assert metrics.response_latency.n == 2
    assert metrics.response_latency.missing == 1
    assert metrics.response_latency.minimum == pytest.approx(0.4, abs=0.005)
    assert metrics.response_latency.maximum == pytest.approx(0.8, abs=0.005)
    answer = metrics.answer_to(1)
    assert answer is not None
    assert answer.onset / 8000 == pytest.approx(7.8, abs=0.001)
    assert metrics.answer_to(2) is None


def test_talk_time_counts_each_party_and_both() -> None:
    metrics = measure(Call(5).agent(0, tone(440, 2)).barge_in(1.5, speechlike(1)).record())
    assert metrics.agent_talk == pytest.approx(2, abs=0.005)
    assert metrics.user_talk == pytest.approx(1, abs=0.005)
    assert metrics.double_talk == pytest.approx(0.5, abs=0.005)


def test_silences_say_who_spoke_last() -> None:
    metrics = measure(conversation().record())
    assert [(silent.after, round(silent.duration, 1)) for silent in metrics.silences] == [
        ("agent", 1.1),
        ("user", 0.8),
        ("agent", 1.2),
        ("user", 2.5),
    ]


def test_keys_of_both_directions_are_listed() -> None:
    call = Call(3).note(0.5, "digit_sent", digit="5", method="event", duration=0.1)
    call.note(1.5, "digit_received", digit="#", method="rfc4733", duration=0.08)
    keys = measure(call.record()).keys
    assert [(key.direction, key.digit, key.method, key.duration, key.at) for key in keys] == [
        ("sent", "5", "event", 0.1, 4000),
        ("received", "#", "rfc4733", 0.08, 12000),
    ]


@pytest.mark.parametrize("rate", [8000, 16000, 48000])
def test_every_line_rate_is_measured(rate: int) -> None:
    call = Call(5, rate=rate).user(0, tone(300, 1, rate=rate)).agent(1.5, tone(440, 1, rate=rate))
    assert measure(call.record()).response_latency.maximum == pytest.approx(0.5, abs=0.002)


def test_a_rate_that_cannot_be_listened_at_is_an_error() -> None:
    empty = np.zeros(11025, np.int16)
    with pytest.raises(AudioError, match="11025"):
        measure(CallRecord(11025, empty, empty))


def test_an_empty_record_has_figures_of_zero() -> None:
    empty = np.zeros(0, np.int16)
    metrics = measure(CallRecord(8000, empty, empty))
    assert (metrics.duration, metrics.agent_talk, metrics.user_turns, metrics.silences) == (0, 0, (), ())


def test_the_plain_form_survives_json_and_keeps_the_names() -> None:
    metrics = measure(conversation().barge_in(8.2, speechlike(0.5)).record())
    plain = metrics.to_json()
    assert json.loads(json.dumps(plain)) == plain
    assert plain["double_talk"] == metrics.double_talk
    latency = plain["response_latency"]
    assert isinstance(latency, dict)
    assert latency["p95"] == {"value": None, "n": 2, "needed": 20, "estimator": latency["p50"]["estimator"]}  # type: ignore[call-overload, index]  # plain JSON has no schema in its type
    assert plain["barge_ins"][0]["phase"] == "speaking"  # type: ignore[index, call-overload]  # as above


def test_measuring_twice_gives_the_same() -> None:
    record = conversation().record()
    assert measure(record) == measure(record)
