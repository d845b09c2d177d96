"""What a script waits for: an awaitable handle on one or more future calls.

An expectation is registered when it is made, not when it is awaited, and it needs no event loop until somebody awaits
it. It is *pending* until the script settles it::

    pending ─┬─ resolved    a call fitted; the result is a snapshot of it
             ├─ failed      a call did not fit, or the run ended with this error
             ├─ skipped     it was optional, and the script went on without it; the result is None
             └─ withdrawn   the only task that awaited it was cancelled

It may be awaited any number of times. A failure that nobody observes is not lost: the script keeps it and raises it
when asked whether it is complete.
"""

from __future__ import annotations

import asyncio
import enum
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, cast

from voiceharness.scripted.errors import ExpectationNotDoneError, ExpectationWithdrawnError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

__all__ = ["Expectation", "ExpectationState", "NoCall"]

T_co = TypeVar("T_co", covariant=True)


class ExpectationState(enum.Enum):
    """How far an expectation has come."""

    PENDING = "pending"
    RESOLVED = "resolved"
    FAILED = "failed"
    SKIPPED = "skipped"
    WITHDRAWN = "withdrawn"


class Expectation(Generic[T_co]):
    """An awaitable expectation; the result is the recorded call (or None, if it was optional and skipped).

    ``order`` counts the registrations of its script from one. ``method`` is what it waits for, as text. ``required``
    says whether the script is incomplete without it, ``observed`` whether anybody has seen how it ended.
    """

    __slots__ = ("_callbacks", "_error", "_value", "_waiters", "method", "observed", "order", "required", "state")

    def __init__(self, order: int, method: str) -> None:
        self.order = order
        self.method = method
        self.state = ExpectationState.PENDING
        self.required = True
        self.observed = False
        self._value: Any = None
        self._error: BaseException | None = None
        self._callbacks: list[Callable[[Expectation[Any]], object]] = []
        self._waiters = 0

    def done(self) -> bool:
        """Whether it is settled, in whichever way."""
        return self.state is not ExpectationState.PENDING

    def result(self) -> T_co:
        """Return the call, or raise what the expectation failed with.

        Raises:
            ExpectationNotDoneError: if it is still pending.
            ExpectationWithdrawnError: if it was withdrawn.
        """
        if self.state is ExpectationState.PENDING:
            raise ExpectationNotDoneError(f"expectation {self.order} ({self.method}) is still pending; await it")
        if self.state is ExpectationState.WITHDRAWN:
            raise ExpectationWithdrawnError(
                f"expectation {self.order} ({self.method}) was withdrawn when the task that awaited it was cancelled"
            )
        self.observed = True
        if self._error is not None:
            raise self._error
        return cast("T_co", self._value)

    def reraise(self) -> None:
        """Raise what it failed with, if it did, without counting as an observer."""
        if self._error is not None:
            raise self._error

    def exception(self) -> BaseException | None:
        """Return what it failed with, or None; as ``result()``, this observes the failure."""
        self.observed = self.observed or self.done()
        return self._error

    def add_done_callback(self, callback: Callable[[Expectation[Any]], object]) -> None:
        """Call back at the very moment it is settled; at once, if it already is."""
        if self.done():
            callback(self)
        else:
            self._callbacks.append(callback)

    def settle(self, state: ExpectationState, value: Any = None, error: BaseException | None = None) -> None:
        """Settle it once; later attempts change nothing. The script calls this, not its user."""
        if self.done():
            return
        self.state, self._value, self._error = state, value, error
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback(self)

    def fail(self, error: BaseException) -> None:
        """Settle it as failed."""
        self.settle(ExpectationState.FAILED, error=error)

    def __await__(self) -> Generator[Any, None, T_co]:
        if not self.done():
            yield from self._wait().__await__()
        return self.result()

    async def _wait(self) -> None:
        waiter = _Waiter(self)
        self._waiters += 1
        self.add_done_callback(waiter.wake)
        try:
            await waiter
        except asyncio.CancelledError:
            if self._waiters == 1:
                self.settle(ExpectationState.WITHDRAWN)
            raise
        finally:
            self._waiters -= 1

    def __repr__(self) -> str:
        return f"<expectation {self.order}: {self.method}, {self.state.value}>"


class _Waiter(asyncio.Future[None]):
    """The future behind one ``await``; made then, so that no failure is ever "never retrieved".

    Its representation is what a report about a stalled loop shows.
    """

    def __init__(self, expectation: Expectation[Any]) -> None:
        super().__init__()
        self._expectation = expectation

    def wake(self, _expectation: Expectation[Any]) -> None:
        if not self.done():
            self.set_result(None)

    def __repr__(self) -> str:
        return repr(self._expectation)


class NoCall(Expectation[None]):
    """A ban: while it is pending, a matching call fails it and raises at the call. ``lift()`` ends it.

    Usable as a context manager that forbids the call within its block.
    """

    __slots__ = ()

    def __init__(self, order: int, method: str) -> None:
        super().__init__(order, method)
        self.required = False

    def lift(self) -> None:
        """Allow the call again; a ban that was broken stays failed."""
        self.settle(ExpectationState.RESOLVED)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.lift()
