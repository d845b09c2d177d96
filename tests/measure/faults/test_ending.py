"""Faults of ending a call, each with its twin that has none."""

from __future__ import annotations

import pytest

from tests.measure.calls import Call, speechlike, tone
from tests.measure.verdicts import interval, kinds, only

FRAME = 0.02


def test_a_farewell_cut_by_hanging_up_is_found() -> None:
    """Case A56, with the fault."""
    finding = only(Call(4).agent(0, tone(440, 3)).hang_up("agent", at=0.2), "farewell_cut")
    assert finding.figure == pytest.approx(2.8, abs=FRAME)
    assert "2.80 s still to be heard of the 3.00 s" in finding.explanation


@pytest.mark.parametrize("by", ["agent", "user"])
def test_a_farewell_that_was_heard_is_no_fault(by: str) -> None:
    """Case A56, without the fault; and a user who hangs up cuts nobody's farewell."""
    call = Call(4).agent(0, tone(440, 3))
    assert kinds(call.hang_up(by, at=3.05 if by == "agent" else 1)) == []


def test_what_an_earlier_flush_removed_is_no_farewell() -> None:
    """Case A56: audio given up on purpose."""
    call = Call(9).agent(0, tone(440, 3)).agent(0, tone(440, 8)).barge_in(1, speechlike(1)).flush(1.2)
    assert kinds(call.agent(3, tone(880, 1)).hang_up("agent", at=4.1)) == []


def test_hanging_up_in_the_middle_of_the_users_words_is_found() -> None:
    finding = only(Call(9).user(1, speechlike(2)).hang_up("agent", at=2.2), "hangup_too_early")
    assert finding.figure == pytest.approx(0.8, abs=FRAME)


@pytest.mark.parametrize(("by", "at"), [("agent", 3.4), ("user", 2.2)])
def test_hanging_up_after_the_users_words_is_no_fault(by: str, at: float) -> None:
    """Case B05: and a user who hangs up in mid-word does so on purpose."""
    assert kinds(Call(9).user(1, speechlike(2)).hang_up(by, at=at)) == []


def silent_end(by: str, after: float, *, user_last: bool = False) -> Call:
    """The agent has its last word at 3 s; the call ends some seconds later."""
    call = Call(40).user(0, speechlike(1)).agent(2, tone(440, 1))
    if user_last:
        call.user(4, speechlike(1), intent="noise")
    return call.hang_up(by, at=3 + after)


@pytest.mark.parametrize("by", ["agent", "limit"])
def test_a_line_left_open_after_the_last_word_is_found(by: str) -> None:
    """Case A12: a hang-up that comes late, or never."""
    finding = only(silent_end(by, 12), "hangup_too_late")
    assert finding.severity == "warning"
    assert finding.figure == pytest.approx(12, abs=FRAME)
    assert interval(finding) == [pytest.approx(3, abs=FRAME), 15]


@pytest.mark.parametrize(("by", "after", "user_last"), [("agent", 8, False), ("user", 12, False), ("limit", 12, True)])
def test_an_end_in_time_or_by_the_user_is_no_fault(by: str, after: float, user_last: bool) -> None:
    """Case A12, without the fault: in time; the user's own silence; the user had the last word."""
    assert kinds(silent_end(by, after, user_last=user_last)) == []


@pytest.mark.parametrize(("messages", "found"), [(100, ["hangup_undetected"]), (5, [])])
def test_an_agent_that_sends_on_after_the_end_is_found(messages: int, found: list[str]) -> None:
    """Case A58: frames after stop; a few may have been on their way."""
    call = Call(5).agent(0, tone(440, 1)).hang_up("user", at=3)
    assert kinds(call.note(3, "sent_after_end", messages=messages)) == found
