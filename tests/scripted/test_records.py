"""The log of calls and the queue of steps."""

from __future__ import annotations

import pytest

from tests.scripted.phone import PhoneCall
from voiceharness.scripted.errors import (
    ScriptTypeError,
)
from voiceharness.scripted.kernel import (
    CallLog,
    StepQueue,
)

__all__: list[str] = []


def test_the_log_numbers_calls_and_stamps_the_time_it_was_given() -> None:
    log = CallLog[PhoneCall](now=lambda: 1.5)
    assert [log.record(PhoneCall, method="dial").index for _ in range(2)] == [0, 1]
    assert [entry.at for entry in log.calls] == [1.5, 1.5]
    assert len(log) == 2


def test_time_does_not_count_when_calls_are_compared() -> None:
    assert PhoneCall(index=0, at=1.0, method="dial") == PhoneCall(index=0, at=2.0, method="dial")


def test_each_reader_of_the_log_gets_copies_of_its_own() -> None:
    log = CallLog[PhoneCall]()
    given = [1]
    log.record(PhoneCall, method="dial", args=given)
    given.append(2)
    log.calls[0].args.append(3)
    assert log.calls[0].args == [1]


def test_a_recorded_call_shows_sizes_and_no_contents() -> None:
    """Item 107."""
    shown = repr(PhoneCall(index=3, method="dial", args="secret"))
    assert shown == "<call 3 dial(args=6 characters)>"


@pytest.mark.parametrize(
    ("payload", "shown"),
    [
        (b"abc", "3 bytes"),
        ([1, 2], "2 items"),
        ({"a": 1}, "1 items"),
        (None, "None"),
        (True, "True"),
        (object(), "object"),
    ],
)
def test_any_payload_is_shown_by_its_size(payload: object, shown: str) -> None:
    """Item 107."""
    assert repr(PhoneCall(index=0, method="dial", args=payload)) == f"<call 0 dial(args={shown})>"


def test_queueing_steps_is_all_or_nothing_and_counts_inputs_within_it() -> None:
    steps = StepQueue[int]()

    def prepare(index: int, given: object) -> int:
        if not isinstance(given, int):
            raise ScriptTypeError(f"input {index}")
        return given

    steps.enqueue([1], prepare)
    with pytest.raises(ScriptTypeError, match="input 1"):
        steps.enqueue([2, "3"], prepare)
    assert steps.remaining == (1,)
    assert [steps.take(), steps.take(), len(steps)] == [1, None, 0]
