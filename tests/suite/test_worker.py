"""The process in which calls are made, seen from the other end of its leash."""

from __future__ import annotations

import multiprocessing
import signal
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.suite.test_run import job
from voiceharness.report.artefacts import load_call
from voiceharness.report.interruption import was_interrupted
from voiceharness.scenario.steps import Wait
from voiceharness.suite.job import pickled
from voiceharness.suite.worker import STOP, work

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from pathlib import Path

__all__: list[str] = []


def work_in_the_background(leash: Connection) -> None:
    """Work in a process like one of a script's background, where interrupts are ignored."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    work(leash)


@pytest.mark.realtime
def test_its_call_can_be_interrupted_where_interrupts_of_the_run_are_ignored(tmp_path: Path) -> None:
    slow = job(tmp_path, "silent")
    slow = replace(slow, virtual=False, scenario=replace(slow.scenario, steps=[Wait(0.1), Wait(60.0)]))
    context = multiprocessing.get_context("forkserver")
    ours, theirs = context.Pipe()
    process = context.Process(target=work_in_the_background, args=(theirs,))
    process.start()
    theirs.close()
    ours.send_bytes(pickled(slow))
    assert ours.recv() == "wait seconds 0.1"
    ours.send_bytes(STOP)
    call = ours.recv()
    assert was_interrupted(call["call"])
    assert load_call(slow.folder).duration > 0
    process.join()
    assert process.exitcode == 0
    ours.close()


@pytest.mark.realtime
@pytest.mark.parametrize("stop", [True, False])
@pytest.mark.parametrize("agent", ["ignoring", "leaving_a_thread"])
def test_it_ends_whatever_its_agent_does_when_the_leash_is_let_go(agent: str, stop: bool, tmp_path: Path) -> None:
    slow = job(tmp_path, agent)
    slow = replace(slow, virtual=False, scenario=replace(slow.scenario, steps=[Wait(0.1), Wait(60.0)]))
    context = multiprocessing.get_context("forkserver")
    ours, theirs = context.Pipe()
    process = context.Process(target=work, args=(theirs, 0.5))
    process.start()
    theirs.close()
    ours.send_bytes(pickled(slow))
    assert ours.recv() == "wait seconds 0.1"
    if stop:
        ours.send_bytes(STOP)
    else:
        ours.close()
    process.join()  # or the time of this test runs out
    assert process.exitcode == 1
    ours.close()
