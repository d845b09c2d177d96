"""A saved call drawn in text."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.report.calls import answered_call
from voiceharness.line.record import CallRecord, TimelineEvent
from voiceharness.measure.metrics import Metrics, measure
from voiceharness.report.show import timeline_text

if TYPE_CHECKING:
    from voiceharness.report.agent_words import AgentWords


def call() -> tuple[CallRecord, Metrics]:
    result = answered_call()
    assert result.record is not None
    assert result.metrics is not None
    return result.record, result.metrics


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize("ascii_only", [False, True])
def test_no_line_is_wider_than_the_terminal(width: int, ascii_only: bool) -> None:
    text = timeline_text(*call(), width=width, ascii_only=ascii_only)
    assert max(len(line) for line in text.splitlines()) <= width
    assert not ascii_only or text.isascii()


def test_both_tracks_stand_on_one_time_line() -> None:
    ruler, user, agent, pins, *_ = timeline_text(*call(), width=106).splitlines()  # 100 columns of 52 ms
    assert ruler.startswith("      |0")
    assert ruler.index("|2.5") == 6 + round(2.5 / 0.052)
    assert user[6 + 10] != " "
    assert agent[6 : 6 + 38].strip() == ""  # the answer begins at 2.001 s
    assert agent[6 + 39] != " "
    assert pins[6 + 48] == "!"  # the barge-in, at 2.501 s
    assert pins[6 + 51] == "x"  # the flush, at 2.700 s
    assert pins.endswith("]")


def test_turns_and_events_are_listed_in_time_order_with_their_figures() -> None:
    lines = timeline_text(*call(), width=120).splitlines()
    assert "    2.001  agent  to 2.700  response_latency 0.501 s" in lines
    assert "    5.000  digit_sent  digit 5  method event  duration 0.1" in lines
    times = [float(line[:9]) for line in lines if line[:9].strip().replace(".", "").isdigit()]
    assert times == sorted(times)
    assert "(! barge_in, x flush, # digit_sent, ] hangup)" in lines


def test_steps_are_counted_from_one_as_in_the_verdict() -> None:
    steps = [line.split()[2:5] for line in timeline_text(*call(), width=120).splitlines() if "step_started" in line]
    assert [number for _step, number, _name in steps] == ["1", "2", "3", "4", "5"]


def test_a_turn_of_the_agent_is_listed_with_its_words() -> None:
    words: list[AgentWords] = [{"turn": 0, "text": "we open at nine", "by": "transcriber"}]
    lines = timeline_text(*call(), words=words, width=120).splitlines()
    assert "    2.001  agent  to 2.700  response_latency 0.501 s  heard: we open at nine" in lines


def test_the_list_can_be_left_out() -> None:
    assert "agent  to" not in timeline_text(*call(), events=False)


def test_a_long_call_takes_several_rows() -> None:
    record = call()[0]
    longer = replace(record, user=np.tile(record.user, 12), agent=np.tile(record.agent, 12))  # 62.4 s
    text = timeline_text(longer, measure(longer), width=100, events=False)
    assert len([line for line in text.splitlines() if line.startswith("user")]) == 4


def test_a_call_of_no_length_is_drawn_too() -> None:
    nothing = np.zeros(0, np.int16)
    record = CallRecord(8000, nothing, nothing, (TimelineEvent(0, "hangup", {"by": "agent"}),))
    assert "hangup  by agent" in timeline_text(record, measure(record))


def test_what_was_said_cannot_steer_the_terminal() -> None:
    """Case B47."""
    record, metrics = call()
    events = (TimelineEvent(0, "protocol_fault", {"detail": "\x1b[2J\nx \x00"}),)
    text = timeline_text(replace(record, events=events), metrics)
    assert "protocol_fault  detail �[2J x �" in text
