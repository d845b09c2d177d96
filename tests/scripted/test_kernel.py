"""The script kernel on its own: no event loop, no transport, a double of two methods and frames."""

from __future__ import annotations

from typing import Any

import pytest

from tests.scripted.phone import PhoneCall, call, phone
from voiceharness.errors import VoiceHarnessError
from voiceharness.scripted.errors import (
    CallMatcherError,
    ForbiddenCallError,
    IncompleteScriptError,
    PendingExpectation,
    PendingFailure,
    ScriptedTestingError,
    ScriptTypeError,
    ScriptValueError,
    UnconsumedCall,
    UnexpectedCallError,
    UnknownMethodError,
)
from voiceharness.scripted.hindrances import Hindrance
from voiceharness.scripted.kernel import (
    CallLog,
    CallScript,
    ExpectationState,
    Pattern,
    run_matcher,
)

__all__: list[str] = []


# Order


def test_a_call_meets_the_oldest_expectation() -> None:
    script = phone()
    first, second = script.expect(Pattern("dial")), script.expect(Pattern("hang_up"))
    call(script, "dial")
    assert first.result().index == 0
    assert not second.done()
    assert script.pending == (PendingExpectation(2, "hang_up"),)


def test_an_expectation_meets_the_oldest_call() -> None:
    script = phone()
    call(script, "dial")
    call(script, "hang_up")
    assert script.expect(Pattern("dial")).result().index == 0
    assert script.leftovers.unconsumed_calls == (UnconsumedCall(1, "hang_up"),)


def test_another_method_is_an_error_for_both_sides_and_spends_both() -> None:
    script = phone()
    expectation = script.expect(Pattern("dial"))
    with pytest.raises(UnexpectedCallError, match="call 1 is hang_up, but the script expects dial next") as caught:
        call(script, "hang_up")
    assert expectation.exception() is caught.value
    assert (caught.value.call_index, caught.value.expected_method, caught.value.actual_method) == (0, "dial", "hang_up")
    script.assert_complete()


def test_a_rejecting_matcher_is_an_error_for_both_sides() -> None:
    script = phone()
    expectation = script.expect(Pattern("dial", lambda call: call.args == 1))
    with pytest.raises(CallMatcherError) as caught:
        call(script, "dial", 2)
    assert expectation.exception() is caught.value


def test_a_late_expectation_that_does_not_fit_fails_alone() -> None:
    script = phone()
    call(script, "hang_up")
    expectation = script.expect(Pattern("dial"))
    assert isinstance(expectation.exception(), UnexpectedCallError)
    script.assert_complete()


def test_a_failure_nobody_observed_is_raised_when_asked_for_completeness() -> None:
    script = phone()
    call(script, "hang_up")
    expectation = script.expect(Pattern("dial"))
    for _ in range(2):
        with pytest.raises(UnexpectedCallError):
            script.assert_complete()
    with pytest.raises(UnexpectedCallError):
        expectation.result()
    script.assert_complete()


def test_a_call_made_inside_a_matcher_meets_the_next_expectation() -> None:
    script = phone()
    outer = script.expect(Pattern("dial", lambda _: call(script, "hang_up")))
    inner = script.expect(Pattern("hang_up"))
    call(script, "dial")
    assert (outer.result().index, inner.result().index) == (0, 1)


def test_lanes_keep_an_order_of_their_own() -> None:
    script = phone(lanes={"frame"})
    dialled, framed = script.expect(Pattern("dial")), script.expect(Pattern("frame"))
    call(script, "frame")
    call(script, "dial")
    assert (dialled.result().index, framed.result().index) == (1, 0)
    with pytest.raises(ScriptValueError, match="different lanes"):
        script.expect(Pattern("dial"), Pattern("frame"))


# Failures


def test_an_injected_failure_is_raised_after_the_call_was_recorded_and_matched() -> None:
    script = phone()
    expectation = script.expect(Pattern("dial"))
    error = OSError("busy")
    script.fail_next("dial", error)
    with pytest.raises(OSError, match="busy") as caught:
        call(script, "dial")
    assert caught.value is error
    assert expectation.result().index == 0


def test_failures_of_one_method_come_out_in_order() -> None:
    """Item 106."""
    script = phone()
    script.fail_next("dial", OSError("first"))
    script.fail_next("dial", OSError("second"))
    for text in ("first", "second"):
        with pytest.raises(OSError, match=text):
            call(script, "dial")


def test_unused_failures_are_left_over() -> None:
    """Item 105."""
    script = phone()
    script.fail_next("dial", OSError())
    script.fail_next("dial", OSError())
    with pytest.raises(IncompleteScriptError, match="2 of dial") as caught:
        script.assert_complete()
    assert caught.value.pending_failures == (PendingFailure("dial", 2),)


@pytest.mark.parametrize("error", [OSError, "busy"])
def test_a_failure_to_inject_is_an_exception_instance(error: Any) -> None:
    with pytest.raises(TypeError, match="exception instance"):
        phone().fail_next("dial", error)


def test_an_unknown_method_is_refused_with_a_suggestion() -> None:
    with pytest.raises(ValueError, match="did you mean 'hang_up'"):
        phone().fail_next("hangup", OSError())
    with pytest.raises(UnknownMethodError, match="known are: dial, frame, hang_up"):
        phone().expect_calls(Pattern("zzz"), count=1)


@pytest.mark.parametrize(
    ("method", "hindrance", "complaint"),
    [
        ("dial", Hindrance("hang"), "cannot hang"),
        ("dial", Hindrance("delay", -1), "not below 0"),
        ("connect", Hindrance("drop"), "cannot be dropped"),
    ],
)
def test_trouble_that_cannot_happen_is_refused(method: str, hindrance: Hindrance, complaint: str) -> None:
    with pytest.raises(ScriptValueError, match=complaint):
        CallScript(CallLog[PhoneCall]()).hinder_next(method, hindrance)


def test_a_matcher_that_answers_with_an_awaitable_of_any_kind_is_refused() -> None:
    class Later:
        def __await__(self) -> Any:
            yield

    with pytest.raises(ScriptTypeError, match="matcher of dial is async"):
        run_matcher(Later, method="dial")


# Choices


def test_any_of_several_patterns_may_meet_an_expectation() -> None:
    script = phone()
    either = script.expect(Pattern("dial"), Pattern("hang_up"))
    call(script, "hang_up")
    assert either.result().method == "hang_up"


def test_no_fit_among_several_patterns_names_them_all() -> None:
    script = phone()
    script.expect(Pattern("dial"), Pattern("hang_up")).exception()
    with pytest.raises(UnexpectedCallError, match="dial or hang_up") as caught:
        call(script, "frame")
    assert caught.value.expected_methods == ("dial", "hang_up")


def test_an_expectation_of_nothing_is_refused() -> None:
    with pytest.raises(ScriptValueError, match="needs a method"):
        phone().expect()


def test_an_optional_expectation_gives_way() -> None:
    script = phone()
    maybe, sure = script.expect(Pattern("dial"), optional=True), script.expect(Pattern("hang_up"))
    call(script, "hang_up")
    assert (maybe.result(), maybe.state) == (None, ExpectationState.SKIPPED)
    assert sure.result().index == 0


def test_an_optional_expectation_takes_a_call_that_fits() -> None:
    script = phone()
    call(script, "dial")
    maybe, other = script.expect(Pattern("dial"), optional=True), script.expect(Pattern("dial"), optional=True)
    assert maybe.result() is not None
    script.assert_complete()
    script.skip_optional()
    assert other.result() is None


def test_an_optional_expectation_leaves_an_earlier_call_to_the_next_one() -> None:
    script = phone()
    call(script, "hang_up")
    assert script.expect(Pattern("dial"), optional=True).result() is None
    assert script.expect(Pattern("hang_up")).result().index == 0


def test_an_unordered_group_takes_its_calls_in_any_order_then_the_order_goes_on() -> None:
    script = phone()
    dialled, framed = script.expect_unordered([Pattern("dial"), Pattern("frame")])
    last = script.expect(Pattern("hang_up"))
    for method in ("frame", "dial", "hang_up"):
        call(script, method)
    assert (dialled.result().index, framed.result().index, last.result().index) == (1, 0, 2)


def test_a_call_outside_the_group_fails_what_the_group_still_waits_for() -> None:
    script = phone()
    dialled, framed = script.expect_unordered([Pattern("dial"), Pattern("frame")])
    call(script, "frame")
    with pytest.raises(UnexpectedCallError) as caught:
        call(script, "hang_up")
    assert framed.result().index == 0
    assert dialled.exception() is caught.value


def test_an_unordered_group_takes_calls_that_came_earlier() -> None:
    script = phone()
    call(script, "frame")
    dialled, framed = script.expect_unordered([Pattern("dial"), Pattern("frame")])
    assert (framed.done(), dialled.done()) == (True, False)
    call(script, "dial")
    script.assert_complete()


def test_an_empty_group_expects_nothing() -> None:
    script = phone()
    assert script.expect_unordered([]) == ()
    script.assert_complete()


# Runs of calls, ambient methods


def test_a_run_of_calls_ends_with_the_last_one() -> None:
    script = phone()
    frames = script.expect_calls(Pattern("frame"), until=lambda call: call.args == "last")
    call(script, "frame", "first")
    call(script, "frame", "last")
    assert [item.args for item in frames.result()] == ["first", "last"]


def test_another_method_within_a_run_of_calls_is_an_error() -> None:
    script = phone()
    frames = script.expect_calls(Pattern("frame"), count=2)
    call(script, "frame")
    with pytest.raises(UnexpectedCallError):
        call(script, "dial")
    assert isinstance(frames.exception(), UnexpectedCallError)


def test_a_run_of_calls_needs_an_end() -> None:
    with pytest.raises(ScriptValueError, match="count or until"):
        phone().expect_calls(Pattern("frame"))


def test_ambient_calls_are_recorded_and_never_in_order() -> None:
    script = phone(ambient={"frame"})
    expectation = script.expect(Pattern("dial"))
    call(script, "frame")
    call(script, "dial")
    call(script, "frame")
    assert expectation.result().index == 1
    assert len(script.log) == 3
    script.assert_complete()
    with pytest.raises(ScriptValueError, match="ambient"):
        script.expect(Pattern("frame"))


def test_a_run_of_ambient_calls_can_be_awaited_beside_the_order() -> None:
    script = phone(ambient={"frame"})
    frames, other = script.expect_calls(Pattern("frame"), count=2), script.expect_calls(Pattern("frame"), count=1)
    script.expect(Pattern("dial"))
    for method in ("frame", "dial", "frame"):
        call(script, method)
    assert [item.index for item in frames.result()] == [0, 2]
    assert [item.index for item in other.result()] == [0]


# Bans


def test_a_forbidden_call_fails_the_ban_and_raises_at_the_call() -> None:
    script = phone()
    ban = script.forbid(Pattern("dial"))
    expectation = script.expect(Pattern("dial"))
    with pytest.raises(ForbiddenCallError) as caught:
        call(script, "dial")
    assert ban.exception() is caught.value
    assert not expectation.done()


def test_a_ban_ends_with_its_block() -> None:
    script = phone()
    with script.forbid(Pattern("dial")):
        call(script, "hang_up")
    call(script, "dial")
    assert [item.method for item in script.leftovers.unconsumed_calls] == ["hang_up", "dial"]


def test_a_ban_may_last_as_long_as_an_expectation_is_pending() -> None:
    script = phone()
    script.forbid(Pattern("dial"), during=script.expect(Pattern("hang_up")))
    call(script, "hang_up")
    call(script, "dial")
    assert script.expect(Pattern("dial")).done()


def test_a_ban_looks_at_the_call_if_it_has_a_matcher_and_sees_ambient_calls() -> None:
    script = phone(ambient={"frame"})
    ban = script.forbid(Pattern("frame", lambda call: call.args == "loud"))
    call(script, "frame", "quiet")
    with pytest.raises(ForbiddenCallError):
        call(script, "frame", "loud")
    ban.exception()


def test_a_ban_nobody_broke_is_no_leftover() -> None:
    script = phone()
    script.forbid(Pattern("dial"))
    script.assert_complete()


# Ending


def test_abandoning_fails_what_is_pending_and_leaves_the_script_clean() -> None:
    script, error = phone(), ScriptedTestingError("over")
    waiting, maybe = script.expect(Pattern("dial")), script.expect(Pattern("frame"), optional=True)
    ban = script.forbid(Pattern("hang_up"))
    script.fail_next("dial", OSError())
    script.abandon(error)
    assert waiting.exception() is maybe.exception() is error
    assert ban.exception() is None
    script.assert_complete()


def test_the_errors_of_the_doubles_belong_to_the_one_tree() -> None:
    assert issubclass(ScriptedTestingError, VoiceHarnessError)
