"""A call that the user's side ends before it is answered: cancelled on the way out, or rejected on the way in."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import numpy as np

from voiceharness.errors import CallRejectedError, ConnectError
from voiceharness.line.record import CallRecord
from voiceharness.measure.metrics import measure
from voiceharness.scenario.expectations import Evidence, judge
from voiceharness.scenario.result import StepResult
from voiceharness.scenario.steps import Check, Line

if TYPE_CHECKING:
    from collections.abc import Callable

    from voiceharness.scenario.steps import AnyStep
    from voiceharness.scenario.verdicts import Run

__all__ = ["ends_before_answer", "play_unanswered"]


def ends_before_answer(step: AnyStep) -> bool:
    """Say whether a scenario's first step ends the call before there is one."""
    return isinstance(step, Line) and step.action in ("cancel", "reject")


async def play_unanswered(run: Run, on_step: Callable[[StepResult], None]) -> None:
    """Let the call ring, end it, and judge what is expected of that.

    Raises:
        ConnectError: if the call was answered all the same, or never rang.
    """
    step = run.scenario.steps[0]
    assert isinstance(step, Line)  # the caller looked
    ended = await _end_ringing_call(run, step)
    nothing = np.zeros(0, np.int16)
    evidence = Evidence(
        metrics=measure(CallRecord(run.scenario.rate, nothing, nothing)),
        answered_code=ended.code,
        ended_by="user",
        ended_at=0.0,
        ended_reason=ended.reason or "",
        ended_code=ended.code,
    )
    results = [StepResult(0, step.label, "done", 0, 0, str(ended))]
    for index, check in enumerate(run.scenario.steps[1:], start=1):
        assert isinstance(check, Check)  # the scenario's own rule
        judged = judge(check.expectation, evidence, step=index, at=0)
        run.checks.append(judged)
        results.append(StepResult(index, check.label, "done" if judged.passed else "failed", 0, 0))
    run.steps += results
    for result in results:
        on_step(result)


async def _end_ringing_call(run: Run, step: Line) -> CallRejectedError:
    adapter, patience = run.adapter, run.scenario.connect_timeout
    connecting = asyncio.create_task(adapter.connect(), name="connect")
    try:
        async with asyncio.timeout(patience):
            await adapter.ringing()
            await adapter.control(step.action)
            await connecting
    except CallRejectedError as ended:
        return ended
    except TimeoutError as error:
        raise ConnectError(f"{adapter.name}: the call could not be {step.action}ed within {patience:g} s") from error
    finally:
        connecting.cancel()
        await asyncio.gather(connecting, return_exceptions=True)
        await adapter.disconnect()
    raise ConnectError(f"{adapter.name}: the call was answered before it could be {step.action}ed")
