"""Barge-in and flushing over a media stream: verdicts from what was heard, not from what was received."""

from __future__ import annotations

import pytest

from tests.adapters.twilio.wire_agent import (
    WireAgent,
    burst,
    clear,
    mark,
    near,
    paced,
    play,
    speech,
    tone_media,
)
from voiceharness.scenario.checks import NoFault, StopLatency
from voiceharness.scenario.scenario import LineProfile
from voiceharness.scenario.steps import AnyStep, Check, Say, Wait

__all__: list[str] = []

TALK_OVER: list[AnyStep] = [Wait(1.5), Say(audio=speech(1.0))]
STOPS_SOON = Check(StopLatency(at_most=0.5))


def test_without_a_clear_the_buffered_answer_is_heard_to_its_end() -> None:
    """Case A01, the faulty agent."""
    agent = WireAgent([*burst(440, 5.0), (0.2, mark("m1"))])
    played = play(agent, *TALK_OVER, Wait(4), STOPS_SOON)
    assert played.heard == [(0, near(5000))]
    assert played.result.metrics is not None
    assert played.result.metrics.barge_ins[0].stop_latency == pytest.approx(3.5, abs=0.02)
    assert played.adapter.log.received == {"media": 250, "mark": 1}
    assert "stop_latency" in played.unmet
    assert "flush" in played.found("no_flush_on_barge_in")[0].explanation
    assert [got.at for got in agent.of("mark")] == [pytest.approx(5.0, abs=0.02)]


def test_a_clear_ends_what_is_heard_at_once() -> None:
    """Case A01, the right agent: the same bytes were received."""
    agent = WireAgent([*burst(440, 5.0), (0.2, mark("m1")), (1.7, clear())])
    played = play(agent, *TALK_OVER, Wait(4), STOPS_SOON)
    assert played.heard == [(0, near(1700))]
    assert played.adapter.log.received == {"media": 250, "mark": 1, "clear": 1}
    assert "stop_latency" not in played.unmet
    assert not played.found("no_flush_on_barge_in")
    assert [got.at for got in agent.of("mark")] == [pytest.approx(1.7, abs=0.001)]


def late_audio(*more: tuple[float, object]) -> WireAgent:
    return WireAgent([*burst(440, 5.0), (1.7, clear()), *paced(880, 1.0, 3.2), *more])  # type: ignore[list-item]


def test_audio_of_the_cancelled_answer_after_the_clear_is_a_leak() -> None:
    """Case A03: the answer at 3200 is none."""
    played = play(late_audio(*paced(440, 0.2, 1.72)), *TALK_OVER, Wait(3), Check(NoFault(["audio_after_flush"])))
    (leak,) = played.found("audio_after_flush")
    assert (leak.start / 8, leak.end / 8) == (near(1720), near(1920))
    assert leak.figure == pytest.approx(0.2, abs=0.02)
    assert played.result.outcome == "failed"


def test_a_new_answer_after_the_clear_is_no_leak() -> None:
    """Case A03, the twin."""
    played = play(late_audio(), *TALK_OVER, Wait(3), Check(NoFault(["audio_after_flush"])))
    assert played.result.outcome == "passed"
    assert played.heard == [(0, near(1700)), (near(3200), near(4200))]


def test_a_short_burst_after_the_stop_is_told_from_the_stop() -> None:
    """Case A05."""
    agent = WireAgent([*burst(440, 5.0), (1.7, clear()), *paced(440, 0.06, 1.8)])
    played = play(agent, *TALK_OVER, Wait(2), STOPS_SOON, Check(NoFault(["residual_burst"])))
    assert played.result.metrics is not None
    (barge_in,) = played.result.metrics.barge_ins
    assert barge_in.first_silence == pytest.approx(0.2, abs=0.02)
    assert barge_in.stop_latency == pytest.approx(0.36, abs=0.02)
    assert [span.onset / 8 for span in barge_in.residual] == [near(1800)]
    assert played.found("residual_burst")[0].figure == pytest.approx(0.06, abs=0.02)
    assert "stop_latency" not in played.unmet
    assert "no_fault" in played.unmet


def test_the_buffer_is_empty_after_each_clear() -> None:
    """Case A09."""
    rounds = [cue for turn in range(3) for cue in (*burst(440, 20.0, turn, 0.05), (turn + 0.1, clear()))]
    played = play(WireAgent([*rounds, *burst(440, 2.0, 4.0, 0.05)]), Wait(8))
    assert played.heard[-1] == (near(4000), near(6000))
    assert played.faults == []


def test_how_much_of_each_answer_was_heard_counts_the_delay_of_the_line() -> None:
    """Case A14: two answers queued at once, 300 ms on the way, so the second is heard from 2300."""
    agent = WireAgent([(0.0, tone_media(440, 2.0)), (0.0, tone_media(880, 6.0)), (3.2, clear())])
    played = play(agent, Wait(5), scenario={"line": LineProfile(delay=0.3)})
    assert played.heard == [(near(300), near(3500))]
    assert played.result.record is not None
    assert [piece.heard / 8 for piece in played.result.record.arrivals] == [near(2000), near(1200)]
