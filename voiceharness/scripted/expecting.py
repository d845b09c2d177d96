"""The ways to say what a realtime transport must be called with; shared by the transport and a running scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, overload

from voiceharness.scripted.calls import RealtimeCall
from voiceharness.scripted.errors import ScriptTypeError
from voiceharness.scripted.matching import Pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from voiceharness.scripted.calls import Method
    from voiceharness.scripted.expectation import Expectation, NoCall
    from voiceharness.scripted.kernel import CallScript
    from voiceharness.scripted.matching import Matcher
    from voiceharness.scripted.signatures import ExpectCall

    Choice: TypeAlias = type[RealtimeCall] | Method | tuple[type[RealtimeCall] | Method, Matcher[Any]]

__all__ = ["Expecting", "pattern_of"]

C = TypeVar("C", bound=RealtimeCall)
E = TypeVar("E", bound="Expectation[Any]")


def pattern_of(method: object, matcher: Matcher[Any] | None = None) -> Pattern:
    """Make a pattern of a method, given as a name or as a call class.

    Raises:
        ScriptTypeError: if it is neither.
    """
    name = method if isinstance(method, str) else getattr(method, "method", None)
    if not isinstance(name, str):
        raise ScriptTypeError(f"{method!r} is neither the name of a method nor a call class")
    return Pattern(name, matcher)


class Expecting:
    """Registers expectations with a script. Methods are given by name, or by call class."""

    def __init__(self, script: CallScript[RealtimeCall]) -> None:
        self._script = script

    def _adopt(self, expectation: E) -> E:
        """Take note of a new expectation."""
        return expectation

    @property
    def expect_call(self) -> ExpectCall:
        """Expect the next call: ``expect_call(method, matcher=None)`` returns an awaitable expectation."""
        return self._expect_call

    def _expect_call(self, method: object, matcher: Matcher[Any] | None = None, /) -> Expectation[Any]:
        return self._adopt(self._script.expect(pattern_of(method, matcher)))

    @overload
    def expect_optional(
        self, method: type[C], matcher: Callable[[C], object] | None = None
    ) -> Expectation[C | None]: ...

    @overload
    def expect_optional(
        self, method: Method, matcher: Callable[[Any], object] | None = None
    ) -> Expectation[Any | None]: ...

    def expect_optional(self, method: object, matcher: Matcher[Any] | None = None) -> Expectation[Any]:
        """Expect a call that may be missing: if the next call does not fit, the result is None."""
        return self._adopt(self._script.expect(pattern_of(method, matcher), optional=True))

    def expect_any_of(self, *choices: Choice) -> Expectation[RealtimeCall]:
        """Expect the next call to fit any of these, each a method or a pair of method and matcher."""
        return self._adopt(self._script.expect(*_patterns(choices)))

    def expect_unordered(self, choices: Iterable[Choice]) -> tuple[Expectation[RealtimeCall], ...]:
        """Expect all of these next, in any order; one expectation for each, in the order given here."""
        return tuple(map(self._adopt, self._script.expect_unordered(_patterns(choices))))

    @overload
    def expect_calls(
        self,
        method: type[C],
        matcher: Callable[[C], object] | None = None,
        *,
        count: int | None = None,
        until: Callable[[C], object] | None = None,
    ) -> Expectation[tuple[C, ...]]: ...

    @overload
    def expect_calls(
        self,
        method: Method,
        matcher: Callable[[Any], object] | None = None,
        *,
        count: int | None = None,
        until: Callable[[Any], object] | None = None,
    ) -> Expectation[tuple[Any, ...]]: ...

    def expect_calls(
        self,
        method: object,
        matcher: Matcher[Any] | None = None,
        *,
        count: int | None = None,
        until: Matcher[Any] | None = None,
    ) -> Expectation[Any]:
        """Expect a run of calls of one method, up to the ``count``-th or the one that ``until`` accepts.

        For an ambient method it looks on beside the order of the script; else it has its place in it.
        """
        return self._adopt(self._script.expect_calls(pattern_of(method, matcher), count=count, until=until))

    @overload
    def expect_no_call(
        self,
        method: type[C],
        matcher: Callable[[C], object] | None = None,
        *,
        during: Expectation[Any] | None = None,
    ) -> NoCall: ...

    @overload
    def expect_no_call(
        self,
        method: Method,
        matcher: Callable[[Any], object] | None = None,
        *,
        during: Expectation[Any] | None = None,
    ) -> NoCall: ...

    def expect_no_call(
        self, method: object, matcher: Matcher[Any] | None = None, *, during: Expectation[Any] | None = None
    ) -> NoCall:
        """Forbid a call, until the ban is lifted, its ``with`` block ends, or ``during`` is settled.

        The forbidden call raises ``ForbiddenCallError``, and fails a running scenario.
        """
        return self._adopt(self._script.forbid(pattern_of(method, matcher), during=during))


def _patterns(choices: Iterable[Choice]) -> tuple[Pattern, ...]:
    return tuple(pattern_of(*choice) if isinstance(choice, tuple) else pattern_of(choice) for choice in choices)
