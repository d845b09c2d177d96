"""Every error of the scripted doubles, with structured fields.

::

    ScriptedTestingError
    ├── UnexpectedCallError                         another method was called than the script expects
    │   └── UnexpectedRealtimeCallError
    ├── CallMatcherError                            the method was right, the matcher said no
    │   └── RealtimeCallMatcherError
    ├── ForbiddenCallError                          a call that ``expect_no_call`` rules out
    ├── IncompleteScriptError                       something is left over
    │   └── IncompleteRealtimeScenarioError
    ├── ScriptedRealtimeScenarioCancelledError      the run was cancelled from outside
    │   └── ScenarioTimedOut                        ... by its timeout (a TimeoutError as well)
    ├── RealtimeTransportNotClosedError
    ├── ScriptedRealtimeConnectionSupersededError
    ├── UnexpectedModelCallError, UnconsumedModelStepsError
    ├── InvalidScriptedModelStepError, ScriptedModelRequestAbortedError
    ├── UnexpectedSandboxCallError, SandboxCallMatcherError
    ├── UnconsumedSandboxStepsError, InvalidScriptedSandboxStepError
    └── ScriptMisuseError                           the script itself is wrong
        ├── UnknownMethodError                      (a ValueError as well)
        ├── ScriptValueError                        (a ValueError as well)
        ├── ScriptTypeError                         (a TypeError as well)
        ├── ExpectationNotDoneError                 a result was asked for too early
        ├── ExpectationWithdrawnError               the task that awaited it was cancelled
        └── ForeignThreadError                      used from a thread it does not belong to

Indexes are zero-based and point into ``calls``; texts count from one. No text ever holds a payload: it may be audio,
what somebody said, or a key.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from voiceharness.errors import VoiceHarnessError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "CallMatcherError",
    "ExpectationNotDoneError",
    "ExpectationWithdrawnError",
    "ForbiddenCallError",
    "ForeignThreadError",
    "IncompleteRealtimeScenarioError",
    "IncompleteScriptError",
    "InvalidScriptedModelStepError",
    "InvalidScriptedSandboxStepError",
    "Leftovers",
    "PendingExpectation",
    "PendingFailure",
    "RealtimeCallMatcherError",
    "RealtimeTransportNotClosedError",
    "SandboxCallMatcherError",
    "ScenarioTimedOut",
    "ScriptMisuseError",
    "ScriptTypeError",
    "ScriptValueError",
    "ScriptedModelRequestAbortedError",
    "ScriptedRealtimeConnectionSupersededError",
    "ScriptedRealtimeScenarioCancelledError",
    "ScriptedTestingError",
    "UnconsumedCall",
    "UnconsumedModelStepsError",
    "UnconsumedSandboxStepsError",
    "UnexpectedCallError",
    "UnexpectedModelCallError",
    "UnexpectedRealtimeCallError",
    "UnexpectedSandboxCallError",
    "UnknownMethodError",
]


@dataclass(frozen=True, slots=True, order=True)
class UnconsumedCall:
    """A recorded call that met no expectation; ``index`` counts from zero."""

    index: int
    method: str


@dataclass(frozen=True, slots=True, order=True)
class PendingExpectation:
    """An expectation that met no call; ``order`` counts registrations from one."""

    order: int
    method: str


@dataclass(frozen=True, slots=True, order=True)
class PendingFailure:
    """Injected failures, and other trouble, that no call ran into."""

    method: str
    count: int


class Leftovers(NamedTuple):
    """What keeps a script from being complete."""

    unconsumed_calls: tuple[UnconsumedCall, ...] = ()
    pending_expectations: tuple[PendingExpectation, ...] = ()
    pending_failures: tuple[PendingFailure, ...] = ()

    def __str__(self) -> str:
        parts = (
            ("calls nobody expected", [f"{call.index + 1} {call.method}" for call in self.unconsumed_calls]),
            ("expectations never met", [describe_pending(item) for item in self.pending_expectations]),
            ("injected failures never used", [f"{item.count} of {item.method}" for item in self.pending_failures]),
        )
        return "; ".join(f"{title}: {', '.join(items)}" for title, items in parts if items)


def describe_pending(item: PendingExpectation) -> str:
    """Name a pending expectation in a message."""
    return f"{item.order} {item.method}"


class ScriptedTestingError(VoiceHarnessError):
    """Base of all errors the scripted doubles raise by themselves."""


class UnexpectedCallError(ScriptedTestingError):
    """Another method was called than the script expects next.

    ``expected_methods`` has more than one entry where the script leaves a choice; ``expected_method`` is its first.
    """

    def __init__(self, *, call_index: int, expected_methods: Iterable[str], actual_method: str):
        self.call_index = call_index
        self.expected_methods = tuple(expected_methods)
        self.expected_method = self.expected_methods[0]
        self.actual_method = actual_method
        expected = " or ".join(dict.fromkeys(self.expected_methods))
        super().__init__(f"call {call_index + 1} is {actual_method}, but the script expects {expected} next")


class UnexpectedRealtimeCallError(UnexpectedCallError):
    """Another transport method was called than the script expects next."""


class CallMatcherError(ScriptedTestingError):
    """The expected method was called, but the matcher rejected what it was called with."""

    def __init__(self, *, call_index: int, actual_method: str):
        self.call_index = call_index
        self.actual_method = actual_method
        super().__init__(
            f"call {call_index + 1} ({actual_method}) was rejected by its matcher; look at calls[{call_index}]"
        )


class RealtimeCallMatcherError(CallMatcherError):
    """The expected transport method was called, but the matcher rejected the call."""


class ForbiddenCallError(ScriptedTestingError):
    """A call was made that the script rules out at this time."""

    def __init__(self, *, call_index: int, actual_method: str):
        self.call_index = call_index
        self.actual_method = actual_method
        super().__init__(f"call {call_index + 1} ({actual_method}) was made while the script forbids it")


class IncompleteScriptError(ScriptedTestingError):
    """The script ended with something left over: calls, expectations or injected failures."""

    def __init__(self, leftovers: Leftovers):
        self.unconsumed_calls, self.pending_expectations, self.pending_failures = leftovers
        super().__init__(f"the script is incomplete: {leftovers}")


class IncompleteRealtimeScenarioError(IncompleteScriptError):
    """The scenario ended, or was checked, with something left over."""


class ScriptedRealtimeScenarioCancelledError(ScriptedTestingError):
    """The run was cancelled by its ``cancel`` event; ``pending_expectations`` is what it still waited for.

    Not an ``asyncio.CancelledError``: it is an ordinary failure that an ``except Exception`` may see.
    """

    def __init__(
        self, *, pending_expectations: Iterable[PendingExpectation] = (), cause: str = "the scenario was cancelled"
    ):
        self.pending_expectations = tuple(pending_expectations)
        waiting = ", ".join(describe_pending(item) for item in self.pending_expectations) or "nothing"
        super().__init__(f"{cause}; expectations still pending: {waiting}")


class ScenarioTimedOut(ScriptedRealtimeScenarioCancelledError, TimeoutError):  # noqa: N818 - reads as the outcome it is
    """The run took longer than its ``timeout`` (seconds)."""

    def __init__(self, *, timeout: float, pending_expectations: Iterable[PendingExpectation] = ()):
        self.timeout = timeout
        super().__init__(
            pending_expectations=pending_expectations, cause=f"the scenario did not finish within {timeout:g} s"
        )


class RealtimeTransportNotClosedError(ScriptedTestingError):
    """The transport was left open; ``status`` is the state it is in."""

    def __init__(self, *, status: str):
        self.status = status
        super().__init__(f"the transport is still {status}; close() it, or disconnect() it from the far side")


class ScriptedRealtimeConnectionSupersededError(ScriptedTestingError):
    """A connect was overtaken by a close, a disconnect or another connect."""

    operation = "connect"

    def __init__(self) -> None:
        super().__init__("connect was overtaken by a later close, disconnect or connect")


class UnexpectedModelCallError(ScriptedTestingError):
    """The model was called, but no step is left."""

    def __init__(self, *, call_index: int, streamed: bool):
        self.call_index = call_index
        self.streamed = streamed
        how = "streamed" if streamed else "plain"
        super().__init__(f"model call {call_index + 1} ({how}) has no step left; add one with enqueue()")


class UnconsumedModelStepsError(ScriptedTestingError):
    """Steps are left that no model call took."""

    def __init__(self, *, remaining_steps: int):
        self.remaining_steps = remaining_steps
        super().__init__(f"{remaining_steps} scripted model steps were never used")


class InvalidScriptedModelStepError(ScriptedTestingError):
    """A model step cannot be used; ``reason`` is a stable word.

    ``input_index`` is set when the step was refused while being queued, ``call_index`` when it failed in use.
    """

    def __init__(
        self,
        reason: str,
        *,
        input_index: int | None = None,
        call_index: int | None = None,
        step_type: str | None = None,
    ):
        self.reason = reason
        self.input_index = input_index
        self.call_index = call_index
        self.step_type = step_type
        where = "" if input_index is None else f" (input {input_index + 1})"
        where += "" if call_index is None else f" (in call {call_index + 1})"
        kind = "" if step_type is None else f" {step_type}"
        super().__init__(f"the scripted model step{kind}{where} cannot be used: {reason}")


class ScriptedModelRequestAbortedError(ScriptedTestingError):
    """A model request was aborted, before the call (``call_index`` is None) or during it."""

    def __init__(self, *, call_index: int | None = None):
        self.call_index = call_index
        when = "before it was made" if call_index is None else f"during call {call_index + 1}"
        super().__init__(f"the model request was aborted {when}")


class UnexpectedSandboxCallError(ScriptedTestingError):
    """A session method was called out of order; ``expected_method`` is None when no step is left."""

    def __init__(self, *, call_index: int, actual_method: str, expected_method: str | None, remaining_steps: int):
        self.call_index = call_index
        self.actual_method = actual_method
        self.expected_method = expected_method
        self.remaining_steps = remaining_steps
        expected = "no step is left" if expected_method is None else f"the script expects {expected_method} next"
        super().__init__(f"call {call_index + 1} is {actual_method}, but {expected} ({remaining_steps} steps after it)")


class SandboxCallMatcherError(ScriptedTestingError):
    """The expected session method was called, but the step's matcher rejected the arguments."""

    def __init__(self, *, call_index: int, method: str):
        self.call_index = call_index
        self.method = method
        super().__init__(f"call {call_index + 1} ({method}) was rejected by its matcher; look at calls[{call_index}]")


class UnconsumedSandboxStepsError(ScriptedTestingError):
    """Steps are left that no session call took; ``pending_methods`` names them in order."""

    def __init__(self, *, pending_methods: Iterable[str]):
        self.pending_methods = tuple(pending_methods)
        self.remaining_steps = len(self.pending_methods)
        super().__init__(f"{self.remaining_steps} scripted steps were never used: {', '.join(self.pending_methods)}")


class InvalidScriptedSandboxStepError(ScriptedTestingError):
    """A session step cannot be used; ``reason`` is a stable word, ``input_index`` its place in the list."""

    def __init__(self, reason: str, *, input_index: int, method: str | None = None):
        self.reason = reason
        self.input_index = input_index
        self.method = method
        kind = "" if method is None else f" for {method}"
        super().__init__(f"scripted step {input_index + 1}{kind} cannot be used: {reason}")


class ScriptMisuseError(ScriptedTestingError):
    """The script itself is wrong, whatever the code under test does."""


class UnknownMethodError(ScriptMisuseError, ValueError):
    """A method name that the double does not record."""

    def __init__(self, method: str, known: Iterable[str]):
        self.method = method
        close = difflib.get_close_matches(method, sorted(known), n=1)
        hint = f"; did you mean {close[0]!r}?" if close else f"; known are: {', '.join(sorted(known))}"
        super().__init__(f"there is no method {method!r} to script{hint}")


class ScriptValueError(ScriptMisuseError, ValueError):
    """A value that the script cannot work with."""


class ScriptTypeError(ScriptMisuseError, TypeError):
    """An argument of a kind that the script cannot work with."""


class ExpectationNotDoneError(ScriptMisuseError):
    """The result of an expectation was asked for before it was met."""


class ExpectationWithdrawnError(ScriptMisuseError):
    """The only task that awaited the expectation was cancelled, and the expectation went with it."""


class ForeignThreadError(ScriptMisuseError):
    """The double was used from a thread it does not belong to."""
