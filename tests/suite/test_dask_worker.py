"""Calls on a worker, as far as they need no cluster; the rest is tested on a real one, with the engine."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.suite.test_run import job, outcomes
from voiceharness.scenario.steps import Wait
from voiceharness.suite.crew import Listener
from voiceharness.suite.dask_worker import Desk, Order, Returned
from voiceharness.suite.job import pickled

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from voiceharness.report.suite import SuiteCall
    from voiceharness.suite import Job

__all__: list[str] = []


def order(job: Job, run: str = "run") -> Order:
    return Order(run, 0, 1, "1.0", fresh=False, patience=60.0, job=pickled(job))


def made(
    desk: Desk, job: Job, run: str = "run", on_step: Callable[[Job, str], None] = lambda _job, _label: None
) -> list[SuiteCall]:
    calls: list[SuiteCall] = []
    desk.make_call(order(job, run).key, order(job, run), job, Listener(lambda _job: None, on_step, calls.append))
    return calls


def test_what_logs_can_show_of_an_order_tells_nothing_of_the_job(tmp_path: Path) -> None:
    secret = replace(job(tmp_path, "silent"), options={"token": "very-secret"})
    assert b"very-secret" in order(secret).job
    assert "very-secret" not in repr(order(secret))
    (call,) = made(desk := Desk(), job(tmp_path, "silent"))
    desk.dismiss()
    assert "silent" not in repr(Returned("tcp://127.0.0.1:1", call, b"silent"))


def test_a_process_stays_for_its_own_run_and_leaves_with_it(tmp_path: Path) -> None:
    desk, codes = Desk(), []
    for run in ("one", "one", "other", "one"):
        (call,) = made(desk, job(tmp_path, "counting", name=run), run)
        codes.append(call["call"]["ended"]["code"])
    assert codes == [1, 2, 1, 3]
    (process,) = (hand.process for hand in desk.idle["one"])
    desk.dismiss("one")
    process.join()
    assert list(desk.idle) == ["other"]
    desk.dismiss()
    assert not desk.idle


@pytest.mark.realtime
def test_an_interrupted_call_is_told_and_its_process_leaves(tmp_path: Path) -> None:
    slow = job(tmp_path, "silent")
    slow = replace(slow, virtual=False, scenario=replace(slow.scenario, steps=[Wait(0.1), Wait(25.0)]))
    desk, begun = Desk(), threading.Event()
    calls: list[SuiteCall] = []
    making = threading.Thread(target=lambda: calls.extend(made(desk, slow, on_step=lambda *_step: begun.set())))
    making.start()
    begun.wait()
    desk.interrupt("voiceharness-another-")
    desk.interrupt("voiceharness-run-")
    making.join()
    assert outcomes(calls) == ["silent: harness_fault"]
    assert not desk.calls
    assert not desk.idle["run"]
