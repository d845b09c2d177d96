"""Calls that end in any order, told in one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voiceharness.suite.ledger import Ledger

if TYPE_CHECKING:
    from voiceharness.report.suite import SuiteCall

__all__: list[str] = []


def call(name: str) -> SuiteCall:
    document: Any = {"scenario": name}  # Any: the ledger looks at nothing of it
    return {"file": None, "folder": None, "call": document}


def test_calls_are_told_in_the_order_of_their_numbers() -> None:
    told: list[SuiteCall] = []
    ledger = Ledger(told.append)
    for number, so_far in ((2, 0), (0, 1), (1, 3)):
        ledger.enter(number, call(str(number)))
        ledger.tell()
        assert len(told) == so_far
    assert [each["call"]["scenario"] for each in told] == ["0", "1", "2"]


def test_at_the_end_what_there_is_is_told_although_others_are_missing() -> None:
    told: list[SuiteCall] = []
    ledger = Ledger(told.append)
    for number in (3, 1):
        ledger.enter(number, call(str(number)))
    ledger.tell_rest()
    ledger.tell_rest()
    assert [each["call"]["scenario"] for each in told] == ["1", "3"]
