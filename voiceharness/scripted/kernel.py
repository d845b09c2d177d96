"""The script kernel: what all scripted doubles are made of, with no event loop and no clock.

Theory of operation
-------------------
A double records each call it gets and compares it with a script. The kernel has the pieces, from simple to whole:

``CallLog``
    Every call ever made, as a snapshot, in order. ``record`` numbers the call, copies what it was called with, and
    stores it; every reader gets a copy of its own.
``StepQueue``
    A one-sided script: steps that calls take one after another. Queueing is all or nothing. The scripted model and the
    scripted session are a log and a step queue.
``FailureQueue``
    Injected failures, first in, first out, per method.
``run_matcher``
    The one place that decides what a matcher's answer means.
``CallScript``
    A two-sided script: calls on one side, expectations on the other, whichever comes first. The realtime transport is
    made of it, and so can any other double be.

``CallScript`` holds two queues, of which at least one is always empty: calls nobody expected yet (*unconsumed*), and
expectations no call has met yet (*pending*). A call takes the oldest pending expectation; an expectation takes the
oldest unconsumed call. Order is strict: a call that does not fit is an error there and then, never skipped. A call
goes through::

    reserve an injected failure -> record -> bans -> find reply rules -> expectations -> raise the reserved failure

The replies come last, when the method has had its own effect. A call that a rule answers is not unconsumed, but a
pending expectation takes it all the same.

An injected failure hides nothing: the attempt is recorded and matched first, and a mismatch outranks it. It is reserved
before any matcher runs, so a call made inside a matcher cannot take it; an expectation has left the queue by then, so
such a call meets the next one. A mismatch spends the call, the expectation and the reserved failure; the caller and the
expectation get the same exception object.

Relaxations, all opt-in: *ambient* methods are recorded but never in order (audio frames); methods in ``lanes`` are in
order among themselves only; an optional expectation gives way to a call that does not fit; an unordered group takes its
calls in any order; a ban (``forbid``) fails on a call instead of waiting for it.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from voiceharness.scripted.errors import (
    ForbiddenCallError,
    Leftovers,
    PendingExpectation,
    ScriptValueError,
    UnconsumedCall,
    UnknownMethodError,
)
from voiceharness.scripted.expectation import Expectation, ExpectationState, NoCall
from voiceharness.scripted.hindrances import Hindrance, Hindrances
from voiceharness.scripted.matching import Matcher, Pattern, run_matcher
from voiceharness.scripted.records import Call, CallLog, FailureQueue, RecordedCall, StepQueue
from voiceharness.scripted.rules import Rule
from voiceharness.scripted.slots import Collecting, Judge, ScriptErrors, Single, Slot, Unordered, Verdict

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

__all__ = [
    "Call",
    "CallLog",
    "CallScript",
    "Expectation",
    "ExpectationState",
    "FailureQueue",
    "Matcher",
    "NoCall",
    "Pattern",
    "RecordedCall",
    "Reply",
    "Rule",
    "ScriptErrors",
    "StepQueue",
    "run_matcher",
]

Reply: TypeAlias = Callable[[], None]

C = TypeVar("C", bound=Call)
E = TypeVar("E", bound=Expectation[Any])


class _Lane:
    """One order of calls: expectations no call has met, or calls nobody expected; never both."""

    __slots__ = ("slots", "unconsumed")

    def __init__(self) -> None:
        self.slots: deque[Slot] = deque()
        self.unconsumed: deque[Any] = deque()


class CallScript(Generic[C]):
    """Calls on one side, expectations on the other, matched in one order.

    ``methods`` are the names that may be scripted (None: any). ``ambient`` methods are recorded and never in order;
    methods in ``lanes`` keep an order of their own each.
    """

    def __init__(
        self,
        log: CallLog[C],
        *,
        methods: Collection[str] | None = None,
        errors: ScriptErrors | None = None,
        ambient: Collection[str] = (),
        lanes: Collection[str] = (),
    ) -> None:
        self.log = log
        self.methods = None if methods is None else frozenset(methods)
        self.ambient = frozenset(map(self.check_method, ambient))
        self.failures = FailureQueue()
        self.hindrances = Hindrances()
        self._rules: list[Rule] = []
        self.on_fault: Callable[[BaseException], object] | None = None  # told of a broken ban or a raising rule
        self.retains_calls = True  # False while a run winds down: its clean-up calls are nobody's
        self._own_order = frozenset(map(self.check_method, lanes))
        self._judge = Judge(log.copy, errors or ScriptErrors())
        self._lanes: defaultdict[str | None, _Lane] = defaultdict(_Lane)
        self._watching: list[Slot] = []  # slots of ambient methods: each sees every call
        self._bans: list[tuple[Pattern, NoCall]] = []
        self._registered: list[Expectation[Any]] = []
        self._orders = 0

    def check_method(self, method: str) -> str:
        """Return the name of a method that may be scripted.

        Raises:
            UnknownMethodError: if there is no such method; the message suggests one.
        """
        if self.methods is not None and method not in self.methods:
            raise UnknownMethodError(method, self.methods)
        return method

    # Registering what the script expects

    def expect(self, *patterns: Pattern, optional: bool = False) -> Expectation[Any]:
        """Expect one call that fits any of the patterns."""
        if not patterns:
            raise ScriptValueError("an expectation needs a method to expect")
        self._check_ordered(patterns)
        expectation: Expectation[Any] = self._new(Expectation, " or ".join(pattern.method for pattern in patterns))
        expectation.required = not optional
        self._register(Single(patterns, expectation))
        return expectation

    def expect_unordered(self, patterns: Sequence[Pattern]) -> tuple[Expectation[Any], ...]:
        """Expect one call for each pattern, in any order; what is expected next waits until all were made."""
        self._check_ordered(patterns)
        expectations: list[Expectation[Any]] = [self._new(Expectation, pattern.method) for pattern in patterns]
        if expectations:
            self._register(Unordered(tuple(zip(patterns, expectations, strict=True))))
        return tuple(expectations)

    def expect_calls(
        self, pattern: Pattern, *, count: int | None = None, until: Matcher[Any] | None = None
    ) -> Expectation[Any]:
        """Expect a run of calls of one method, ambient or not, up to the ``count``-th or one that ``until`` accepts."""
        if count is None and until is None:
            raise ScriptValueError("a run of calls needs an end: give count or until")
        self.check_method(pattern.method)
        expectation: Expectation[Any] = self._new(Expectation, pattern.method)
        slot = Collecting(pattern, expectation, count=count, until=until)
        if pattern.method in self.ambient:
            self._watching.append(slot)
        else:
            self._register(slot)
        return expectation

    def forbid(self, pattern: Pattern, *, during: Expectation[Any] | None = None) -> NoCall:
        """Forbid calls that fit from now on, until the ban is lifted, or ``during`` is settled."""
        self.check_method(pattern.method)
        ban = self._new(NoCall, f"no {pattern.method}")
        self._bans.append((pattern, ban))
        if during is not None:
            during.add_done_callback(lambda _: ban.lift())
        return ban

    def add_rule(self, rule: Rule) -> None:
        """Answer calls by this rule, whenever it fits."""
        self.check_method(rule.method)
        self._rules.append(rule)

    def fail_next(self, method: str, error: BaseException) -> None:
        """Let the next call of ``method`` raise ``error``, after it was recorded and matched."""
        self.failures.add(self.check_method(method), error)

    def hinder_next(self, method: str, hindrance: Hindrance) -> None:
        """Let the next call of ``method`` run into trouble, which the double carries out."""
        self.hindrances.add(self.check_method(method), hindrance)

    # Recording calls

    def record(self, make: Callable[..., C], /, *, method: str, **payload: Any) -> list[Reply]:
        """Record a call, match it, and raise what it must raise.

        Returns the replies of the rules that fit it, to be called once the method has had its own effect.
        """
        failure = self.failures.reserve(method)
        return self.deliver(self.log.record(make, **payload), failure)

    def deliver(self, call: C, failure: BaseException | None = None) -> list[Reply]:
        """Match a call that is in the log already; then raise the ``failure`` reserved for it."""
        rules = self._bans_and_rules(call)
        if call.method in self.ambient:
            self._watch(call)
        else:
            self._meet(call, answered=any(rule.answers for rule in rules))
        failure = failure or next((rule.error for rule in rules if rule.error is not None), None)
        if failure is not None:
            raise failure
        return [partial(rule.reply, self.log.copy(call)) for rule in rules]

    def _bans_and_rules(self, call: C) -> list[Rule]:
        """Enforce the bans and find the rules; no expectation stands for these, so a fault is told to whoever runs."""
        try:
            self._enforce_bans(call)
            return [rule for rule in self._rules if rule.fits(call, self.log.copy)]
        except BaseException as fault:
            if self.on_fault is not None:
                self.on_fault(fault)
            raise

    def _enforce_bans(self, call: C) -> None:
        self._bans = [(pattern, ban) for pattern, ban in self._bans if not ban.done()]
        for pattern, ban in self._bans:
            if pattern.fits(call, self.log.copy):
                error = ForbiddenCallError(call_index=call.index, actual_method=call.method)
                ban.fail(error)
                raise error

    def _meet(self, call: C, *, answered: bool) -> None:
        lane = self._lanes[self._lane_of(call.method)]
        while lane.slots:
            slot = lane.slots.popleft()
            if not slot.pending:  # withdrawn
                continue
            verdict = self._offer(slot, call)
            if verdict is Verdict.TAKEN_AND_STAYS:
                lane.slots.appendleft(slot)
            if verdict is not Verdict.GIVES_WAY:
                return
        if self.retains_calls and not answered:
            lane.unconsumed.append(call)

    def _watch(self, call: C) -> None:
        self._watching = [slot for slot in self._watching if slot.pending]
        for slot in self._watching:
            if call.method in slot.methods:
                self._offer(slot, call)

    def _offer(self, slot: Slot, call: C) -> Verdict:
        try:
            return slot.offer(call, self._judge)
        except BaseException as error:
            for expectation in slot.pending:
                expectation.fail(error)
            raise

    def _register(self, slot: Slot) -> None:
        lane = self._lanes[self._lane_of(slot.methods[0])]
        while lane.unconsumed:
            call = lane.unconsumed.popleft()
            try:
                verdict = self._offer(slot, call)
            except BaseException:
                return  # the expectation holds it; whoever made the call is long gone
            if verdict is Verdict.GIVES_WAY:
                lane.unconsumed.appendleft(call)
            if verdict is not Verdict.TAKEN_AND_STAYS:
                return
        lane.slots.append(slot)

    def _lane_of(self, method: str) -> str | None:
        return method if method in self._own_order else None

    def _new(self, kind: Callable[[int, str], E], method: str) -> E:
        self._orders += 1
        expectation = kind(self._orders, method)
        self._registered.append(expectation)
        return expectation

    def _check_ordered(self, patterns: Sequence[Pattern]) -> None:
        """Check that calls of these patterns have places in one order, and that all of their methods exist."""
        for pattern in patterns:
            if self.check_method(pattern.method) in self.ambient:
                raise ScriptValueError(
                    f"{pattern.method} is ambient, so no single call of it has a place in the order; use expect_calls()"
                )
        if len({self._lane_of(pattern.method) for pattern in patterns}) > 1:
            methods = ", ".join(pattern.method for pattern in patterns)
            raise ScriptValueError(f"no choice can span methods of different lanes: {methods}")

    # Ending

    @property
    def leftovers(self) -> Leftovers:
        """What keeps the script from being complete."""
        calls = sorted(
            UnconsumedCall(call.index, call.method) for lane in self._lanes.values() for call in lane.unconsumed
        )
        return Leftovers(tuple(calls), self.pending, self.failures.unused + self.hindrances.unused)

    @property
    def pending(self) -> tuple[PendingExpectation, ...]:
        """The expectations that must still be met, in the order they were registered."""
        waiting = (item for item in self._registered if item.required and not item.done())
        return tuple(PendingExpectation(item.order, item.method) for item in waiting)

    def assert_complete(self) -> None:
        """Check that nothing is left over; changes nothing, and may be repeated.

        Raises:
            IncompleteScriptError: if calls, expectations or injected failures are left.
            BaseException: what an expectation failed with that nobody observed.
        """
        for expectation in self._registered:
            if expectation.state is ExpectationState.FAILED and not expectation.observed:
                expectation.reraise()
        leftovers = self.leftovers
        if any(leftovers):
            raise self._judge.errors.incomplete(leftovers)

    def skip_optional(self) -> None:
        """Settle the optional expectations nobody met: no call will come any more."""
        for expectation in list(self._registered):
            if not expectation.required and not isinstance(expectation, NoCall):
                expectation.settle(ExpectationState.SKIPPED)

    def abandon(self, error: BaseException) -> None:
        """Fail all that is pending with ``error`` and forget what is left over, so that the script is clean."""
        for expectation in list(self._registered):
            if isinstance(expectation, NoCall):
                expectation.lift()
            expectation.fail(error)
            expectation.observed = True
        self._registered.clear()
        self._lanes.clear()
        self._watching.clear()
        self.failures.clear()
        self.hindrances.clear()
