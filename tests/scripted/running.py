"""How the tests of the scripted doubles run: async ones on the virtual loop, where a deadlock is an error at once."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, ParamSpec

from voiceharness.clock import NS, LoopClock, run_virtual

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

__all__ = ["seconds", "virtually"]

P = ParamSpec("P")


def virtually(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Run an async test in virtual time."""

    @functools.wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        run_virtual(test(*args, **kwargs))

    return run


def seconds() -> float:
    """The time on the running loop."""
    return LoopClock().now_ns() / NS
