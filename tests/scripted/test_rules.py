"""Standing answers of a script, and their limits."""

from __future__ import annotations

from typing import Any

import pytest

from tests.scripted.phone import call, phone
from voiceharness.scripted.errors import (
    ScriptTypeError,
    ScriptValueError,
    UnconsumedCall,
)
from voiceharness.scripted.kernel import (
    Pattern,
    Rule,
)

__all__: list[str] = []


def test_a_rule_answers_calls_that_nobody_expects() -> None:
    script, heard = phone(), list[int]()
    script.add_rule(Rule(Pattern("dial")).run(lambda call: heard.append(call.index)))
    call(script, "dial")
    call(script, "dial")
    assert heard == [0, 1]
    script.assert_complete()


def test_an_expectation_comes_before_a_rule_and_both_see_the_call() -> None:
    script, heard = phone(), list[int]()
    script.add_rule(Rule(Pattern("dial")).run(lambda call: heard.append(call.index)))
    expectation = script.expect(Pattern("dial"))
    call(script, "dial")
    assert (expectation.result().index, heard) == (0, [0])


def test_a_watching_rule_leaves_the_call_to_the_script() -> None:
    script, heard = phone(), list[int]()
    script.add_rule(Rule(Pattern("dial")).watch(lambda call: heard.append(call.index)))
    call(script, "dial")
    assert heard == [0]
    assert script.leftovers.unconsumed_calls == (UnconsumedCall(0, "dial"),)


@pytest.mark.parametrize(
    ("limit", "answered"),
    [
        (lambda rule: rule.every(2), [1, 3, 5]),
        (lambda rule: rule.after(4), [4, 5]),
        (lambda rule: rule.times(2), [0, 1]),
        (lambda rule: rule.after(1).every(2).times(1), [2]),
    ],
)
def test_a_rule_may_be_limited(limit: Any, answered: list[int]) -> None:
    script, heard = phone(), list[int]()
    script.add_rule(limit(Rule(Pattern("frame")).run(lambda call: heard.append(call.index))))
    for _ in range(6):
        call(script, "frame")
    assert heard == answered


def test_a_rule_may_raise() -> None:
    script, error = phone(), OSError("every call fails")
    script.add_rule(Rule(Pattern("dial")).fail(error))
    with pytest.raises(OSError, match="every call fails"):
        call(script, "dial")
    script.assert_complete()


def test_nonsense_in_a_rule_is_refused() -> None:
    with pytest.raises(ScriptValueError, match=r"every\(0\)"):
        Rule(Pattern("dial")).every(0)
    with pytest.raises(ScriptTypeError):
        Rule(Pattern("dial")).fail(OSError)  # type: ignore[arg-type] # the point of the test
