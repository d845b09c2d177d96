"""Places in the order of a script, each holding one or more expectations.

A call is offered to the slot at the head of the queue. The slot settles the expectations the call fits and says whether
it took the call, took it and stays for more, or gives way; if the call does not fit, it raises.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from voiceharness.scripted.errors import (
    CallMatcherError,
    IncompleteScriptError,
    ScriptedTestingError,
    UnexpectedCallError,
)
from voiceharness.scripted.expectation import Expectation, ExpectationState
from voiceharness.scripted.matching import Matcher, Pattern, run_matcher

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from voiceharness.scripted.records import Call

__all__ = ["Collecting", "Judge", "ScriptErrors", "Single", "Slot", "Unordered", "Verdict"]


class Verdict(enum.Enum):
    """What a slot does with a call offered to it."""

    TAKEN = "taken"
    TAKEN_AND_STAYS = "taken and stays"
    GIVES_WAY = "gives way"


@dataclass(frozen=True, slots=True)
class ScriptErrors:
    """The error classes of one kind of double."""

    unexpected: type[UnexpectedCallError] = UnexpectedCallError
    rejected: type[CallMatcherError] = CallMatcherError
    incomplete: type[IncompleteScriptError] = IncompleteScriptError


@dataclass(frozen=True, slots=True)
class Judge:
    """How a slot hands out copies of a call and words its refusal."""

    copy: Callable[[Any], Any]
    errors: ScriptErrors

    def refusal(self, call: Call, patterns: Sequence[Pattern]) -> ScriptedTestingError:
        """Make the error for a call that fits none of the patterns."""
        if any(pattern.method == call.method for pattern in patterns):
            return self.errors.rejected(call_index=call.index, actual_method=call.method)
        methods = [pattern.method for pattern in patterns]
        return self.errors.unexpected(call_index=call.index, expected_methods=methods, actual_method=call.method)


class Slot(Protocol):
    """One place in the order of a script."""

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods it may take."""

    @property
    def pending(self) -> tuple[Expectation[Any], ...]:
        """Its expectations that are still pending."""

    def offer(self, call: Call, judge: Judge) -> Verdict:
        """Take the call, give way, or raise."""


@dataclass(frozen=True, slots=True)
class Single:
    """One expectation, met by one call that fits any of the patterns."""

    patterns: tuple[Pattern, ...]
    expectation: Expectation[Any]

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods it may take."""
        return tuple(pattern.method for pattern in self.patterns)

    @property
    def pending(self) -> tuple[Expectation[Any], ...]:
        """The expectation, while it is pending."""
        return () if self.expectation.done() else (self.expectation,)

    def offer(self, call: Call, judge: Judge) -> Verdict:
        """Resolve the expectation; give way if it is optional and the call does not fit."""
        if any(pattern.fits(call, judge.copy) for pattern in self.patterns):
            self.expectation.settle(ExpectationState.RESOLVED, judge.copy(call))
            return Verdict.TAKEN
        if not self.expectation.required:
            self.expectation.settle(ExpectationState.SKIPPED)
            return Verdict.GIVES_WAY
        raise judge.refusal(call, self.patterns)


@dataclass(frozen=True, slots=True)
class Unordered:
    """Several expectations, each met by one call, in any order; the first one that fits takes the call."""

    members: tuple[tuple[Pattern, Expectation[Any]], ...]

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods it may take."""
        return tuple(pattern.method for pattern, _ in self.members)

    @property
    def pending(self) -> tuple[Expectation[Any], ...]:
        """The expectations no call has met yet."""
        return tuple(expectation for _, expectation in self.members if not expectation.done())

    def offer(self, call: Call, judge: Judge) -> Verdict:
        """Resolve the first member that fits; stay until all are met."""
        waiting = [(pattern, expectation) for pattern, expectation in self.members if not expectation.done()]
        for pattern, expectation in waiting:
            if pattern.fits(call, judge.copy):
                expectation.settle(ExpectationState.RESOLVED, judge.copy(call))
                return Verdict.TAKEN_AND_STAYS if self.pending else Verdict.TAKEN
        raise judge.refusal(call, [pattern for pattern, _ in waiting])


class Collecting:
    """One expectation, met by a run of calls of one method; the result is a tuple of them.

    It ends with the call that makes ``count`` of them, or that ``until`` accepts.
    """

    def __init__(
        self, pattern: Pattern, expectation: Expectation[Any], *, count: int | None, until: Matcher[Any] | None
    ) -> None:
        self._pattern = pattern
        self._expectation = expectation
        self._count = count
        self._until = until
        self._taken: list[Any] = []

    @property
    def methods(self) -> tuple[str, ...]:
        """The method it takes."""
        return (self._pattern.method,)

    @property
    def pending(self) -> tuple[Expectation[Any], ...]:
        """The expectation, while it is pending."""
        return () if self._expectation.done() else (self._expectation,)

    def offer(self, call: Call, judge: Judge) -> Verdict:
        """Collect the call; resolve when it is the last one."""
        if not self._pattern.fits(call, judge.copy):
            raise judge.refusal(call, [self._pattern])
        self._taken.append(call)
        if not self._is_last(call, judge):
            return Verdict.TAKEN_AND_STAYS
        self._expectation.settle(ExpectationState.RESOLVED, tuple(map(judge.copy, self._taken)))
        return Verdict.TAKEN

    def _is_last(self, call: Call, judge: Judge) -> bool:
        if self._count is not None and len(self._taken) >= self._count:
            return True
        return self._until is not None and run_matcher(self._until, judge.copy(call), method=call.method)
