"""What is known of an event, as a person reads it."""

from __future__ import annotations

from voiceharness.line.record import TimelineEvent
from voiceharness.report.event_data import event_data


def test_names_are_those_of_the_timeline_and_what_is_unknown_is_left_out() -> None:
    event = TimelineEvent(0, "hangup", {"by": "agent", "reason": "", "code": None, "late": 0})
    assert list(event_data(event)) == ["by agent", "late 0"]


def test_steps_count_from_one() -> None:
    event = TimelineEvent(0, "step_started", {"step": 0, "name": "hear"})
    assert list(event_data(event)) == ["step 1", "name hear"]


def test_a_step_with_a_name_keeps_it() -> None:
    assert list(event_data(TimelineEvent(0, "user_utterance", {"step": "demo"}))) == ["step demo"]
