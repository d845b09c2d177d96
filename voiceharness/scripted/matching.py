"""What a matcher's answer means, and the pattern of a method and its matcher."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from voiceharness.scripted.errors import ScriptTypeError
from voiceharness.scripted.records import Call

__all__ = ["Matcher", "Pattern", "run_matcher"]

C = TypeVar("C", bound=Call)

Matcher = Callable[[C], object]
"""Looks at a snapshot of a call. None accepts, as does anything true; it may also assert."""


def run_matcher(matcher: Callable[..., object], /, *args: Any, method: str) -> bool:
    """Run a matcher once and say whether it accepts. Whatever it raises is passed on unchanged.

    None accepts, so that a matcher may consist of assertions; else the truth of the answer decides, so that numpy
    booleans work.

    Raises:
        ScriptTypeError: if the matcher is async; ``method`` is named in the message.
    """
    answer = matcher(*args)
    if answer is None:
        return True
    if inspect.isawaitable(answer):
        if inspect.iscoroutine(answer):
            answer.close()  # or Python warns that it was never awaited
        raise ScriptTypeError(f"the matcher of {method} is async; a matcher must answer at once: make it a plain def")
    return bool(answer)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A method, and what a call of it must look like."""

    method: str
    matcher: Matcher[Any] | None = None

    def fits(self, call: Call, copy: Callable[[Any], Any]) -> bool:
        """Say whether the call is of this method and its matcher accepts a fresh copy of it."""
        if call.method != self.method:
            return False
        return self.matcher is None or run_matcher(self.matcher, copy(call), method=self.method)
