"""The ways to say what a realtime transport must be called with; shared by the transport and a running scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

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
    """Registers expectations with a script. Methods are given by name, or by call class, which types the result."""

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

    def expect_optional(
        self, method: type[C] | Method, matcher: Callable[[C], object] | None = None
    ) -> Expectation[C | None]:
        """Expect a call that may be missing: if the next call does not fit, the result is None."""
        return self._adopt(self._script.expect(pattern_of(method, matcher), optional=True))

    def expect_any_of(
        self, *methods: type[C] | Method | tuple[type[C] | Method, Callable[[Any], object]]
    ) -> Expectation[C]:
        """Expect the next call to fit any of these, each a method or a pair of method and matcher."""
        return self._adopt(self._script.expect(*_patterns(methods)))

    def expect_unordered(
        self, methods: Iterable[type[C] | Method | tuple[type[C] | Method, Callable[[Any], object]]]
    ) -> tuple[Expectation[C], ...]:
        """Expect all of these next, in any order; one expectation for each, in the order given here."""
        return tuple(map(self._adopt, self._script.expect_unordered(_patterns(methods))))

    def expect_calls(
        self,
        method: type[C] | Method,
        matcher: Callable[[C], object] | None = None,
        *,
        count: int | None = None,
        until: Callable[[C], object] | None = None,
    ) -> Expectation[tuple[C, ...]]:
        """Expect a run of calls of one method, up to the ``count``-th or the one that ``until`` accepts.

        For an ambient method it looks on beside the order of the script; else it has its place in it.
        """
        return self._adopt(self._script.expect_calls(pattern_of(method, matcher), count=count, until=until))

    def expect_no_call(
        self,
        method: type[C] | Method,
        matcher: Callable[[C], object] | None = None,
        *,
        during: Expectation[Any] | None = None,
    ) -> NoCall:
        """Forbid a call, until the ban is lifted, its ``with`` block ends, or ``during`` is settled.

        The forbidden call raises ``ForbiddenCallError``, and fails a running scenario.
        """
        return self._adopt(self._script.forbid(pattern_of(method, matcher), during=during))


def _patterns(methods: Iterable[Any]) -> tuple[Pattern, ...]:
    return tuple(pattern_of(*(item if isinstance(item, tuple) else (item,))) for item in methods)
