"""Standing answers of a script: whenever a call fits, do something, without a scenario that waits for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from voiceharness.scripted.errors import ScriptTypeError, ScriptValueError

if TYPE_CHECKING:
    from collections.abc import Callable

    from voiceharness.scripted.matching import Pattern
    from voiceharness.scripted.records import Call

__all__ = ["Rule"]


class Rule:
    """One standing answer: which calls it fits, which of those it answers, and how.

    By default it answers every call that fits. ``every(n)`` limits it to each n-th one, ``after(n)`` to those behind
    the first n, ``times(n)`` to n answers. A rule with an answer consumes the call, unless an expectation takes it
    first; ``watch`` only looks on.
    """

    def __init__(self, pattern: Pattern) -> None:
        self.error: BaseException | None = None
        self.answers = False
        self._pattern = pattern
        self._actions: list[Callable[[Any], object]] = []
        self._every, self._after, self._times = 1, 0, float("inf")
        self._seen = self._answered = 0

    @property
    def method(self) -> str:
        """The method whose calls it may fit."""
        return self._pattern.method

    def every(self, n: int) -> Self:
        """Answer only each ``n``-th call that fits."""
        self._every = _positive("every", n)
        return self

    def after(self, n: int) -> Self:
        """Let the first ``n`` calls that fit pass."""
        self._after = _positive("after", n)
        return self

    def times(self, n: int) -> Self:
        """Answer ``n`` times at most."""
        self._times = _positive("times", n)
        return self

    def run(self, action: Callable[[Any], object]) -> Self:
        """Answer by calling ``action`` with a snapshot of the call, once the method has had its effect."""
        self.answers = True
        self._actions.append(action)
        return self

    def watch(self, action: Callable[[Any], object]) -> Self:
        """Call ``action`` likewise, but leave the call to the script."""
        self._actions.append(action)
        return self

    def fail(self, error: BaseException) -> Self:
        """Answer by raising ``error`` from the call."""
        if not isinstance(error, BaseException):
            raise ScriptTypeError(f"a rule raises an exception instance, not a {type(error).__name__}")
        self.answers = True
        self.error = error
        return self

    def fits(self, call: Call, copy: Callable[[Any], Any]) -> bool:
        """Say whether this call gets an answer, and count it."""
        if self._answered >= self._times or not self._pattern.fits(call, copy):
            return False
        self._seen += 1
        behind = self._seen - self._after
        if behind <= 0 or behind % self._every:
            return False
        self._answered += 1
        return True

    def reply(self, call: Any) -> None:
        """Carry out the actions."""
        for action in self._actions:
            action(call)


def _positive(what: str, n: int) -> int:
    if n < 1:
        raise ScriptValueError(f"{what}({n}): give a number of at least 1")
    return n
