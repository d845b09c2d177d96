"""Running a scenario: the script on one side, the code under test on the other, at the same time.

Theory of operation
-------------------
Both sides are callbacks, sync or async; each async one is a task. The first *terminal event* ends the run and fixes its
error:

- an expectation made through the scenario's context fails, whether or not anybody awaits it or catches its error; so
  does a broken ban or a reply rule that raises;
- either side raises;
- the ``cancel`` event is set, or the ``timeout`` runs out;
- the exercise has returned and an expectation is still pending, or the scenario then makes one that no earlier call
  meets;
- both have returned and something is left over.

What happens where a call is made is latched there and then, since the code under test may swallow what it is told
(tools and guardrails run in tasks of their own). What becomes visible together, in one wake-up of the run, ranks:
cancel and timeout, a latched failure, the scenario's error, the exercise's error, incompleteness.

Then the run winds down. All pending expectations fail with that very error. Both sides get a few turns of the loop to
see it, for a task that is cancelled first would see only the cancellation. What still runs is cancelled and awaited, so
the clean-up of the code under test takes place; calls it makes are recorded, and nobody's leftovers. The error is
raised as it is, never in a group; what else was raised on the way becomes a note on it. The transport is clean
afterwards. Cancelling the run from outside stays a ``CancelledError``, with a note of what was pending.
"""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from voiceharness.clock import NS, LoopClock
from voiceharness.scripted.errors import (
    IncompleteRealtimeScenarioError,
    ScenarioTimedOut,
    ScriptedRealtimeScenarioCancelledError,
    ScriptedTestingError,
)
from voiceharness.scripted.expectation import Expectation, ExpectationState
from voiceharness.scripted.expecting import Expecting

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from voiceharness.scripted.calls import RealtimeCall
    from voiceharness.scripted.errors import PendingExpectation
    from voiceharness.scripted.inbound import EventLike
    from voiceharness.scripted.kernel import CallScript

__all__ = ["ScenarioContext", "ScenarioRun"]

R = TypeVar("R")
E = TypeVar("E", bound=Expectation[Any])

TURNS_TO_SEE_THE_ERROR = 3  # a waiter, a wrapper around it (wait_for, gather), and whoever awaits that


class ScenarioContext(Expecting):
    """What a scenario works with: expectations that belong to the run, and ``emit``.

    ``emit`` delivers at once on a plain transport, where it may be awaited as well; on an async one it must be.
    """

    def __init__(self, run: ScenarioRun, emit: Callable[[EventLike], Awaitable[object]]) -> None:
        super().__init__(run.script)
        self._run = run
        self.emit = emit

    def _adopt(self, expectation: E) -> E:
        self._run.adopt(expectation)
        return expectation


class _Side(Generic[R]):
    """One of the two callbacks: what it returned, or what it raised."""

    def __init__(self, name: str, callback: Callable[[], Awaitable[R] | R]) -> None:
        self.name = name
        self.error: BaseException | None = None
        self.result: R | None = None
        self._callback = callback
        self.task: asyncio.Task[None] = asyncio.create_task(self._play(), name=f"scripted {name}")

    async def _play(self) -> None:
        try:
            outcome = self._callback()
            self.result = await outcome if inspect.isawaitable(outcome) else outcome
        except BaseException as error:  # the run decides what becomes of it
            self.error = error

    @property
    def returned(self) -> bool:
        return self.task.done() and self.error is None


class _Wait(asyncio.Future[None]):
    """What the run itself waits on; a report about a stalled loop shows its representation."""

    def __init__(self, script: CallScript[RealtimeCall]) -> None:
        super().__init__()
        self._script = script

    def wake(self, *_: object) -> None:
        if not self.done():
            self.set_result(None)

    def __repr__(self) -> str:
        return f"<scenario run, {_pending_text(self._script.pending)}>"


class ScenarioRun:
    """One run of a scenario against a script; used once."""

    def __init__(
        self, script: CallScript[RealtimeCall], *, timeout: float | None = None, cancel: asyncio.Event | None = None
    ) -> None:
        self.script = script
        self.error: BaseException | None = None
        self._timeout = timeout
        self._cancel = cancel
        self._timed_out = False
        self._exercise_returned = False
        self._wait = _Wait(script)

    async def play(
        self,
        scenario: Callable[[ScenarioContext], object],
        exercise: Callable[[], Awaitable[R] | R],
        *,
        emit: Callable[[EventLike], Awaitable[object]],
    ) -> R:
        """Run both sides and return what the exercise returned.

        Raises:
            ScriptedRealtimeScenarioCancelledError: if ``cancel`` was set; at the start, neither side begins.
            ScenarioTimedOut: after ``timeout`` seconds.
            IncompleteRealtimeScenarioError: if something was left over.
            BaseException: what a side raised, or an expectation failed with.
        """
        early = self._called_off()
        if early is not None:
            raise early
        if self.script.on_fault is not None:
            raise ScriptedTestingError("a scenario is running on this transport already; run one after the other")
        context = ScenarioContext(self, emit)
        self.script.on_fault = self.end
        sides = _Side("scenario", lambda: scenario(context)), _Side("exercise", exercise)
        try:
            await self._supervise(*sides)
        except asyncio.CancelledError as cancelled:
            pending = self.script.pending
            cancelled.add_note(f"the scenario run was cancelled; {_pending_text(pending)}")
            self.end(ScriptedRealtimeScenarioCancelledError(pending_expectations=pending))
            raise
        finally:
            await self._wind_down(*sides)
        if self.error is not None:
            raise self.error
        return cast("R", sides[1].result)

    def adopt(self, expectation: Expectation[Any]) -> None:
        """Own an expectation: its failure ends the run."""
        if self.error is not None:
            expectation.fail(self.error)
            expectation.observed = True
            return
        expectation.add_done_callback(self._settled)
        if self._exercise_returned:
            self.script.skip_optional()
            if self.script.pending:
                self.end(IncompleteRealtimeScenarioError(self.script.leftovers))

    def end(self, error: BaseException) -> None:
        """Take the first error as the outcome, and fail all that is pending with it."""
        if self.error is None:
            self.error = self._called_off() or error
            self.script.retains_calls = False
            self.script.abandon(self.error)
            self._wait.wake()

    def _settled(self, expectation: Expectation[Any]) -> None:
        if expectation.state is ExpectationState.FAILED:
            self.end(cast("BaseException", expectation.exception()))

    def _called_off(self) -> ScriptedRealtimeScenarioCancelledError | None:
        """Return the error of a run whose user or whose time is up; it outranks every other one."""
        if self._cancel is not None and self._cancel.is_set():
            return ScriptedRealtimeScenarioCancelledError(pending_expectations=self.script.pending)
        if self._timed_out and self._timeout is not None:
            return ScenarioTimedOut(timeout=self._timeout, pending_expectations=self.script.pending)
        return None

    async def _supervise(self, scenario: _Side[object], exercise: _Side[R]) -> None:
        clock = LoopClock()
        timer = None
        if self._timeout is not None:
            timer = clock.call_at_ns(clock.now_ns() + round(self._timeout * NS), self._time_out)
        watcher = None if self._cancel is None else asyncio.create_task(self._cancel.wait())
        for task in (scenario.task, exercise.task, watcher):
            if task is not None:
                task.add_done_callback(lambda _: self._wait.wake())
        try:
            while not self._is_over(scenario, exercise):
                await self._wait
                self._wait = _Wait(self.script)
        finally:
            if timer is not None:
                timer.cancel()
            if watcher is not None:
                watcher.cancel()

    def _time_out(self) -> None:
        self._timed_out = True
        self._wait.wake()

    def _is_over(self, scenario: _Side[object], exercise: _Side[R]) -> bool:
        """Look for terminal events, the highest rank first."""
        if self.error is None:
            error = self._called_off() or scenario.error or exercise.error or self._incompleteness(scenario, exercise)
            if error is not None:
                self.end(error)
        return self.error is not None or (scenario.returned and exercise.returned)

    def _incompleteness(self, scenario: _Side[object], exercise: _Side[R]) -> BaseException | None:
        if not exercise.returned:
            return None
        self._exercise_returned = True
        self.script.skip_optional()
        if not scenario.returned and not self.script.pending:
            return None
        try:
            self.script.assert_complete()
        except BaseException as error:  # also what an expectation failed with that nobody looked at
            return error
        return None

    async def _wind_down(self, *sides: _Side[Any]) -> None:
        try:
            await _see_out([side.task for side in sides])
        finally:
            self.script.retains_calls = True
            self.script.on_fault = None
        if self.error is None:
            return
        self.script.abandon(self.error)
        for side in sides:
            if side.error not in (None, self.error) and not isinstance(side.error, asyncio.CancelledError):
                self.error.add_note(f"the {side.name} also raised {side.error!r}")


async def _see_out(tasks: list[asyncio.Task[None]]) -> None:
    """Give tasks a few turns to end by themselves, then cancel and await them."""
    clock = LoopClock()
    for _ in range(TURNS_TO_SEE_THE_ERROR):
        if all(task.done() for task in tasks):
            return
        await clock.sleep(0)
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)


def _pending_text(pending: tuple[PendingExpectation, ...]) -> str:
    names = ", ".join(f"{item.order} {item.method}" for item in pending)
    return f"pending expectations: {names or 'none'}"
